"""The text of an HTML page by the standard library's parser: its title, and what a reader sees, without scripts and
styles. Headings become lines such as "## Usage", as Markdown writes them, so that both are cut by heading alike."""

import re
from html.parser import HTMLParser

_WHITE = re.compile(r"\s+")
_UNSEEN = frozenset(("script", "style", "template", "noscript", "svg", "head"))
_BLOCKS = frozenset(
    "address article aside blockquote br dd div dl dt fieldset figcaption figure footer form header hr li main nav ol "
    "p pre section table td th tr ul".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


class _Seen(HTMLParser):
    """`parts` is the text so far; `unseen` are the tags that hide what comes, innermost last."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title, self.parts = "", [""]
        self._unseen: list[str] = []
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            self._unseen.clear()  # a head that was never closed ends here
        if tag == "title" and not self.title:
            self._in_title = True
        elif tag in _UNSEEN:
            self._unseen.append(tag)
        elif tag in _HEADINGS:
            self.parts.append(f"\n\n{'#' * _HEADINGS[tag]} ")
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]
        elif tag in _BLOCKS or tag in _HEADINGS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._unseen:
            self.parts.append(_WHITE.sub(" ", data))  # a line end in the source is no line end of the page


def html_text(page: str) -> tuple[str, str]:
    """(title, text); the title is empty where the page has none."""
    parser = _Seen()
    parser.feed(page)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.parts).split("\n"))
    return " ".join(parser.title.split()), "\n".join(line for line in lines if line)

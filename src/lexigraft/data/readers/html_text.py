"""The text of an HTML page: its title, and what a reader sees, without scripts and styles. Headings become lines such
as "## Usage", as Markdown writes them, so that both are cut by heading alike.

Tags are told from text here, in one pass that never goes back: the standard library's parser looks to the end of a page
for each tag that does not close, so that 30 KB of `<a ` took it 18 seconds, and it reads such pages by each version of
Python in another way. What opens and never closes is text.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

_WHITE = re.compile(r"\s+")
_UNSEEN = frozenset(("script", "style", "template", "noscript", "svg", "head"))
_OF_HEAD = _UNSEEN | frozenset(("title", "meta", "link", "base", "basefont", "bgsound", "noframes"))
_BLOCKS = frozenset(
    "address article aside blockquote br dd div dl dt fieldset figcaption figure footer form header hr li main nav ol "
    "p pre section table td th tr ul".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}

# Each of these matches wherever it is tried or fails at once: none can be made to try again from within.
_OPENING = re.compile(r"<(?:(!--)|[!?]|/(?![a-zA-Z])|(/?[a-zA-Z][^\s/>]*))")
_COMMENT_END = re.compile(r"--!?>")
_ATTRIBUTE = re.compile(r"""[^=>]*(?:=\s*(?:"[^"]*"?|'[^']*'?|[^\s>]*)|(>)|\Z)""")  # or what ends the tag
_RAW_END = {name: re.compile(rf"(?=</{name}[\s/>])", re.IGNORECASE) for name in ("script", "style")}
_NUMBER = re.compile(r"&#0*([0-9]{1,8})[0-9]*")


class _Piece(NamedTuple):
    """Text, and the tag that follows it: `div`, or `/div` where it closes, or nothing."""

    text: str
    tag: str
    is_whole: bool = False  # such as <br/>


def _pieces(page: str) -> Iterator[_Piece]:
    at = 0
    while found := _OPENING.search(page, at):
        is_comment, name = found.group(1), (found.group(2) or "").lower()
        end = _end_of_tag(page, found.end()) if name else _end_of_other(page, found.start(), bool(is_comment))
        if not end:
            break
        is_whole = page[end - 2] == "/"
        yield _Piece(page[at : found.start()], name, is_whole)
        at = end
        if name in _RAW_END and not is_whole:
            closing = _RAW_END[name].search(page, at)
            at = closing.start() if closing else len(page)
    yield _Piece(page[at:], "")


def _end_of_tag(page: str, at: int) -> int:
    """Behind the > that is in no quotes; 0 where there is none."""
    while at < len(page) and (found := _ATTRIBUTE.match(page, at)):
        at = found.end()
        if found.group(1):
            return at
    return 0


def _end_of_other(page: str, start: int, is_comment: bool) -> int:
    if not is_comment:
        return page.find(">", start) + 1
    found = _COMMENT_END.search(page, start + len("<!"))  # <!--> is a comment, too
    return found.end() if found else 0


class _Seen:
    """`parts` is the text so far; `_unseen` the kinds of tags that hide what comes, the outermost first."""

    def __init__(self) -> None:
        self.title, self.parts = list[str](), list[str]()
        self._unseen: list[str] = []
        self._in_title = False

    def read(self, page: str) -> None:
        for text, tag, is_whole in _pieces(page):
            if text:
                self._text(text)
            if tag.startswith("/"):
                self._end(tag[1:])
            elif tag:
                self._start(tag)
                if is_whole:
                    self._end(tag)

    def _start(self, tag: str) -> None:
        if tag == "body":
            self._unseen.clear()  # whatever of the head was never closed ends here
        elif tag not in _OF_HEAD:
            self._end_head()
        if tag == "title" and not self.title:
            self._in_title = True
        elif tag in _UNSEEN:
            if tag not in self._unseen:
                self._unseen.append(tag)
        elif tag in _HEADINGS:
            self.parts.append(f"\n\n{'#' * _HEADINGS[tag]} ")
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def _end(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]
        elif tag in _BLOCKS or tag in _HEADINGS:
            self.parts.append("\n")

    def _end_head(self) -> None:
        """</head> and <body> may be left out: what stands in no head ends one."""
        if self._unseen == ["head"]:
            self._unseen.clear()

    def _text(self, text: str) -> None:
        if self._in_title:
            self.title.append(unescaped(text))
            return
        if not text.isspace():
            self._end_head()
        if not self._unseen:
            self.parts.append(_WHITE.sub(" ", unescaped(text)))  # a line end in the source is no line end of the page


def unescaped(text: str) -> str:
    """Without `&amp;` and its like. Of a number, eight digits say that there is no such character: `unescape` would
    refuse one of thousands."""
    return unescape(_NUMBER.sub(r"&#\1", text)) if "&" in text else text


def html_text(page: str) -> tuple[str, str]:
    """(title, text); the title is empty where the page has none."""
    seen = _Seen()
    seen.read(page)
    lines = (" ".join(line.split()) for line in "".join(seen.parts).split("\n"))
    return " ".join("".join(seen.title).split()), "\n".join(line for line in lines if line)

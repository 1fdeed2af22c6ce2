"""The parts of a text that can stand as a query for the rest of it: its first sentence, its headings, its links.

Texts may be plain or Markdown, as which HTML is read, too. A part is a span of the text, so that it can be cut out.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.+?)[ \t#]*(?:\{[^{}]*\}[ \t]*)?$")  # without an anchor "{ #name }"
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_NOT_PROSE = re.compile(r"\s*(?:#|\||<|!\[|\[!|```|~~~|[-*+] |\d+[.)] |>|---|===|///|:::|!!!|\?\?\?|\{[%{])")
# A full stop ends a sentence before white space, and before a capital letter that follows at once, as where lines were
# joined: "is unknown.Here we show". After a single letter ("e.g.", "J. Smith") it ends none.
_SENTENCE_END = re.compile(r"(?<!\b[a-zA-Z])[.!?][\"')\]]*\s+|(?<=[a-z)\]][.!?])(?=[A-Z])|[。！？]")
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{2,120})\]\(([^()\s#]+)(?:#[^()\s]*)?(?:\s+\"[^\"]*\")?\)")
_MARKUP = re.compile(r"`|(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|</?[a-zA-Z][^<>\n]*>")
FEWEST_WORDS_OF_SENTENCE = 5  # what is shorter ended at an abbreviation, and goes on with the next


class Span(NamedTuple):
    """`text[start:end]` is a part, and `said` what it says without markup."""

    start: int
    end: int
    said: str


class Link(NamedTuple):
    said: str
    target: str


def plain(text: str) -> str:
    """A text on one line without the marks of Markdown; a link is what it shows."""
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", text)).split())


def without(text: str, spans: list[Span]) -> str:
    """The text without these parts, which do not overlap."""
    kept, at = [], 0
    for span in sorted(spans):
        kept.append(text[at : span.start])
        at = span.end
    return "".join([*kept, text[at:]]).strip()


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """(where it begins, the line, whether it is code) of every line; fences count as code."""
    at, fence = 0, ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark.group(1).startswith(fence)):
            fence = "" if fence else mark.group(1)
            yield at, line, True
        else:
            yield at, line, bool(fence)
        at += len(line) + 1


def headings(text: str) -> list[Span]:
    """The lines "# ..." outside of code, in order."""
    found = ((at, line, None if code else _HEADING.match(line)) for at, line, code in _lines(text))
    return [Span(at, at + len(line), plain(match.group(1))) for at, line, match in found if match]


def links(text: str) -> list[Link]:
    """What Markdown links show and where they lead, in order; images and places on the same page are none."""
    return [Link(plain(match.group(1)), match.group(2)) for match in _LINK.finditer(text)]


def paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Where running text lies: blocks of lines that are neither headings, lists, tables, quotations nor code."""
    start = end = -1
    for at, line, code in (*_lines(text), (len(text), "", False)):
        goes_on = start >= 0 and not _HEADING.match(line)  # a heading ends a block without an empty line before it
        prose = not code and bool(line.strip()) and (goes_on or not _NOT_PROSE.match(line))
        if prose:
            start, end = (at if start < 0 else start), at + len(line)
        elif start >= 0:
            yield start, end
            start = end = -1


def sentences(text: str) -> Iterator[Span]:
    """The sentences of running text, in order, each with the white space after it."""
    for first, last in paragraphs(text):
        begin = first
        for match in _SENTENCE_END.finditer(text, first, last):
            if len(text[begin : match.end()].split()) >= FEWEST_WORDS_OF_SENTENCE:
                yield Span(begin, match.end(), plain(text[begin : match.end()]))
                begin = match.end()
        if text[begin:last].strip():
            yield Span(begin, last, plain(text[begin:last]))


def title_in_text(title: str, text: str) -> list[Span]:
    """Where a text repeats its title: at its very beginning, or as a heading."""
    said = plain(title).casefold()
    if not said:
        return []
    found = [heading for heading in headings(text) if heading.said.casefold() == said]
    begin = len(text) - len(text.lstrip())
    if text[begin : begin + len(title)].casefold() == title.casefold():
        found.append(Span(begin, begin + len(title), title))
    return found

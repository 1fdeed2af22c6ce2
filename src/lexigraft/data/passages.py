"""Long documents cut into passages, each searched as a document of its own; results are collapsed by maximum score.

A passage of document "d" has the id "d#0", "d#1", ... and begins with the document's title. What is cut is white space
separated words; the line breaks within a passage stay as they are. Cut by headings, a passage is what stands below one
heading, with the headings above it: the lines "# ..." of Markdown, which HTML's are read as.
"""

import re
from collections.abc import Iterable, Iterator

from lexigraft.core.bounds import LONGEST_HEADING
from lexigraft.core.types import Document, passage_id

BY_WORDS, BY_HEADINGS = "words", "headings"
_WORD = re.compile(r"\S+")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t].*)?$")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")


def cut_passages(documents: Iterable[Document], words: int, overlap: int, by: str = BY_WORDS) -> Iterator[Document]:
    """Passages of at most `words` words (0: of any length), each repeating the last `overlap` of the one before; at
    least one a document. By headings, each section is cut for itself."""
    for document in documents:
        parts: Iterable[str] = _sections(document.text) if by == BY_HEADINGS else (document.text,)
        texts = (text for part in parts for text in (_cut(part, words, overlap) if words else (part,)))
        for number, text in enumerate(texts):
            title = document.title[:LONGEST_HEADING] if number else document.title  # all of it is found in the first
            yield Document(passage_id(document.doc_id, number), title, text)


def _sections(text: str) -> Iterator[str]:
    """What stands below each heading, after the heading and those that it is under; one that has nothing of its own is
    only in what is below it. A "#" in a block of code is no heading."""
    above: list[tuple[int, str]] = []  # (level, line) of the headings that hold here
    body: list[str] = []
    fence, n_given = "", 0
    for line in (*text.split("\n"), None):
        is_short = line is not None and len(line) <= LONGEST_HEADING
        found = _HEADING.match(line) if line is not None and is_short and not fence else None
        if line is None or found:
            if any(part.strip() for part in body) or (line is None and n_given == 0):
                n_given += 1
                yield "\n".join([*(heading for _, heading in above), *body]).strip()
            body = []
        if found:
            level = len(found.group(1))
            above = [*((at, heading) for at, heading in above if at < level), (level, found.group(0))]
        elif line is not None:
            mark = _FENCE.match(line)
            if mark and (not fence or mark.group(1).startswith(fence)):
                fence = "" if fence else mark.group(1)
            body.append(line)


def _cut(text: str, words: int, overlap: int) -> Iterator[str]:
    places = [match.span() for match in _WORD.finditer(text)]
    start = 0
    while True:
        part = places[start : start + words]
        yield text[part[0][0] : part[-1][1]] if part else ""
        if start + words >= len(places):
            return
        start += words - overlap

"""Long documents cut into passages, each searched as a document of its own; results are collapsed by maximum score.

A passage of document "d" has the id "d#0", "d#1", ... and begins with the document's title. What is cut is white space
separated words; the line breaks within a passage stay as they are.
"""

import re
from collections.abc import Iterable, Iterator

from lexigraft.core.types import Document, passage_id

_WORD = re.compile(r"\S+")


def cut_passages(documents: Iterable[Document], words: int, overlap: int) -> Iterator[Document]:
    """Passages of at most `words` words, each repeating the last `overlap` of the one before; at least one a
    document."""
    for document in documents:
        for number, text in enumerate(_cut(document.text, words, overlap)):
            yield Document(passage_id(document.doc_id, number), document.title, text)


def _cut(text: str, words: int, overlap: int) -> Iterator[str]:
    places = [match.span() for match in _WORD.finditer(text)]
    start = 0
    while True:
        part = places[start : start + words]
        yield text[part[0][0] : part[-1][1]] if part else ""
        if start + words >= len(places):
            return
        start += words - overlap

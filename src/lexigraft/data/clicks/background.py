"""The documents that an evaluation set is searched in beside its own (D3): those of whole collections, streamed.

The vocabulary study looks for its 9,000 queries' documents among 20 million; among the triplets' own alone, recall is
too high and FLOPS too low to be compared. Memory holds 32 to 64 bytes a document, to tell ids and texts apart.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Document
from lexigraft.data.collection import Collection
from lexigraft.data.duplicates import FirstLines

log = logging.getLogger(__name__)


@dataclass
class Added:
    """What became of one collection's documents; what was left out, by reason."""

    name: str
    documents: int = 0
    added: int = 0
    same_text: int = 0  # as a document that is there, whatever its id
    same_id: int = 0  # as a document of another text that is there
    unjudged_positives: int = 0


class Background:
    """Documents of `collections` that are not there yet.

    `there` are those of the set itself. `unjudged` are positives of its queries that it does not judge, because it
    keeps the best few of a query: among the background they would count as mistakes of whoever finds them.
    """

    def __init__(
        self,
        collections: Sequence[Collection],
        there: Iterable[Document],
        unjudged: Iterable[Document] = (),
        progress: Progress = SILENT,
    ) -> None:
        self.added = [Added(collection.name) for collection in collections]
        self._collections, self._progress = collections, progress
        self._there, self._unjudged = _Seen(), _Seen()
        for document in there:
            self._there.add(document)
        for document in unjudged:
            self._unjudged.add(document)

    def documents(self) -> Iterator[Document]:
        """Stream what is added, once, and count it in `added`."""
        for collection, counts in zip(self._collections, self.added, strict=True):
            for document in self._progress.track(collection.documents(), f"reading the background {counts.name}"):
                counts.documents += 1
                if self._there.has_text(document):
                    counts.same_text += 1
                elif self._there.has_id(document):
                    counts.same_id += 1
                elif self._unjudged.has_text(document) or self._unjudged.has_id(document):
                    counts.unjudged_positives += 1
                else:
                    self._there.add(document)
                    counts.added += 1
                    yield document
            _warn(counts)


class _Seen:
    """Which ids and which texts there were. Title and text are one text, however they are spaced: a click log's
    document is a title alone, where another collection has the same words as text."""

    def __init__(self) -> None:
        self._ids, self._texts = FirstLines(), FirstLines()

    def add(self, document: Document) -> None:
        line = self._ids.count + 1
        self._ids.first_lines([document.doc_id], [line])
        self._texts.first_lines([_text(document)], [line])

    def has_id(self, document: Document) -> bool:
        return self._ids.has(document.doc_id)

    def has_text(self, document: Document) -> bool:
        return self._texts.has(_text(document))


def _text(document: Document) -> str:
    return " ".join(document.contents.split())


def _warn(counts: Added) -> None:
    if counts.same_id:
        log.warning(
            "%d of %d documents of the background %s left out: their id is that of another text; give them ids of "
            "their own", counts.same_id, counts.documents, counts.name,
        )  # fmt: skip
    if not counts.added:
        log.warning("the background %s added nothing to the evaluation set", counts.name)

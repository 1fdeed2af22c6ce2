"""Documents with what a file adds to them, as models take both: in one text (`vocab.expansions`)."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.artifact import hash_file
from lexigraft.core.named_file import named_file
from lexigraft.core.types import Document, Qrel, Query, document_of
from lexigraft.data.collection import Collection
from lexigraft.expand.generated import GeneratedTexts, open_generated
from lexigraft.vocab.expansions import BETWEEN, join_expansion


class Expansions(NamedTuple):
    """A file of expansions, and what tells it from another."""

    file: Path
    digest: str


def named_expansions(value: str) -> Expansions | None:
    """The file that `model.expansions` names, which must be there; None where it is empty."""
    if not value:
        return None
    file = named_file("model.expansions", value)
    return Expansions(file, hash_file(file))


def expanded(
    documents: Iterable[Document], generated: GeneratedTexts | None, passages: bool = False
) -> Iterator[Document]:
    """Every document with what was generated for it; a passage with what was for its document."""
    for document in documents:
        doc_id = document_of(document.doc_id) if passages else document.doc_id
        added = " ".join(generated.of(doc_id)) if generated is not None else ""
        yield Document(document.doc_id, document.title.replace(BETWEEN, " "), join_expansion(document.text, added))


class ExpandedCollection(Collection):
    """A collection whose documents have their expansions; all else of it is as it was."""

    def __init__(self, collection: Collection, generated: GeneratedTexts) -> None:
        self._collection, self._generated, self._reported = collection, generated, False
        self.name = collection.name

    @property
    def splits(self) -> Sequence[str]:  # type: ignore[override]
        return self._collection.splits

    def documents(self) -> Iterator[Document]:
        """Stream the documents; at the end of the first pass it is said which have no expansion."""
        yield from expanded(self._collection.documents(), self._generated)
        if not self._reported:
            self._generated.report("documents")
            self._reported = True

    def queries(self) -> Iterator[Query]:
        return self._collection.queries()

    def qrels(self, split: str) -> list[Qrel]:
        return self._collection.qrels(split)

    def digest(self, part: str) -> str:
        return self._collection.digest(part)

    def description(self) -> dict[str, Any]:
        return self._collection.description()


@contextmanager
def expanded_collection(collection: Collection, expansions: Expansions | None) -> Iterator[Collection]:
    """The collection with its expansions, where there are some."""
    if expansions is None:
        yield collection
        return
    with open_generated(expansions.file) as generated:
        yield ExpandedCollection(collection, generated)

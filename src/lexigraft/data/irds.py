"""Collections of the `ir_datasets` catalogue, by id: `ir_datasets:beir/scifact/test`.

The library downloads what it has not got; where it cannot, the message says so. The judgements of an id are one split,
named by the id's last part where that is train, dev or test, and "test" otherwise.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from lexigraft.core.errors import InputError, MissingExtraError
from lexigraft.core.grades import checked_grade
from lexigraft.core.installing import install_extra
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.collection import CORPUS, QUERIES, Collection

PREFIX = "ir_datasets:"
_NAMED_SPLITS = ("train", "dev", "test")


class IrDatasetsCollection(Collection):
    """One id of the catalogue."""

    def __init__(self, dataset_id: str) -> None:
        self.name = dataset_id.replace("/", "-")
        self._id = dataset_id
        self._dataset = _load(dataset_id)
        last = dataset_id.rpartition("/")[2]
        self._split = last if last in _NAMED_SPLITS else "test"

    @property
    def splits(self) -> Sequence[str]:  # type: ignore[override]
        return (self._split,) if self._dataset.has_qrels() else ()

    def documents(self) -> Iterator[Document]:
        for record in self._rows("docs"):
            title = getattr(record, "title", "") or ""
            body = getattr(record, "text", None)
            # Where a record has no field called text, the library says what its text is.
            yield Document(record.doc_id, title if body is not None else "", body or record.default_text())

    def queries(self) -> Iterator[Query]:
        if self._dataset.has_queries():
            for record in self._rows("queries"):
                yield Query(record.query_id, record.default_text())

    def qrels(self, split: str) -> list[Qrel]:
        if split not in self.splits:
            raise InputError(
                f"{self._id} has no judgements for split {split!r}; present: {', '.join(self.splits) or 'none'}"
            )
        return [
            Qrel(record.query_id, record.doc_id, checked_grade(int(record.relevance), f"{self._id}: a relevance"))
            for record in self._rows("qrels")
        ]

    def digest(self, part: str) -> str:
        """The catalogue checks its files by hash, so an id stands for their content."""
        present = {
            CORPUS: self._dataset.has_docs(),
            QUERIES: self._dataset.has_queries(),
            self._split: bool(self.splits),
        }
        return f"{PREFIX}{self._id}#{part}" if present.get(part) else ""

    def description(self) -> dict[str, Any]:
        return {"source": "ir_datasets", "id": self._id}

    def _rows(self, kind: str) -> Iterator[Any]:
        try:
            yield from getattr(self._dataset, f"{kind}_iter")()
        except (OSError, RuntimeError) as error:  # no network, or a data set that must be fetched by hand
            raise InputError(
                f"{PREFIX}{self._id}: its {kind} could not be fetched ({str(error).splitlines()[0][:200]}); is this "
                "machine offline? Fetch it once where there is a network, or give a folder"
            ) from error


def _load(dataset_id: str) -> Any:
    try:
        import ir_datasets
    except ImportError as error:
        raise MissingExtraError(
            f"{PREFIX}{dataset_id}", "ir-datasets", f"{install_extra('ir-datasets')}, or give a folder"
        ) from error
    try:
        dataset = ir_datasets.load(dataset_id)
    except KeyError as error:
        raise InputError(f"ir_datasets knows no {dataset_id!r}; its catalogue is at https://ir-datasets.com") from error
    if not dataset.has_docs():
        raise InputError(f"{PREFIX}{dataset_id} has no documents; give the id of one that has")
    return dataset

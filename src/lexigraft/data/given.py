"""Documents that a program holds, as a collection, for who reads collections."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.collection import Collection


@dataclass(frozen=True)
class GivenDocuments(Collection):
    """Documents without queries and judgements; a stream of them can be read once."""

    given: Iterable[Document]
    name: str = "given documents"
    splits: Sequence[str] = ()

    def documents(self) -> Iterator[Document]:
        return iter(self.given)

    def queries(self) -> Iterator[Query]:
        return iter(())

    def qrels(self, split: str) -> list[Qrel]:
        raise InputError(f"documents that were given by a program have no judgements, of split {split!r} or any other")

    def digest(self, part: str) -> str:
        return ""

    def description(self) -> dict[str, Any]:
        return {"source": "given"}

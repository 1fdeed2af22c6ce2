"""What Lexigraft asks of an engine, and in which form: the one interface that every adapter has.

An engine holds rows: an id, a title, weighted terms by their numbers, and metadata. Weights are the impacts of a local
index, whole numbers, and so are a query's: every engine that adds up in 32-bit floats computes the same scores as the
local one, exactly up to 2^24, and ranks alike but for ties.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import ArtifactError, LexigraftError
from lexigraft.index.metadata_values import Value
from lexigraft.search.conditions import Condition


class EngineError(LexigraftError, OSError):
    """An engine cannot be reached, or refuses: in one line, with what to do."""


class UnreachableError(EngineError):
    """It may work later: what was asked is tried again."""


@dataclass(frozen=True)
class Description:
    """What a collection of an engine was loaded from, kept beside it in the engine itself. `n_loaded` rows of the
    source, in its order, are there for certain: a load that was stopped goes on from there."""

    source: str  # the fingerprint of the local index
    index: str  # where that was
    vocab_fingerprint: str
    n_terms: int
    n_rows: int
    scale: float
    bits: int
    passages: bool
    query_encoder: Mapping[str, Any]
    kinds: Mapping[str, str] = field(default_factory=dict)  # of metadata, by key: number, date, text, list
    n_loaded: int = 0
    version: int = 1

    @property
    def is_complete(self) -> bool:
        return self.n_loaded >= self.n_rows

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, stored: Any, where: str) -> "Description":
        """What `as_dict` gave; raises `ArtifactError` for anything else."""
        known = {one.name for one in fields(cls)}
        if not isinstance(stored, dict) or stored.get("version") != 1 or not stored.keys() <= known:
            raise ArtifactError(
                f"{where} has no description that this version reads; drop the collection, and load it again"
            )
        try:
            return cls(**stored)
        except TypeError as error:
            raise ArtifactError(f"the description of {where} is not whole ({error}); load it again") from error


class Row(NamedTuple):
    """A document, or a passage of one, as an engine keeps it. Weights are whole numbers."""

    row_id: str
    title: str
    term_ids: NDArray[np.int32]
    impacts: NDArray[np.uint32]
    metadata: Mapping[str, Value] = {}


class EngineHit(NamedTuple):
    row_id: str
    score: float
    title: str


class Engine(Protocol):
    """A collection of an engine, which may not be there yet. Every method raises `EngineError` in one line, and
    `UnreachableError` where another try may help. Safe from several threads."""

    def create(self, description: Description) -> None:
        """Make the collection, empty, with its description; an error where it is there."""
        ...

    def describe(self) -> Description | None:
        """What it was loaded from; None where there is no collection of this name."""
        ...

    def load(self, rows: Sequence[Row]) -> None:
        """Write rows; one whose id is there is replaced. All of them are kept when this returns."""
        ...

    def note(self, description: Description) -> None:
        """Replace the description."""
        ...

    def search(
        self, term_ids: NDArray[np.int32], weights: NDArray[np.int32], k: int, where: Sequence[Condition] = ()
    ) -> list[EngineHit]:
        """The k rows with the largest dot product, those that share a term alone, best first."""
        ...

    def delete(self, row_ids: Sequence[str]) -> None:
        """Delete rows by id; those that are not there are passed over."""
        ...

    def count(self) -> int:
        """How many rows there are, all changes included."""
        ...

    def drop(self) -> None:
        """Delete the collection and its description; nothing where there is none."""
        ...

    def close(self) -> None: ...

"""What an export is made of: a run or an index, opened, with its rows, its queries and the model behind them."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.cut import DocumentCut, QueryCut
from lexigraft.core.errors import InputError
from lexigraft.engines.engine import Row
from lexigraft.engines.rows_of_index import batches_of
from lexigraft.index.inverted import Index
from lexigraft.index.metadata import Metadata
from lexigraft.retrieve.loaded_place import index_in_one_piece
from lexigraft.retrieve.opened import Opened
from lexigraft.retrieve.place import Place, find_place
from lexigraft.stages.find_model import find_model
from lexigraft.vectors.quantize import quantize_query

IntegerQuery = tuple[NDArray[np.int32], NDArray[np.int32]]  # term ids ascending, weights from 1 on


class Source:
    """A system of terms: its index, at one pruning, and what writes its queries."""

    def __init__(self, place: Place) -> None:
        if place.kind:
            raise InputError(
                f"{place.name} is a {place.kind} system, which has no terms to export; name one that has, such as bm25 "
                "(--system)"
            )
        self.place, self.state = place, Opened(place)

    @classmethod
    def open(
        cls, path: Path, system: str | None = None, qk: QueryCut | None = None, dk: DocumentCut | None = None
    ) -> "Source":
        """Of a run, the named system at its operating point or the given (qk, dk); an index as it is."""
        return cls(find_place(path, system, qk, dk))

    @cached_property
    def index(self) -> Index:
        """The index, which must be one piece."""
        return index_in_one_piece(self.state)

    @property
    def terms(self) -> list[str]:
        """The vocabulary, by term id."""
        return list(self.index.vocabulary.terms)

    @property
    def metadata(self) -> Metadata | None:
        return self.state.metadata

    @cached_property
    def model(self) -> Path | None:
        """The model that wrote the documents; None of BM25."""
        described = self.index.meta.query_encoder
        return (self.place.index / described["model"]).resolve() if described.get("kind") == "model" else None

    def batches(self, size: int = 1024) -> Iterator[list[Row]]:
        """All rows in the order of the index, with titles, impacts and metadata; weights are impacts, whole numbers."""
        return batches_of(self.index, self.metadata, 0, size)

    def text_of(self, ordinal: int) -> str:
        """What the document of a row says; empty where no texts are kept."""
        kept = self.state.text_of(self.index, ordinal)
        return "" if kept is None else kept.text

    def query(self, text: str) -> IntegerQuery:
        """A query as the index is searched with it: cut to the operating point, in whole numbers. The sum of products
        with a row's impacts ranks as our own search does."""
        term_ids, weights = self.state.cut(self.state.encode(text))
        integers, _ = quantize_query(weights, self.index.meta.bits)
        return np.asarray(term_ids, np.int32)[integers > 0], integers[integers > 0]


def model_of(path: Path, system: str | None = None) -> Path:
    """The model to export: that of a run's system, of an index, or the model folder itself."""
    if system is not None:
        found = Source.open(path, system).model
        if found is None:
            raise InputError(f"{system} of {path} has no model to export; name a system that has one (--system)")
        return found
    return find_model(path)

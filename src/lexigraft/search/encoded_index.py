"""An index with the encoder that its queries are written by: everything that goes from text to a search opens this."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from lexigraft.core.types import Query, SparseMatrix
from lexigraft.index.inverted import Index
from lexigraft.index.store import open_index
from lexigraft.vectors.query_encoder import QueryEncoder, encode_queries, open_query_encoder


class EncodedIndex:
    """The index at `path`, opened when it is asked for, and its encoder likewise: a model is loaded only by who needs
    one. `index` is given where it is open already. `on_gpu`: a model is opened on a GPU where there is one, for many
    queries."""

    def __init__(self, path: Path, index: Index | None = None, on_gpu: bool = False) -> None:
        self.path, self._on_gpu = path, on_gpu
        if index is not None:
            self.index = index

    @cached_property
    def index(self) -> Index:
        """The postings, memory-mapped."""
        return open_index(self.path)

    @cached_property
    def encoder(self) -> QueryEncoder:
        """What turns a query's text into a vector of the index's vocabulary."""
        described, vocabulary = self.index.meta.query_encoder, self.index.vocabulary
        return open_query_encoder(described, vocabulary, self.path, on_gpu=self._on_gpu)

    def encode_queries(self, queries: Sequence[Query]) -> SparseMatrix:
        """One row a query, in order; a query without a known term is an empty row."""
        return encode_queries(queries, self.encoder, self.index.vocabulary)

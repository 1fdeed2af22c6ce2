"""Qdrant's sparse index inside this process (`qdrant-edge-py`): exact, on one search thread, in memory."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bench.collections import row_of
from bench.engines.interface import HOW_TO_INSTALL, Answer, Converted, Engine, Terms, Weights, folder_bytes, made_once
from lexigraft.core.errors import MissingExtraError

FIELD = "terms"
POINTS_PER_UPDATE = 5000


class Qdrant(Converted):
    name = "qdrant"

    def __init__(self) -> None:
        try:
            import qdrant_edge
        except ImportError as error:
            raise MissingExtraError("the engine Qdrant", "qdrant-edge-py", HOW_TO_INSTALL) from error
        self._package = qdrant_edge

    def build(self, documents: sp.csr_matrix, folder: Path) -> int:
        """Only the inverted index counts: Qdrant's other files are pages of fixed size for vectors and payloads."""
        path = made_once(folder / "qdrant", partial(self._make, documents))
        self._shard = self._package.EdgeShard.load(str(path), self._config())
        return sum(folder_bytes(index) for index in path.rglob(f"vector_index-{FIELD}"))

    def _config(self) -> Any:
        edge = self._package
        one_segment = edge.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1)
        field = edge.EdgeSparseVectorParams(full_scan_threshold=1)  # always the index, never a scan of the vectors
        return edge.EdgeConfig(
            sparse_vectors={FIELD: field}, max_search_threads=1, wal_enabled=False, optimizers=one_segment
        )

    def _make(self, documents: sp.csr_matrix, draft: Path) -> None:
        edge = self._package
        shard = edge.EdgeShard.create(str(draft), self._config())
        for start in range(0, documents.shape[0], POINTS_PER_UPDATE):
            rows = range(start, min(start + POINTS_PER_UPDATE, documents.shape[0]))
            points = [edge.Point(row, {FIELD: self._vector(*row_of(documents, row))}) for row in rows]
            shard.update(edge.UpdateOperation.upsert_points(points))
        while shard.optimize():
            pass
        shard.flush()
        shard.close()

    def _vector(self, terms: Any, weights: Any) -> Any:
        return self._package.SparseVector(terms.tolist(), weights.astype(float).tolist())

    def _query(self, terms: Terms, weights: Weights) -> Any:
        return self._package.Query.Nearest(self._vector(terms, weights), using=FIELD)

    def prepared(self, terms: Terms, weights: Weights, k: int) -> Callable[[], Any]:
        return partial(self._shard.search, self._package.SearchRequest(query=self._query(terms, weights), limit=k))

    def prepared_batch(self, queries: Sequence[tuple[Terms, Weights]], k: int) -> Callable[[], Any] | None:
        requests = [self._package.QueryRequest(query=self._query(*query), limit=k) for query in queries]
        return partial(self._shard.query_batch, self._package.QueryBatchRequest(requests))

    def answer(self, found: Any) -> Answer:
        return np.array([point.id for point in found], np.int64), np.array([point.score for point in found], np.int64)


def engines() -> list[Engine]:
    return [Qdrant()]

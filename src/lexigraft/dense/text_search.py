"""A dense system from text to a ranking: its encoder and its vectors, opened."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.errors import ArtifactError
from lexigraft.core.types import Ranking
from lexigraft.dense.opening import open_dense
from lexigraft.dense.search import DenseSearcher
from lexigraft.dense.store import open_dense_vectors
from lexigraft.inference.dense_meta import DenseNetwork, embed
from lexigraft.vectors.open_network import USUAL_BITS
from lexigraft.vectors.same_model import require_same_model


class DenseTextSearch:
    """The dense vectors at `path`; the encoder, which they name, is loaded when a text is encoded; `on_gpu`: on a
    GPU where there is one, for many texts."""

    def __init__(self, path: Path, on_gpu: bool = False) -> None:
        self.vectors, self._on_gpu = open_dense_vectors(path), on_gpu
        self._searcher = DenseSearcher(self.vectors)

    @cached_property
    def network(self) -> DenseNetwork:
        """The encoder that wrote the documents, and no other."""
        said = self.vectors.meta.query_encoder
        encoder = (self.vectors.path / said["model"]).resolve()
        if not encoder.is_dir():
            raise ArtifactError(
                f"the vectors at {self.vectors.path} were written by the encoder at {encoder}, which is not there; put "
                "it back, or continue the run that they are of"
            )
        bits, written_by = int(said.get("bits", USUAL_BITS)), str(said["fingerprint"])
        require_same_model(encoder, written_by)
        return open_dense(encoder, bits, self._on_gpu, fingerprint=written_by)

    @property
    def n_documents(self) -> int:
        return self.vectors.n_rows

    @property
    def passages(self) -> bool:
        return self.vectors.meta.passages

    def encode_all(self, texts: Sequence[str]) -> list[Any]:
        return list(embed(self.network, texts, are_queries=True))

    def search(self, query: Any, k: int, query_id: str = "") -> Ranking:
        return self._searcher.search(query, k, query_id)

    def search_all(self, queries: Sequence[Any], k: int, query_ids: Sequence[str]) -> list[Ranking]:
        return self._searcher.search_many(np.stack(queries), k, list(query_ids)) if len(queries) else []

    def holds(self, doc_id: str) -> bool:
        return self.vectors.holds(doc_id)

    def id_at(self, row: int) -> str:
        return self.vectors.names(np.array([row], np.int32))[0]

    def shown(self, doc_id: str) -> tuple[str, str, int]:
        row = self.vectors.row_of(doc_id)
        return self.vectors.titles[row], self.vectors.row_ids[row], row

"""The plain loop of `bench/plain_loop.py` as an engine; its lists lie on disk as plain arrays and are read whole."""

from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from bench.engines.interface import Answer, Engine, Terms, Weights, folder_bytes, made_once
from bench.plain_loop import ranked, search_plain


class PlainLoop(Engine):
    name = folder_name = "plain-loop"

    def build(self, documents: sp.csr_matrix, folder: Path) -> int:
        return self.open(made_once(folder / self.folder_name, partial(self._make, documents)))

    @staticmethod
    def _make(documents: sp.csr_matrix, draft: Path) -> None:
        lists = documents.tocsc()
        np.save(draft / "indptr.npy", lists.indptr.astype(np.int64))
        np.save(draft / "documents.npy", lists.indices.astype(np.int32))
        np.save(draft / "impacts.npy", lists.data.astype(np.uint8))
        np.save(draft / "n_documents.npy", np.int64(documents.shape[0]))

    def open(self, path: Path) -> int:
        """Open what `build` left at `path`, without the documents; gives its bytes."""
        self._lists = tuple(np.load(path / f"{name}.npy") for name in ("indptr", "documents", "impacts"))
        self._accumulators = np.zeros(int(np.load(path / "n_documents.npy")), np.int32)
        return folder_bytes(path)

    def search(self, terms: Terms, weights: Weights, k: int) -> Answer:
        heap = np.empty(min(k, len(self._accumulators)), np.int64)
        return ranked(heap, search_plain(*self._lists, terms, weights, self._accumulators, heap))

"""Lexigraft's own search, through the product's API: one engine for every method of the searcher."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bench.engines.interface import Engine, Terms, Weights, folder_bytes
from lexigraft.core.artifact import Manifest, read_manifest, write_artifact
from lexigraft.core.types import SparseMatrix, Vocabulary
from lexigraft.index import store
from lexigraft.index.build import build_index
from lexigraft.search.searcher import METHODS, Searcher
from lexigraft.vectors.store import DocumentVectors


class Ours(Engine):
    ours = True
    folder_name = "lexigraft"  # one index for all methods

    def __init__(self, method: str) -> None:
        self.name, self._method = f"lexigraft-{method}", method

    def build(self, documents: sp.csr_matrix, folder: Path) -> int:
        path = folder / self.folder_name
        # A kept index is used again only where it is of these documents, as far as their numbers say, and this format.
        recipe = {"documents": documents.shape[0], "terms": documents.shape[1], "postings": documents.nnz}
        wanted, found = Manifest(store.KIND, store.FORMAT_VERSION, recipe), read_manifest(path)
        if found is None or not found.same_recipe(wanted):
            with write_artifact(path, wanted) as draft:
                build_index(vectors_of(documents), draft, scale=1.0)  # the index holds exactly these integers
        return self.open(path)

    def open(self, path: Path) -> int:
        """Open what `build` left at `path`, without the documents; gives its bytes."""
        self._searcher = Searcher(store.open_index(path), self._method)
        return folder_bytes(path) - sum(file.stat().st_size for file in path.glob("titles.*"))

    def search(self, terms: Terms, weights: Weights, k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        return self._searcher.search_ordinals(terms, weights, k)


def vectors_of(documents: sp.csr_matrix) -> DocumentVectors:
    """The documents with their impacts as weights."""
    n_documents, n_terms = documents.shape
    vocabulary = Vocabulary([f"{term:07d}" for term in range(n_terms)])
    matrix = SparseMatrix(
        row_ids=[f"{row:08d}" for row in range(n_documents)],
        indptr=documents.indptr.astype(np.int64),
        term_ids=documents.indices.astype(np.int32),
        weights=documents.data.astype(np.float32),
        n_terms=n_terms,
        vocab_fingerprint=vocabulary.fingerprint,
    )
    return DocumentVectors(matrix, matrix.row_ids, vocabulary, {"kind": "none"}, "")


def engines() -> list[Engine]:
    return [Ours(method) for method in METHODS]

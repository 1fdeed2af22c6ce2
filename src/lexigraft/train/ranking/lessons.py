"""What teachers say of a batch: vectors of the training texts by models that were trained before, and the scores they
give to every query and document of a step (distillation within the batch).

A list of scores would hold some documents a query. Vectors give the scores of any batch, so that a student hears of all
documents that it is compared with.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.model.inputs import sent


class TeacherVectors(Protocol):
    """The training texts as one teacher writes them, in the rows that training has them in."""

    def scores(self, queries: NDArray[np.int64], documents: NDArray[np.int64], device: torch.device) -> Tensor:
        """[queries, documents], float32."""
        ...


class SparseRows(NamedTuple):
    """Rows of weighted terms (CSR)."""

    indptr: NDArray[np.int64]
    term_ids: NDArray[np.int32]
    weights: NDArray[np.float32]

    def dense(self, rows: NDArray[np.int64], n_terms: int, device: torch.device) -> Tensor:
        """[rows, n_terms], float32."""
        lengths = self.indptr[rows + 1] - self.indptr[rows]
        starts = np.cumsum(lengths) - lengths
        at = np.arange(lengths.sum()) + np.repeat(self.indptr[rows] - starts, lengths)
        places = np.repeat(np.arange(len(rows)), lengths) * n_terms + self.term_ids[at]
        flat = torch.zeros(len(rows) * n_terms, device=device)
        weights = torch.from_numpy(np.ascontiguousarray(self.weights[at]))
        flat[sent(torch.from_numpy(places), device)] = sent(weights, device)
        return flat.view(len(rows), n_terms)


class SparseTeacher(NamedTuple):
    """A sparse model's vectors over `n_terms` terms, which need not be the student's."""

    queries: SparseRows
    documents: SparseRows
    n_terms: int

    def scores(self, queries: NDArray[np.int64], documents: NDArray[np.int64], device: torch.device) -> Tensor:
        asked = self.queries.dense(queries, self.n_terms, device)
        return asked @ self.documents.dense(documents, self.n_terms, device).T


class DenseTeacher(NamedTuple):
    """A bi-encoder's vectors, [texts, width]."""

    queries: NDArray[np.floating]
    documents: NDArray[np.floating]

    def scores(self, queries: NDArray[np.int64], documents: NDArray[np.int64], device: torch.device) -> Tensor:
        return _rows(self.queries, queries, device) @ _rows(self.documents, documents, device).T


class Lessons(NamedTuple):
    """Teachers with the temperature of each, by which its scores are divided so that those of different teachers are
    logarithms of probabilities alike."""

    teachers: Sequence[TeacherVectors]
    temperatures: Sequence[float]

    def scores(self, queries: NDArray[np.int64], documents: NDArray[np.int64], device: torch.device) -> Tensor:
        """The mean of the teachers' scores, each over its temperature: [queries, documents]."""
        found = [
            teacher.scores(queries, documents, device) / temperature
            for teacher, temperature in zip(self.teachers, self.temperatures, strict=True)
        ]
        return torch.stack(found).mean(0)


def _rows(vectors: NDArray[np.floating], rows: NDArray[np.int64], device: torch.device) -> Tensor:
    return sent(torch.from_numpy(np.ascontiguousarray(vectors[rows], np.float32)), device)

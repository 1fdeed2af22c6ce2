"""What a model learns from other systems of its run: their vectors of the training texts, each with the temperature
that makes its scores likeliest on validation queries, and what each is worth there beside BM25.

A teacher that ranks worse than BM25 is said, and nothing is learned from it. Where BM25 is a teacher itself, what the
others say is heard with what it says: then it is their mean with BM25 that must be better.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from lexigraft.core.arrays import open_array
from lexigraft.core.artifact import read_manifest, write_json
from lexigraft.core.errors import InputError
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.types import Query
from lexigraft.dense.opening import open_dense
from lexigraft.dense.store import KIND as DENSE_VECTORS
from lexigraft.dense.store import open_dense_vectors
from lexigraft.learn.training_data import TrainingData, ValidationSet
from lexigraft.search.encoded_index import EncodedIndex
from lexigraft.stages.layout import JUDGED, RunFolder
from lexigraft.train.ranking.lessons import DenseTeacher, Lessons, SparseRows, SparseTeacher, TeacherVectors
from lexigraft.vectors.store import open_vectors

BM25 = "bm25"
FACTS = "teachers.json"
COLDEST, HOTTEST = 0.005, 200.0
MRR_DEPTH = 10

log = logging.getLogger(__name__)


Rows: TypeAlias = Any  # a CSR matrix of a sparse system, rows of numbers of a dense one


class Worth(NamedTuple):
    """What a system is worth on validation queries, ranked among the validation documents."""

    mrr: float
    temperature: float
    loss: float  # mean of -log of the wanted document's probability, at that temperature


class TextVectors(Protocol):
    """Texts as a system writes them."""

    def queries(self, texts: Sequence[str]) -> Rows: ...

    def documents(self, doc_ids: Sequence[str]) -> Rows:
        """The rows of documents, by their ids."""
        ...


class VectorsOfSystem:
    """The texts of a collection as a system of a run writes them: documents as they were encoded, queries anew."""

    def __init__(self, folder: RunFolder, system: str) -> None:
        self.system = system
        self._index = EncodedIndex(folder.index(JUDGED, system, 0), on_gpu=True)
        self._documents = open_vectors(folder.vectors(JUDGED, system)).matrix
        self._row_of = {doc_id: row for row, doc_id in enumerate(self._documents.row_ids)}
        self.n_terms = self._documents.n_terms

    def queries(self, texts: Sequence[str]) -> sparse.csr_matrix:
        found = self._index.encode_queries([Query(str(row), text) for row, text in enumerate(texts)])
        return sparse.csr_matrix((found.weights, found.term_ids, found.indptr), (len(texts), self.n_terms))

    def documents(self, doc_ids: Sequence[str]) -> sparse.csr_matrix:
        """The rows of documents, by their ids."""
        rows, matrix = _rows_of(doc_ids, self._row_of, self.system), self._documents
        whole = sparse.csr_matrix(
            (matrix.weights, matrix.term_ids, matrix.indptr), (matrix.n_rows, matrix.n_terms), copy=False
        )
        return whole[rows]


class DenseVectorsOfSystem:
    """The same of a dense system."""

    def __init__(self, folder: RunFolder, system: str) -> None:
        self.system = system
        self._documents = open_dense_vectors(folder.vectors(JUDGED, system))
        self._row_of = {doc_id: row for row, doc_id in enumerate(self._documents.row_ids)}
        self._encoder = (self._documents.path / self._documents.meta.query_encoder["model"]).resolve()

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """[texts, width]."""
        return np.stack(list(open_dense(self._encoder, on_gpu=True).embed(texts, are_queries=True)))

    def documents(self, doc_ids: Sequence[str]) -> NDArray[np.float32]:
        """The rows of documents, by their ids."""
        return np.asarray(self._documents.matrix[_rows_of(doc_ids, self._row_of, self.system)], np.float32)


def _rows_of(doc_ids: Sequence[str], row_of: Mapping[str, int], system: str) -> list[int]:
    if missing := [doc_id for doc_id in doc_ids if doc_id not in row_of]:
        raise InputError(
            f"the vectors of {system} have no document {missing[0]!r} ({len(missing)} are missing); systems of other "
            "documents cannot teach: continue the run, which encodes them again"
        )
    return [row_of[doc_id] for doc_id in doc_ids]


def vectors_of_system(folder: RunFolder, system: str) -> TextVectors:
    """The texts as a system of a run writes them."""
    made = read_manifest(folder.vectors(JUDGED, system))
    is_dense = made is not None and made.kind == DENSE_VECTORS
    return DenseVectorsOfSystem(folder, system) if is_dense else VectorsOfSystem(folder, system)


def write_lessons(folder: RunFolder, teachers: Sequence[str], data: TrainingData, out: Path) -> None:
    """Leave the vectors of those teachers that are no worse than BM25 or, where that is one of them, better with it
    than it is alone, and what each is worth, in `out`."""
    lexical, validation = vectors_of_system(folder, BM25), data.validation
    bar = worth(lexical, validation) if validation else None
    facts: dict[str, Any] = {BM25: bar._asdict()} if bar is not None else {}
    for name in teachers:
        vectors = vectors_of_system(folder, name)
        found = worth(vectors, validation) if validation else None
        fact: dict[str, Any] = found._asdict() if found is not None else {"temperature": 1.0}
        judged_by = found
        if BM25 in teachers and name != BM25 and validation and found is not None and bar is not None:
            judged_by = worth_of_mean([lexical, vectors], [bar.temperature, found.temperature], validation)
            fact["with_bm25"] = judged_by._asdict()
        beside = judged_by is not found
        heard = judged_by is None or bar is None or judged_by.mrr > bar.mrr or (not beside and judged_by.mrr == bar.mrr)
        facts[name] = {**fact, "heard": heard}
        if not heard and judged_by is not None and bar is not None:
            who, how = (f"{name} with BM25", "no better") if beside else (name, "worse")
            message = "%s is %s than BM25 on validation queries (MRR@10 %.4f and %.4f): nothing is learned from it"
            log.warning(message, who, how, judged_by.mrr, bar.mrr)
            continue
        write_rows(out, f"{name}.queries", vectors.queries(data.pairs.queries))
        write_rows(out, f"{name}.documents", vectors.documents(data.pairs.doc_ids))
    write_json(out / FACTS, facts)


def open_lessons(folder: Path) -> tuple[Lessons | None, Mapping[str, Any]]:
    """What `write_lessons` left, None where no teacher is heard, and what each system is worth."""
    facts: dict[str, Any] = read_sealed(folder / FACTS)
    heard = {name: fact for name, fact in facts.items() if fact.get("heard")}
    if not heard:
        return None, facts
    teachers = [_open_teacher(folder, name) for name in heard]
    return Lessons(teachers, [float(fact["temperature"]) for fact in heard.values()]), facts


def worth(vectors: TextVectors, validation: ValidationSet) -> Worth:
    """MRR@10 of a system on validation queries, and the temperature at which its scores are likeliest there."""
    return worth_of_mean([vectors], [1.0], validation)


def worth_of_mean(systems: Sequence[TextVectors], temperatures: Sequence[float], validation: ValidationSet) -> Worth:
    """The same of the mean of several systems' scores, each over its temperature, as `Lessons` takes it."""
    total = np.zeros((len(validation.queries), len(validation.doc_ids)))
    for vectors, temperature in zip(systems, temperatures, strict=True):
        product = vectors.queries(validation.queries) @ vectors.documents(validation.doc_ids).T
        scores = np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), np.float64)
        total += scores / temperature / len(systems)
    wanted = np.array(validation.wanted, np.int64)
    return Worth(mean_reciprocal_rank(total, wanted), *likeliest_temperature(total, wanted))


def mean_reciprocal_rank(scores: NDArray[np.float64], wanted: NDArray[np.int64], depth: int = MRR_DEPTH) -> float:
    """MRR of one wanted column a row; of equal scores the wanted one is last, and one that scores 0, as what shares no
    term does, is not found."""
    own = scores[np.arange(len(wanted)), wanted]
    ranks = (scores >= own[:, None]).sum(1)
    return float(np.where((ranks <= depth) & (own != 0), 1 / ranks, 0.0).mean())


def likeliest_temperature(scores: NDArray[np.float64], wanted: NDArray[np.int64]) -> tuple[float, float]:
    """(t, loss): the t between COLDEST and HOTTEST that minimises the mean of -log softmax(scores / t) at the wanted
    column of each row. The loss is convex in 1 / t, so there is one minimum to find."""
    own = scores[np.arange(len(wanted)), wanted]

    def loss(log_t: float) -> float:
        t = np.exp(log_t)
        return float(np.mean(logsumexp(scores / t, axis=1) - own / t))

    found = minimize_scalar(loss, bounds=(np.log(COLDEST), np.log(HOTTEST)), method="bounded")
    return float(f"{np.exp(found.x):.4g}"), float(found.fun)


def write_rows(folder: Path, name: str, rows: Rows) -> None:
    """Vectors as files: those of a sparse system as its parts, those of a dense one as they are."""
    if isinstance(rows, np.ndarray):
        np.save(folder / f"{name}.npy", rows)
        return
    np.save(folder / f"{name}.indptr.npy", rows.indptr.astype(np.int64))
    np.save(folder / f"{name}.term_ids.npy", rows.indices.astype(np.int32))
    np.save(folder / f"{name}.weights.npy", rows.data.astype(np.float32))
    write_json(folder / f"{name}.json", {"terms": rows.shape[1]})


def _open_teacher(folder: Path, name: str) -> TeacherVectors:
    if (folder / f"{name}.queries.npy").exists():
        return DenseTeacher(open_array(folder / f"{name}.queries.npy"), open_array(folder / f"{name}.documents.npy"))
    n_terms = int(read_sealed(folder / f"{name}.queries.json")["terms"])
    return SparseTeacher(_open_rows(folder, f"{name}.queries"), _open_rows(folder, f"{name}.documents"), n_terms)


def _open_rows(folder: Path, name: str) -> SparseRows:
    return SparseRows(*(open_array(folder / f"{name}.{part}.npy") for part in ("indptr", "term_ids", "weights")))

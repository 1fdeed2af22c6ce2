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
from lexigraft.core.stored_record import COUNT, POSITIVE, require_fields, require_value, shortened
from lexigraft.core.types import Query
from lexigraft.core.validation import require_finite, require_length, require_pointers, require_within, wrong
from lexigraft.dense.opening import open_dense
from lexigraft.dense.store import KIND as DENSE_VECTORS
from lexigraft.dense.store import open_dense_vectors
from lexigraft.inference.dense_meta import embed
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
        return np.stack(list(embed(open_dense(self._encoder, on_gpu=True), texts, are_queries=True)))

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


def open_lessons(folder: Path, n_queries: int, n_documents: int) -> tuple[Lessons | None, Mapping[str, Any]]:
    """What `write_lessons` left of so many training texts, None where no teacher is heard, and what each system is
    worth. Everything is looked at, whoever wrote it: training would take other numbers as they come."""
    facts, file = read_sealed(folder / FACTS), folder / FACTS
    for name, fact in facts.items():
        require_value(file, name, fact, dict[str, Any])
    heard = {name: fact for name, fact in facts.items() if fact.get("heard")}
    for name, fact in heard.items():
        if "/" in name or "\0" in name:
            raise wrong(file, f"names a teacher {shortened(name)}, which no system is called")
        require_value(file, f"{name}.temperature", fact.get("temperature"), POSITIVE)
    if not heard:
        return None, facts
    teachers = [_open_teacher(folder, name, n_queries, n_documents) for name in heard]
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


def _open_teacher(folder: Path, name: str, n_queries: int, n_documents: int) -> TeacherVectors:
    sides = {f"{name}.queries": n_queries, f"{name}.documents": n_documents}
    if (folder / f"{name}.queries.npy").exists():
        queries, documents = (_open_dense(folder / f"{side}.npy", n_rows) for side, n_rows in sides.items())
        if queries.shape[1] != documents.shape[1]:
            raise wrong(folder / f"{name}.documents.npy", f"is of another width than {name}.queries.npy")
        return DenseTeacher(queries, documents)
    facts = {side: read_sealed(folder / f"{side}.json") for side in sides}
    for side, said in facts.items():
        require_fields(folder / f"{side}.json", said, {"terms": COUNT}, needed=("terms",))
    n_terms = int(facts[f"{name}.queries"]["terms"])
    if facts[f"{name}.documents"]["terms"] != n_terms:
        raise wrong(folder / f"{name}.documents.json", f"has another number of terms than {name}.queries.json")
    asked, found = (_open_rows(folder, side, n_rows, n_terms) for side, n_rows in sides.items())
    return SparseTeacher(asked, found, n_terms)


def _open_dense(file: Path, n_rows: int) -> NDArray[np.float32]:
    rows = open_array(file, np.float32, dimensions=2)
    require_length(file, len(rows), n_rows, "rows")
    require_finite(file, rows)
    return rows


def _open_rows(folder: Path, name: str, n_rows: int, n_terms: int) -> SparseRows:
    dtypes = {"indptr": np.int64, "term_ids": np.int32, "weights": np.float32}
    files = {part: folder / f"{name}.{part}.npy" for part in dtypes}
    rows = SparseRows(*(open_array(files[part], dtype) for part, dtype in dtypes.items()))
    require_pointers(files["indptr"], rows.indptr, n_rows, len(rows.term_ids))
    require_length(files["weights"], len(rows.weights), len(rows.term_ids))
    require_within(files["term_ids"], rows.term_ids, 0, n_terms)
    require_finite(files["weights"], rows.weights)
    return rows

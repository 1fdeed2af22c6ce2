"""Sparse collections with whole-number weights: made from a seed, cut to their heaviest terms, written and read.

    python -m bench.collections make FOLDER [--documents 20000] [--kinds a b c]
    python -m bench.collections prune IN_D.npz IN_Q.npz OUT --qk 10 --dk 40

A collection NAME is two files of scipy's CSR format: NAME_D.npz (documents, weights 1..255) and NAME_Q.npz (queries,
weights 1..255). What `make` writes is like the output of learned sparse encoders: terms follow a shifted Zipf law,
and each document draws 60 % of its terms from one of 2,000 topics. Kind (a) has a large vocabulary and 40 terms a
document, (b) is (a) cut to its 10 heaviest, (c) has a small vocabulary and 120. A smaller collection is the beginning
of a larger one, and from 10,000 documents on the queries do not depend on the size, so sizes can be compared.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lexigraft.core.errors import InputError
from lexigraft.vectors.prune import prune_rows
from lexigraft.vectors.quantize import MAX_IMPACT, MAX_QUERY_WEIGHT

N_TOPICS = 2000
TOPIC_SHARE = 0.6
FROM_DOCUMENT_SHARE = 0.65
ROWS_PER_CHUNK = 10_000
LARGEST_MADE_QUERY_WEIGHT = 32
IMPACT_PER_WEIGHT = 34  # the middle weight becomes about 34, and one in a thousand or two is cut at 255


@dataclass(frozen=True)
class Kind:
    """The shape of a made collection; `cut` (terms a document, terms a query) prunes it afterwards."""

    n_terms: int
    per_document: int
    per_query: int
    topic_size: int
    seed: int
    cut: tuple[int, int] | None = None


KINDS = {
    "a": Kind(100_000, 40, 10, topic_size=400, seed=1),
    "b": Kind(100_000, 40, 10, topic_size=400, seed=1, cut=(10, 5)),
    "c": Kind(30_000, 120, 25, topic_size=600, seed=2),
}


@dataclass(frozen=True)
class Collection:
    """`documents` is CSR with uint8 weights, `queries` CSR with int32 ones; term ids are int32, ascending in a row."""

    name: str
    documents: sp.csr_matrix
    queries: sp.csr_matrix

    def query(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(term ids, weights) of one query."""
        return row_of(self.queries, row)


def row_of(matrix: sp.csr_matrix, row: int) -> tuple[NDArray[np.int32], NDArray]:
    """(term ids, weights) of one row."""
    span = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[span], matrix.data[span]


class Law:
    """The chances behind a kind: how often each term, each topic and each place in a topic is drawn."""

    def __init__(self, kind: Kind) -> None:
        rng = np.random.default_rng(kind.seed)
        self.kind = kind
        chances = 1 / (np.arange(kind.n_terms) + 30.0) ** 0.95
        self.background = np.cumsum(chances / chances.sum())
        rarity = -np.log(chances)
        self.rarity = (rarity - rarity.min()) / (rarity.max() - rarity.min())
        self.topics = self._drawn(self.background, rng.random((N_TOPICS, kind.topic_size)))
        places = 1 / (np.arange(kind.topic_size) + 5.0) ** 0.9
        self.places = np.cumsum(places / places.sum())
        fame = 1 / (np.arange(N_TOPICS) + 20.0) ** 0.6
        self.fame = np.cumsum(fame / fame.sum())
        self.term_id = rng.permutation(kind.n_terms).astype(np.int32)  # ids say nothing of how frequent a term is

    @staticmethod
    def _drawn(cumulative: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.minimum(np.searchsorted(cumulative, uniform), len(cumulative) - 1)

    def topic(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        return self._drawn(self.fame, rng.random(size))

    def terms(self, rng: np.random.Generator, topics: NDArray[np.int64], width: int) -> NDArray[np.int64]:
        """`width` terms for each of `topics`, by rank of frequency; a term may come twice."""
        of_topic = self.topics[topics[:, None], self._drawn(self.places, rng.random((len(topics), width)))]
        anywhere = self._drawn(self.background, rng.random((len(topics), width)))
        return np.where(rng.random((len(topics), width)) < TOPIC_SHARE, of_topic, anywhere)

    def distinct_terms(self, rng: np.random.Generator, topics: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
        """The first `wanted` different terms of a long enough draw for each topic."""
        drawn, chosen = self.terms(rng, topics, 2 * wanted), np.empty((len(topics), wanted), np.int64)
        rows = np.arange(len(topics))
        while len(rows):
            first = _first_occurrences(drawn)
            enough = first.sum(axis=1) >= wanted
            kept = first[enough] & (np.cumsum(first[enough], axis=1) <= wanted)
            chosen[rows[enough]] = drawn[enough][kept].reshape(-1, wanted)
            rows, drawn = rows[~enough], drawn[~enough]
            drawn = np.concatenate([drawn, self.terms(rng, topics[rows], wanted)], axis=1)
        return chosen


def _first_occurrences(rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where each value of a row stands for the first time."""
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    new = np.ones(rows.shape, bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.empty_like(new)
    np.put_along_axis(first, order, new, axis=1)
    return first


def _document_chunks(law: Law, n_documents: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray]]:
    """(topics, terms by rank, impacts) of consecutive documents; a chunk is a function of the seed and its number."""
    for chunk, start in enumerate(range(0, n_documents, ROWS_PER_CHUNK)):
        rng = np.random.default_rng((law.kind.seed, chunk))
        topics = law.topic(rng, ROWS_PER_CHUNK)
        terms = law.distinct_terms(rng, topics, law.kind.per_document)
        weights = (0.5 + law.rarity[terms]) * np.exp(0.55 * rng.standard_normal(terms.shape))
        impacts = np.clip(np.rint(weights * IMPACT_PER_WEIGHT), 1, MAX_IMPACT).astype(np.uint8)
        rows = min(ROWS_PER_CHUNK, n_documents - start)
        yield topics[:rows], terms[:rows], impacts[:rows]


def _made_query(
    law: Law, rng: np.random.Generator, topic: int, terms: NDArray[np.int64], impacts: NDArray[np.uint8]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """65 % of the terms from one document, heavy ones more often; the rest from its topic and from anywhere."""
    wanted = law.kind.per_query
    luck = np.log(impacts) + rng.gumbel(size=len(terms))
    own = terms[np.argsort(-luck)[: round(FROM_DOCUMENT_SHARE * wanted)]]
    others = law.distinct_terms(rng, np.array([topic]), 2 * wanted)[0]
    chosen = np.concatenate([own, others[~np.isin(others, own)]])[:wanted]
    weights = (0.4 + law.rarity[chosen]) * np.exp(0.6 * rng.standard_normal(wanted))
    whole = np.maximum(1, np.rint(weights / weights.max() * LARGEST_MADE_QUERY_WEIGHT)).astype(np.int32)
    return law.term_id[chosen], whole


def _csr(ids: NDArray[np.int32], weights: NDArray, n_terms: int) -> sp.csr_matrix:
    """Rows of equal length as a matrix with ascending ids."""
    rows, width = ids.shape
    matrix = sp.csr_matrix((weights.ravel(), ids.ravel(), np.arange(rows + 1) * width), shape=(rows, n_terms))
    matrix.sort_indices()
    return matrix


def make(name: str, n_documents: int, n_queries: int = 500) -> Collection:
    """The collection of a kind of `KINDS`; the same arguments give the same numbers."""
    if name not in KINDS:
        raise InputError(f"collection kind {name!r} is not known; one of {', '.join(KINDS)}")
    if n_documents < 1 or n_queries < 1:
        raise InputError(f"{n_documents} documents and {n_queries} queries: both must be 1 or more")
    kind = KINDS[name]
    law, parts, source = Law(kind), [], None
    for chunk in _document_chunks(law, n_documents):
        source = source or chunk
        parts.append(_csr(law.term_id[chunk[1]], chunk[2], kind.n_terms))
    documents = sp.vstack(parts, format="csr") if len(parts) > 1 else parts[0]
    topics, terms, impacts = source
    rng = np.random.default_rng((kind.seed, 0, 1))
    rows = rng.integers(len(terms), size=n_queries)
    made = [_made_query(law, rng, topics[row], terms[row], impacts[row]) for row in rows]
    queries = _csr(np.stack([ids for ids, _ in made]), np.stack([weights for _, weights in made]), kind.n_terms)
    if kind.cut:
        documents, queries = heaviest(documents, kind.cut[0]), heaviest(queries, kind.cut[1])
    return Collection(name, documents, queries)


def document_blocks(name: str, n_documents: int) -> Iterator[sp.csr_matrix]:
    """The documents that `make` makes, some thousands at a time: for collections that memory does not hold."""
    kind = KINDS[name]
    law = Law(kind)
    for _, terms, impacts in _document_chunks(law, n_documents):
        block = _csr(law.term_id[terms], impacts, kind.n_terms)
        yield heaviest(block, kind.cut[0]) if kind.cut else block


def heaviest(matrix: sp.csr_matrix, keep: int) -> sp.csr_matrix:
    """Each row cut to its `keep` heaviest terms; of equal ones those with the smallest ids."""
    rows, ids, weights = prune_rows(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float32), keep
    )
    return sp.csr_matrix((weights.astype(matrix.dtype), ids, rows), shape=matrix.shape)


def save(collection: Collection, folder: Path) -> None:
    """Write NAME_D.npz and NAME_Q.npz into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    sp.save_npz(folder / f"{collection.name}_D.npz", collection.documents, compressed=False)
    sp.save_npz(folder / f"{collection.name}_Q.npz", collection.queries, compressed=False)


def load(documents: Path, queries: Path, name: str) -> Collection:
    """Read a collection; weights of any number type are taken if they are whole and 1..255."""
    rows = _whole(documents, MAX_IMPACT, np.uint8)
    asked = read_queries(queries)
    if rows.shape[1] != asked.shape[1]:
        raise InputError(
            f"{documents} has {rows.shape[1]} terms and {queries} has {asked.shape[1]}; both must have one vocabulary"
        )
    return Collection(name, rows, asked)


def read_queries(path: Path) -> sp.csr_matrix:
    """The queries of a collection alone."""
    return _whole(path, MAX_QUERY_WEIGHT, np.int32)


def _whole(path: Path, largest: int, dtype: type) -> sp.csr_matrix:
    try:
        matrix = sp.load_npz(path).tocsr()
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path} is not a sparse matrix as scipy.sparse.save_npz writes it: {error}") from error
    if not matrix.has_canonical_format:  # before the weights are looked at: a term may come twice in a row
        matrix = matrix.astype(np.float64)  # bytes would be added up modulo 256
        matrix.sum_duplicates()  # sorts the ids of a row, too
    if matrix.nnz and not ((matrix.data >= 1) & (matrix.data <= largest) & (matrix.data == np.rint(matrix.data))).all():
        raise InputError(f"{path} has weights that are not whole numbers from 1 to {largest}; quantise them first")
    indices = matrix.indices.astype(np.int32)
    return sp.csr_matrix((matrix.data.astype(dtype), indices, matrix.indptr), shape=matrix.shape)


def names_in(folder: Path) -> list[str]:
    """The names of the collections in `folder`, of which both files are there."""
    names = sorted(path.name[: -len("_D.npz")] for path in folder.glob("*_D.npz"))
    found = [name for name in names if (folder / f"{name}_Q.npz").exists()]
    if not found:
        raise InputError(f"{folder} has no collection: files NAME_D.npz and NAME_Q.npz; see bench/collections.py")
    return found


def open_in(folder: Path, name: str) -> Collection:
    return load(folder / f"{name}_D.npz", folder / f"{name}_Q.npz", name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make", help="write made collections")
    making.add_argument("folder", type=Path)
    making.add_argument("--documents", type=int, default=20_000)
    making.add_argument("--queries", type=int, default=500)
    making.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    pruning = commands.add_parser("prune", help="cut a collection to its heaviest terms")
    pruning.add_argument("documents", type=Path)
    pruning.add_argument("queries", type=Path)
    pruning.add_argument("out", type=Path, help="OUT_D.npz and OUT_Q.npz are written")
    pruning.add_argument("--qk", type=int, required=True, help="terms a query keeps")
    pruning.add_argument("--dk", type=int, required=True, help="terms a document keeps")
    options = parser.parse_args()
    if options.command == "make":
        for name in options.kinds:
            save(collection := make(name, options.documents, options.queries), options.folder)
            print(f"{name}: {collection.documents.shape}, {collection.documents.nnz:,} postings")
    else:
        if options.qk < 1 or options.dk < 1:
            parser.error(f"--qk {options.qk} --dk {options.dk}: both must be 1 or more")
        whole = load(options.documents, options.queries, options.out.name)
        cut = Collection(whole.name, heaviest(whole.documents, options.dk), heaviest(whole.queries, options.qk))
        save(cut, options.out.parent)
        print(f"{cut.name}: {whole.documents.nnz:,} postings cut to {cut.documents.nnz:,}")


if __name__ == "__main__":
    main()

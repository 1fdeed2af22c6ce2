"""Small artifacts of every kind that kernels read, and what is done with each of them: opened, searched, explained,
filtered, merged. No model is trained: what is here takes seconds to make."""

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.arrays import write_strings
from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.settings import IndexSettings, LexicalSettings
from lexigraft.core.types import Document, SparseMatrix, Vocabulary
from lexigraft.core.word_rule import WordRule
from lexigraft.data.write import write_collection
from lexigraft.dense import store as dense_store
from lexigraft.dense.search import DenseSearcher
from lexigraft.index import shared_texts
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.index.live.opening import create_live, open_writer
from lexigraft.index.live.state import read_state
from lexigraft.index.rows import iterate_rows
from lexigraft.index.shared_texts import open_shared_texts, write_shared_texts
from lexigraft.retrieve.live_changes import make_live, status
from lexigraft.retrieve.live_grafting import given_vectors
from lexigraft.retrieve.retriever import Retriever
from lexigraft.search.searcher import METHODS, Searcher
from lexigraft.vectors import counts as counts_store
from lexigraft.vectors import query_store
from lexigraft.vectors import store as vectors_store
from lexigraft.vectors.analysis import described
from lexigraft.vectors.stats import vector_statistics
from lexigraft.vocab.lookup import TableRows, look_up, read_table, write_table
from tests.fuzz.world import call

N_TERMS, N_ROWS = 40, 700
TERMS = [f"word{number}" for number in range(N_TERMS)]
ENCODER = described("bm25", LexicalSettings(stemmer="none", stopwords="none"), WordRule())
GOLDEN = Path(__file__).parent.parent / "golden"
WHERE = ('sort = "s1"', "year >= 2003", "day > 2020-01-05", 'tags has "a1"', "numbers has 2")


def matrix_of(n_rows: int, seed: int) -> SparseMatrix:
    """Rows whose terms are from everywhere to hardly anywhere, so that lists have all three forms."""
    rng = np.random.default_rng(seed)
    chances = np.linspace(0.9, 0.002, N_TERMS)
    rows = [np.flatnonzero(rng.random(N_TERMS) < chances) for _ in range(n_rows)]
    return SparseMatrix(
        row_ids=[f"d{seed}-{number}" for number in range(n_rows)],
        indptr=np.cumsum([0, *map(len, rows)], dtype=np.int64),
        term_ids=np.concatenate(rows).astype(np.int32),
        weights=(rng.random(sum(map(len, rows))) + 0.1).astype(np.float32),
        n_terms=N_TERMS,
        vocab_fingerprint=Vocabulary(TERMS).fingerprint,
    )


def write_vectors(folder: Path, matrix: SparseMatrix) -> vectors_store.DocumentVectors:
    with write_artifact(folder, Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, {})) as draft:
        for name, strings in (("row_ids", matrix.row_ids), ("titles", matrix.row_ids), ("terms", TERMS)):
            write_strings(draft, name, strings)
        for name in ("indptr", "term_ids", "weights"):
            np.save(draft / f"{name}.npy", getattr(matrix, name))
        facts = (matrix.n_rows, matrix.n_terms, matrix.vocab_fingerprint, ENCODER)
        vectors_store.write_meta(draft, vectors_store.VectorsMeta(*facts))
    return vectors_store.open_vectors(folder)


def write_index(folder: Path, vectors: vectors_store.DocumentVectors, bits: int, range_size: int) -> None:
    with write_artifact(folder, Manifest(index_store.KIND, index_store.FORMAT_VERSION, {})) as draft:
        build_index(vectors, draft, 0, IndexSettings(bits=bits, reorder=bits == 8), range_size=range_size)


def make_artifacts(root: Path) -> None:
    """Everything, in folders of `root` that have the names of `USES`."""
    documents = [
        Document(f"d{number}", f"Title {number}", " ".join(TERMS[number % 7 : number % 7 + 3 + number % 5]))
        for number in range(60)
    ]
    write_collection(root / "data", documents)
    corpus = root / "data/corpus.jsonl"
    corpus.write_text(
        "".join(
            f'{line[:-1]}, "metadata": {{"year": {2000 + n % 9}, "sort": "s{n % 4}", "day": "2020-01-{n % 20 + 10}", '
            f'"tags": ["a{n % 3}", "b"], "numbers": [{n % 5}, 2]}}}}\n'
            for n, line in enumerate(corpus.read_text().splitlines())
        )
    )
    lexical = ("--set", "lexical.stemmer=none", "--set", "lexical.stopwords=none")
    call("index", "--data", root / "data", "--out", root / "plain/index", "--metadata", "--texts", "yes", *lexical)
    call("index", "add", root / "live_bm25", "--data", root / "data", "--texts", "yes", *lexical)
    with open_writer(root / "live_bm25") as writer:
        more = [Document(f"e{number}", "", f"word{number % 9} newword{number}") for number in range(20)]
        writer.append_texts(more, LexicalSettings(stemmer="none", stopwords="none"))
        writer.delete(["d3", "e4"])
    call("index", "add", root / "live_grafted", "--data", root / "data", *lexical)
    # With ids: nobody asks whether vectors that chance made are in the documents' order.
    ids, of_them = [one.doc_id for one in documents], np.random.default_rng(6).normal(size=(60, 8))
    np.savez(root / "vectors.npz", ids=ids, vectors=of_them.astype(np.float32))
    call("index", "graft", root / "live_grafted", "--vectors", root / "vectors.npz")
    (root / "vectors.npz").unlink()
    add_grafted(root / "live_grafted", "e")
    first, second = (write_vectors(root / name, matrix_of(*how)) for name, how in
                     (("vectors", (N_ROWS, 1)), ("more", (90, 2))))  # fmt: skip
    write_index(root / "index8", first, 8, 512)
    write_index(root / "index16", first, 16, 512)
    write_index(root / "index24", second, 24, 64)
    for name in ("index_v1", "live_v1", "live_v2", "live_v3", "live_v4", "grafted_live_v4"):
        shutil.copytree(GOLDEN / name, root / name)
    with create_live(root / "live") as writer:
        writer.append(first, settings=IndexSettings(reorder=False))
        writer.append(replace(second, query_encoder=ENCODER))
        writer.delete(["d1-5", "d2-7"])
    with write_artifact(root / "queries", Manifest(query_store.KIND, query_store.FORMAT_VERSION, {})) as draft:
        query_store.write_query_vectors(matrix_of(9, 3), Vocabulary(TERMS), draft)
    with write_artifact(root / "counts", Manifest(counts_store.KIND, counts_store.FORMAT_VERSION, {})) as draft:
        counts_store.write_counts(documents, LexicalSettings(stemmer="none"), Vocabulary(TERMS), draft)
    with write_artifact(root / "texts", Manifest(shared_texts.KIND, shared_texts.FORMAT_VERSION, {})) as draft:
        write_shared_texts(documents, draft, 1e9)
    _write_dense(root / "dense")
    with write_artifact(root / "table", Manifest("model", 1, {})) as draft:
        rows = matrix_of(N_TERMS, 4)
        write_table(draft, TableRows(rows.indptr, rows.term_ids, rows.weights))


def add_grafted(folder: Path, name: str) -> None:
    """Some documents more, with vectors that are as wide as those there."""
    graft = read_state(folder).graft
    vectors = np.random.default_rng(7).normal(size=(5, graft.width if graft else 8))
    with open_writer(folder) as writer:
        more = [Document(f"{name}{number}", "", f"word{number} newword{number}") for number in range(5)]
        writer.append_texts(more, LexicalSettings(), embed=given_vectors(vectors))


def _write_dense(folder: Path) -> None:
    rows = np.random.default_rng(5).normal(size=(50, 8)).astype(np.float32)
    with write_artifact(folder, Manifest(dense_store.KIND, dense_store.FORMAT_VERSION, {})) as draft:
        for name in (dense_store.ROW_IDS, dense_store.TITLES):
            write_strings(draft, name, [f"d{number}" for number in range(len(rows))])
        np.save(draft / dense_store.VECTORS, (rows / np.linalg.norm(rows, axis=1, keepdims=True)).reshape(-1))
        dense_store.write_meta(draft, dense_store.DenseVectorsMeta(50, 8, 32, {"kind": "dense", "model": "x"}))


def use_index(folder: Path) -> None:
    index = index_store.open_index(folder)
    for method in METHODS:
        searcher = Searcher(index, method)
        for k in (1, 10, 10_000):
            for terms in ([0, 1, 2], list(range(index.n_terms)), [index.n_terms - 1]):
                wanted = np.unique(np.array(terms, np.int32) % max(1, index.n_terms)).astype(np.int32)
                searcher.search(wanted, np.linspace(0.1, 1, len(wanted), dtype=np.float32), k, "q")
    for term in range(index.n_terms):
        index.postings(term)
    iterate_rows(index, 0, index.n_documents)
    assert len(list(index.doc_ids)) == len(list(index.titles)) == index.n_documents
    assert index.n_documents == 0 or index.holds(index.names(np.array([0], np.int32))[0]) in (True, False)


def use_version1(folder: Path) -> None:
    use_index(folder)


def use_plain(folder: Path) -> None:
    """An index of words with its texts and metadata, as the retriever opens it."""
    with Retriever.open(folder / "index") as retriever:
        for where in ((), *((condition,) for condition in WHERE)):
            for hit in retriever.answer("word1 word3 word8", 5, where).hits:
                str((hit.text, hit.metadata))
        retriever.search("word0 word1", 5, overlap=0.5)
        retriever.explain("word1 word3", "d1")
    use_index(folder / "index")
    out = folder / "as-live"
    make_live(folder / "index", out)
    with open_writer(out) as writer:
        writer.delete(["d2"], missing="ok")
        writer.merge(everything=True)


def use_live(folder: Path) -> None:
    status(folder, verify=True)
    for method in ("auto", "maxscore"):
        with Retriever.open(folder, method=method) as retriever:
            for where in WHERE if retriever.opened.metadata is not None else ():
                for hit in retriever.answer("word1 word3 word8", 5, where).hits:
                    str(hit.metadata)
            if retriever.opened.index.query_encoder["kind"] != "none":
                hits = retriever.search("word1 word3 newword3", 5)
                for hit in hits:
                    retriever.explain("word1 word3", hit.doc_id)
            for segment in retriever.opened.index.segments:
                iterate_rows(segment.index, 0, segment.index.n_documents)
    with open_writer(folder) as writer:
        writer.delete(["d1", "d1-1"], missing="ok")
        writer.merge(everything=True)
    status(folder, verify=True)


def use_grafted(folder: Path) -> None:
    add_grafted(folder, "f")
    use_live(folder)


def use_stored_live(folder: Path) -> None:
    """Its keys are other ones."""
    with Retriever.open(folder) as retriever:
        for where in ("year > 2000", "seen = 2024-03-01", 'tags has "a"', "mixed = 3"):
            for hit in retriever.answer("fox zebra", 5, where).hits:
                str(hit.metadata)
    with open_writer(folder) as writer:
        writer.delete(["ant"], missing="ok")
        writer.merge(everything=True)
    status(folder, verify=True)


def use_vectors(folder: Path) -> None:
    vectors = vectors_store.open_vectors(folder)
    vector_statistics(vectors.matrix, (0, 5, "m0.8"))
    with write_artifact(folder / "new", Manifest(index_store.KIND, index_store.FORMAT_VERSION, {})) as draft:
        build_index(vectors, draft, 0, IndexSettings(bits=8))
    use_index(folder / "new")


def use_queries(folder: Path) -> None:
    matrix, _ = query_store.open_query_vectors(folder)
    vector_statistics(matrix, (0, 5))


def use_counts(folder: Path) -> None:
    found = counts_store.open_counts(folder)
    for row in range(found.n_rows):
        span = slice(found.indptr[row], found.indptr[row + 1])
        found.document_frequency[found.term_ids[span]].sum()


def use_texts(folder: Path) -> None:
    texts = open_shared_texts(folder)
    if texts is not None:
        for number in range(60):
            texts.get(f"d{number}", number)


def use_dense(folder: Path) -> None:
    vectors = dense_store.open_dense_vectors(folder)
    DenseSearcher(vectors).search(np.ones(vectors.meta.width, np.float32), 5)
    vectors.holds("d7")


def use_table(folder: Path) -> None:
    rows = read_table(folder, N_TERMS)
    look_up(*rows, np.arange(N_TERMS, dtype=np.int32))


USES: dict[str, Callable[[Path], Any]] = {
    "plain": use_plain,
    "index8": use_index,
    "index16": use_index,
    "index24": use_index,
    "index_v1": use_version1,
    "live": use_live,
    "live_bm25": use_live,
    "live_v1": use_live,
    "live_v2": use_live,
    "live_v3": use_stored_live,
    "live_v4": use_stored_live,
    "live_grafted": use_grafted,
    "grafted_live_v4": use_grafted,
    "vectors": use_vectors,
    "queries": use_queries,
    "counts": use_counts,
    "texts": use_texts,
    "dense": use_dense,
    "table": use_table,
}

if __name__ == "__main__":
    make_artifacts(Path(sys.argv[1]))

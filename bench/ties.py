"""How often documents tie, by the bits of an impact, and what that does to a ranking: BM25, plain and live.

    python -m bench.ties FOLDER [--only NAME ...] [--runs 5] [--out FILE.json]

FOLDER has collections. Of each, the queries of its test judgements, or else of those of dev, are asked as they are and
cut to their two rarest words, of indexes of 8, 16 and 24 bits, of live ones of 8 and 16, and of plain float64 sums.
Prints JSON: the share of queries with a tie among the first ten (rank i and rank i + 1, i up to 10), the share in which
one of these holds documents of several grades (of its first hundred), MRR@10 and nDCG@10 with the p of a paired t-test
against float64, bytes, seconds to build (the best of three, in turns), and p50 milliseconds for ten, all indexes in
turns on one thread; times and bytes as ratios to those of 8 bits, too.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numba
import numpy as np
import scipy.sparse as sp

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.settings import IndexSettings, LexicalSettings, WordsSettings
from lexigraft.core.types import Ranking
from lexigraft.data.reading import Reading
from lexigraft.data.sources import open_source
from lexigraft.index import store
from lexigraft.index.build import build_index, tie_rank
from lexigraft.index.live.opening import create_live
from lexigraft.index.live.queries import open_live_encoder
from lexigraft.index.live.reader import open_live
from lexigraft.measure.compare import paired_test
from lexigraft.measure.measures import judgements, measure
from lexigraft.measure.speed import time_calls
from lexigraft.search.live import LiveSearcher
from lexigraft.search.searcher import Searcher
from lexigraft.vectors import store as vectors_store
from lexigraft.vectors.analysis import USUAL_RULE
from lexigraft.vectors.lexical import LexicalQueryEncoder, encode_documents
from lexigraft.vectors.store import DocumentVectors, open_vectors

MEASURES, COSTS = ("MRR@10", "nDCG@10"), ("bytes_of_lists", "bytes", "seconds")
EXACT, TOP, LOOKED_AT, ROUNDS = "float64", 10, 100, 3
AS_PLAIN = WordsSettings(USUAL_RULE.fold_accents, "off")  # words are cut as in the plain index
Row = tuple[np.ndarray, np.ndarray]
Ask = Callable[[int, int], tuple[Sequence[str], Sequence[float]]]  # number of a query, k: ids, scores


def exact_sums(vectors: DocumentVectors, queries: Sequence[Row]) -> Ask:
    matrix = vectors.matrix
    weights = sp.csr_matrix(
        (np.asarray(matrix.weights, np.float64), matrix.term_ids, matrix.indptr), (matrix.n_rows, matrix.n_terms)
    ).tocsc()
    ids, rank = list(matrix.row_ids), tie_rank(matrix.row_ids)

    def ask(number: int, k: int) -> tuple[Sequence[str], Sequence[float]]:
        scores = np.zeros(matrix.n_rows)
        for term, weight in zip(*queries[number], strict=True):
            span = slice(weights.indptr[term], weights.indptr[term + 1])
            scores[weights.indices[span]] += weight * weights.data[span]
        scores = scores.round(9)  # sums in another order are the same sum
        found = np.flatnonzero(scores)
        if len(found) > k:
            found = found[scores[found] >= np.partition(scores[found], len(found) - k)[len(found) - k]]
        best = found[np.lexsort((rank[found], -scores[found]))][:k]
        return [ids[row] for row in best], scores[best].tolist()

    return ask


def asked_of(searcher: Searcher | LiveSearcher, queries: Sequence[Row]) -> Ask:
    def ask(number: int, k: int) -> tuple[Sequence[str], Sequence[float]]:
        found = searcher.search(*queries[number], k)
        return found.doc_ids, found.scores

    return ask


def quality(ask: Ask, names: Sequence[str], judged: Mapping[str, Mapping[str, int]]) -> tuple[dict[str, Any], Any]:
    """Shares of ties and mean measures; and the measures by query."""
    tied = mixed = 0
    rankings = []
    for number, name in enumerate(names):
        ids, scores = ask(number, LOOKED_AT)
        rankings.append(Ranking(name, tuple(ids[:TOP]), tuple(scores[:TOP])))
        equal = {one for one, other in pairwise(scores[: TOP + 1]) if one == other}
        tied += bool(equal)
        grades = [
            {judged[name].get(doc_id, 0) for doc_id, score in zip(ids, scores, strict=True) if score == one}
            for one in equal
        ]
        mixed += any(len(some) > 1 for some in grades)
    found = measure(rankings, judged, MEASURES)
    told = {"tied": tied / len(names), "tied_grades": mixed / len(names)}
    return {**told, **{one.measure: one.mean for one in found}}, {one.measure: one.per_query for one in found}


def rarest(row: Row, n_postings: np.ndarray, n: int) -> Row:
    kept = np.sort(np.argsort(n_postings[row[0]], kind="stable")[:n])
    return row[0][kept], row[1][kept]


def build_all(
    documents: Callable[[], Iterator[Any]], vectors: DocumentVectors, folder: Path
) -> Iterator[dict[str, Any]]:
    """The indexes, made in turns: how they are called, what to search, its encoder, and what it took."""

    def plain(bits: int, path: Path) -> None:
        with write_artifact(path, Manifest(store.KIND, store.FORMAT_VERSION, {})) as draft:
            build_index(vectors, draft, settings=IndexSettings(bits=bits))

    def live(bits: int, path: Path) -> None:
        with create_live(path) as writer:
            settings = IndexSettings(bits=bits, texts="no")
            writer.append_texts(documents(), LexicalSettings(), settings=settings, words=AS_PLAIN)

    wanted = [(plain, 8), (plain, 16), (plain, 24), (live, 8), (live, 16)]
    seconds: dict[str, list[float]] = {}
    for number in range(ROUNDS):
        for make, bits in wanted:
            name = f"{make.__name__} {bits}"
            start = time.perf_counter()
            make(bits, folder / f"{name} {number}")
            seconds.setdefault(name, []).append(time.perf_counter() - start)
    for make, bits in wanted:
        name = f"{make.__name__} {bits}"
        path = folder / f"{name} 0"
        opened = open_live(path) if make is live else None
        index = opened.segments[0].index if opened else store.open_index(path)
        yield {
            "name": name,
            "usual": f"{make.__name__} 8",
            "encoder": open_live_encoder(opened, path) if opened else None,
            "searcher": LiveSearcher(opened) if opened else Searcher(index),
            "seconds": min(seconds[name]),
            "bytes_of_lists": index.stream.nbytes + index.entries.nbytes,
            "bytes": sum(file.stat().st_size for file in path.rglob("*") if file.is_file()),
        }


def measure_collection(source: Path, runs: int) -> dict[str, Any]:
    collection = open_source(str(source), Reading(on_duplicate="skip"))
    split = collection.evaluation_split("auto")
    judged = judgements(collection.qrels(split or ""))
    asked = [query for query in collection.queries() if query.query_id in judged]
    names = [query.query_id for query in asked]
    with TemporaryDirectory() as name:
        folder = Path(name)
        lexical = LexicalSettings().decided()
        with write_artifact(folder / "v", Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, {})) as draft:
            encode_documents(collection.documents(), lexical, draft)
        vectors = open_vectors(folder / "v")
        n_postings = np.bincount(vectors.matrix.term_ids, minlength=vectors.matrix.n_terms)
        counts = LexicalQueryEncoder(lexical, vectors.vocabulary)
        rows, systems, calls = [], list(build_all(collection.documents, vectors, folder)), {}
        for words in ("all", "2"):
            means = {}
            for one in [{"name": EXACT, "encoder": None}, *systems]:
                encoder = one["encoder"] or counts
                queries = [encoder.encode(query.text) for query in asked]
                # Both vocabularies number words in the order of their first appearance.
                queries = queries if words == "all" else [rarest(query, n_postings, 2) for query in queries]
                ask = asked_of(one["searcher"], queries) if "searcher" in one else exact_sums(vectors, queries)
                found, means[one["name"]] = quality(ask, names, judged)
                rows.append({"words": words, "system": one["name"], **found})
                for of in MEASURES:
                    differences = [value - means[EXACT][of][query] for query, value in means[one["name"]][of].items()]
                    rows[-1][f"p {of}"] = paired_test(differences).p
                if words == "all" and "searcher" in one:
                    calls[one["name"]] = lambda number, ask=ask: ask(number % len(names), TOP)
        times = time_calls(calls, min(len(names), 1000), runs)
        costs = {one["name"]: {"p50_ms": times[one["name"]].p50, **{key: one[key] for key in COSTS}} for one in systems}
        for one in systems:
            usual = costs[one["usual"]]
            costs[one["name"]] |= {
                f"{key} / 8 bits": costs[one["name"]][key] / usual[key] for key in usual if "/" not in key
            }
    return {
        "collection": source.name, "split": split, "documents": vectors.matrix.n_rows, "queries": len(names),
        "terms_per_query": float(np.mean([len(counts.encode(query.text)[0]) for query in asked])),
        "rankings": rows, "costs": costs,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    numba.set_num_threads(1)
    names = options.only or sorted(path.parent.name for path in options.folder.glob("*/qrels"))
    found = []
    for name in names:
        found.append(measure_collection(options.folder / name, options.runs))
        print(json.dumps(found[-1]), flush=True)
        if options.out:
            options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

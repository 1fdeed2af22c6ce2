"""What grafting costs a live index of BM25, and how far additions and deletions move its rankings from a fresh one's.

    python -m bench.live_graft COLLECTION --vectors FILE.npy [--changes 1000] [--at-once 50] [--out FILE.json]
    python -m bench.live_graft COLLECTION --seconds 1000 [--out FILE.json]

The first grafts most documents of a judged collection by the vectors in FILE, a row for each document in order; then
as many others are added and as many deleted as together are `--changes`, `--at-once` in a step, at random. Before and
after a merge of all segments it is compared with a fresh graft of the documents that are left: the share of the first
ten that both have, how often the first one is the same, and nDCG@10 over judged documents that live, beside BM25's,
with the postings that a query reads. The second says how many seconds `Retriever.from_texts` of so many texts takes to
BM25 and, by the packaged encoder, to the graft: with an empty cache, which makes the encoder's fast form first, and
again. Prints JSON.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lexigraft.core.settings import Settings
from lexigraft.core.settings.grafted import GraftedSettings
from lexigraft.core.types import Document, Ranking
from lexigraft.data.collection import Collection
from lexigraft.data.reading import Reading
from lexigraft.data.sources import open_source
from lexigraft.index.live.queries import open_live_encoder
from lexigraft.index.live.reader import open_live
from lexigraft.measure.compare import paired_test
from lexigraft.measure.measures import judgements, measure
from lexigraft.retrieve.live_changes import Adding, add_documents, begin_live_bm25, delete_documents, merge_segments
from lexigraft.retrieve.live_grafting import graft_live
from lexigraft.retrieve.retriever import Retriever

MEASURE, TOP = "nDCG@10", 10


@contextmanager
def timed(into: dict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    into[name] = into.get(name, 0.0) + time.perf_counter() - start


class Changed:
    """A live index whose documents come and go, and those that live, in the order of their addition."""

    def __init__(self, documents: Sequence[Document], vectors: np.ndarray, settings: Settings, live: Path) -> None:
        self.documents, self.vectors, self.settings, self.live = documents, vectors, settings, live
        self.rows: list[int] = []
        self.seconds: dict[str, float] = {}

    def begin(self, rows: list[int]) -> None:
        self.rows = rows
        with timed(self.seconds, "bm25"):
            begin_live_bm25(self.live, [self.documents[row] for row in rows], self.settings)
        with timed(self.seconds, "graft"):
            graft_live(self.live, self.vectors[rows], self.settings)

    def add(self, rows: list[int]) -> None:
        self.rows = [*self.rows, *rows]
        added = Adding(vectors=self.vectors[rows])
        with timed(self.seconds, "additions"):
            add_documents(self.live, [self.documents[row] for row in rows], self.settings, added)

    def delete(self, rows: list[int]) -> None:
        gone = set(rows)
        self.rows = [row for row in self.rows if row not in gone]
        with timed(self.seconds, "deletions"):
            delete_documents(self.live, [self.documents[row].doc_id for row in rows])


def rankings_of(live: Path, names: list[str], texts: list[str]) -> list[Ranking]:
    with Retriever.open(live) as retriever:
        found = retriever.search_many(texts, TOP)
    return [
        Ranking(name, tuple(hit.doc_id for hit in hits), tuple(hit.score for hit in hits))
        for name, hits in zip(names, found, strict=True)
    ]


def postings_of(live: Path, texts: list[str]) -> float:
    """Of living documents, for a query on average: what it costs."""
    index = open_live(live)
    encoder, total = open_live_encoder(index, live), 0
    for terms, _ in encoder.encode_all(texts):
        for term in terms.tolist():
            for segment in index.segments:
                rows, _ = segment.index.postings(term)
                total += len(rows) if segment.allowed is None else int(segment.allowed[rows].sum())
    return total / len(texts)


def likeness(rankings: list[Ranking], others: list[Ranking]) -> dict[str, float]:
    pairs = list(zip(rankings, others, strict=True))
    shares = [len({*one.doc_ids} & {*other.doc_ids}) / max(1, len(other.doc_ids)) for one, other in pairs]
    return {
        "overlap_of_ten": float(np.mean(shares)),
        "same_first": float(np.mean([one.doc_ids[:1] == other.doc_ids[:1] for one, other in pairs])),
        "same_ten_in_order": float(np.mean([one.doc_ids == other.doc_ids for one, other in pairs])),
    }


def compare(collection: Collection, vectors: np.ndarray, settings: Settings, changes: int, at_once: int) -> Any:
    documents, random = list(collection.documents()), np.random.default_rng(0)
    order = random.permutation(len(documents)).tolist()
    n_new = changes // 2
    with TemporaryDirectory() as name:
        live = Changed(documents, vectors, settings, Path(name) / "live")
        live.begin(sorted(order[n_new:]))
        waiting = order[:n_new]
        while waiting:
            some, waiting = waiting[:at_once], waiting[at_once:]
            live.add(some)
            live.delete(random.choice(live.rows, len(some), replace=False).tolist())
        fresh, bm25 = (Changed(documents, vectors, settings, Path(name) / kind) for kind in ("fresh", "bm25"))
        fresh.begin(live.rows)
        begin_live_bm25(bm25.live, [documents[row] for row in live.rows], settings)
        living = {documents[row].doc_id for row in live.rows}
        split = collection.evaluation_split("auto") or ""
        judged = {
            query: left
            for query, grades in judgements(collection.qrels(split)).items()
            if any((left := {doc_id: grade for doc_id, grade in grades.items() if doc_id in living}).values())
        }
        asked = {query.query_id: query.text for query in collection.queries() if query.query_id in judged}
        names, texts = list(asked), list(asked.values())
        found = {"fresh": rankings_of(fresh.live, names, texts), "bm25": rankings_of(bm25.live, names, texts)}
        found["changed"] = rankings_of(live.live, names, texts)
        paths = {"fresh": fresh.live, "bm25": bm25.live, "changed": live.live}
        postings = {kind: postings_of(path, texts) for kind, path in paths.items()}
        with timed(live.seconds, "merge"):
            merge_segments(live.live, True, settings)
        found["merged"] = rankings_of(live.live, names, texts)
        measured = {kind: measure(rankings, judged, (MEASURE,))[0] for kind, rankings in found.items()}
    values = {kind: one.per_query for kind, one in measured.items()}
    return {
        "documents": len(living), "new_ones": len(living & {documents[row].doc_id for row in order[:n_new]}),
        "queries": len(names), "changes": changes, "at_once": at_once, "seconds": live.seconds,
        MEASURE: {kind: one.mean for kind, one in measured.items()},
        "postings_a_query": postings,
        "p_changed_fresh": paired_test([values["changed"][one] - values["fresh"][one] for one in names]).p,
        "like_fresh": {kind: likeness(found[kind], found["fresh"]) for kind in ("bm25", "changed", "merged")},
    }  # fmt: skip


def seconds_of(texts: Sequence[str]) -> dict[str, float]:
    """From texts to BM25, and to the graft by the packaged encoder."""
    found: dict[str, float] = {}
    with TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        for called in ("", "again_"):
            with timed(found, f"{called}bm25"):
                retriever = Retriever.from_texts(texts)
            with timed(found, f"{called}graft"):
                retriever.graft()
            with timed(found, f"{called}added"):
                retriever.add([f"{texts[0]} again"], ids=["added"])
            retriever.close()
    return {"texts": len(texts), **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", type=Path)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--borrowed", type=float)
    parser.add_argument("--told", type=float)
    parser.add_argument("--seconds", type=int, metavar="TEXTS")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    collection = open_source(str(options.collection), Reading(on_duplicate="skip"))
    result: dict[str, Any] = {"collection": options.collection.name, "processors": os.cpu_count()}
    if options.seconds:
        texts = [document.contents for document in collection.documents()][: options.seconds]
        result["from_texts"] = seconds_of(texts)
    else:
        shares = {name: getattr(options, name) for name in ("borrowed", "told") if getattr(options, name) is not None}
        settings = Settings(grafted=GraftedSettings(**shares))
        result |= {"vectors": options.vectors.name, **shares}
        vectors = np.load(options.vectors)
        result |= compare(collection, vectors, settings, options.changes, options.at_once)
    text = json.dumps(result, indent=1)
    print(text)
    if options.out is not None:
        options.out.write_text(f"{text}\n")


if __name__ == "__main__":
    main()

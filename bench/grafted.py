"""BM25 and the same grafted, within costs, on a collection with judgements: nDCG@10, R@100, FLOPS and a paired t-test.

    python -m bench.grafted DIR [--split test] [--vectors FILE] [--costs 0.5 1 1.5 none] [--set NAME=VALUE ...]
                            [--out FILE]

Everything goes by the ways that users have: `lexigraft index --grafted`, and the evaluation of what was opened. Without
`--vectors` they are made by the sentence encoder that is installed. FLOPS are the postings that these queries touch,
per document; the cost that was asked for is kept on likely words, as queries are not known when documents are indexed.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lexigraft.api import evaluate
from lexigraft.core.config import load_settings
from lexigraft.core.settings import Settings
from lexigraft.data.sources import open_source
from lexigraft.index.store import open_index
from lexigraft.learn.grafting import graft_alone
from lexigraft.measure.compare import paired_test
from lexigraft.retrieve.retriever import Retriever
from lexigraft.stages.collect import reading
from lexigraft.stages.standalone import build

MEASURES = ("nDCG@10", "R@100", "MRR@10")


def measure(index: Path, data: str, split: str, settings: Settings) -> tuple[dict[str, float], dict[str, float], float]:
    """(means, nDCG@10 by query, FLOPS)."""
    opened, lengths = Retriever.open(index), open_index(index).lengths
    collection = open_source(data, reading(settings.data))
    split = str(collection.evaluation_split(split))
    known, grades = {query.query_id: query.text for query in collection.queries()}, dict[str, dict[str, int]]()
    for qrel in collection.qrels(split):
        grades.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.relevance
    asked = {query: known[query] for query in grades if query in known}
    found = evaluate(opened, queries=asked, qrels=grades, measures=MEASURES, k=100)
    texts = [asked[query] for query in found.per_query[MEASURES[0]]]
    vocabulary = opened.vocabulary.id_of
    touched = sum(int(lengths[vocabulary[one.term]]) for text in texts for one in opened.terms(text))
    return found.means, found.per_query[MEASURES[0]], touched / len(texts) / opened.n_documents


def row(index: Path, data: str, split: str, settings: Settings, bm25: dict[str, Any] | None = None) -> dict[str, Any]:
    """What is measured of an index, beside BM25."""
    means, per_query, flops = measure(index, data, split, settings)
    found: dict[str, Any] = {**means, "FLOPS": flops, "queries": len(per_query), "per_query": per_query}
    if bm25 is not None:
        test = paired_test([value - bm25["per_query"][query] for query, value in per_query.items()])
        found |= {"FLOPS/BM25": flops / bm25["FLOPS"], "ahead": test.difference, "p": test.p}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--split", default="auto")
    parser.add_argument("--vectors", default="")
    parser.add_argument("--costs", nargs="+", default=["0.5", "1", "1.5", "none"])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()

    def settings(cost: str = "1") -> Settings:
        by_cost = "prune.budget=none" if cost == "none" else f"prune.cost={cost}"
        return load_settings(None, [*given.set, by_cost, *([f"grafted.vectors={given.vectors}"] * bool(given.vectors))])

    with tempfile.TemporaryDirectory() as scratch:
        build(given.data, Path(scratch) / "bm25", settings())
        bm25 = row(Path(scratch) / "bm25", given.data, given.split, settings())
        found: dict[str, Any] = {
            "collection": Path(given.data).name,
            "vectors": Path(given.vectors).name,
            "set": given.set,
        }
        found["bm25"] = bm25
        for cost in given.costs:
            began = time.monotonic()
            build(given.data, Path(scratch) / cost, settings(cost), improve=graft_alone)
            seconds = time.monotonic() - began
            found[cost] = {**row(Path(scratch) / cost, given.data, given.split, settings(), bm25), "seconds": seconds}
            print(cost, {name: value for name, value in found[cost].items() if name != "per_query"}, file=sys.stderr)
    for one in found.values():
        if isinstance(one, dict):
            one.pop("per_query", None)
    text = json.dumps(found, indent=1)
    print(text)
    if given.out:
        given.out.write_text(text + "\n")


if __name__ == "__main__":
    main()

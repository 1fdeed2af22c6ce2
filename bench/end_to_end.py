"""Milliseconds from a query's text to ranked ids, beside bm25s over the same documents in the same process.

    python -m bench.end_to_end --run RUN [--run RUN ...] [--system NAME ...] [--k 10 1000] [--queries 500] [--runs 5]
        [--out FILE.json]

Every system of ours encodes with its own query encoder and searches its index; bm25s reads with its own tokenizer,
English stop-words and Snowball stemmer, by its default backend and by numba's. All return ids as strings, on one
thread, and take turns: a pass is all queries by one, the first pass is not measured. Prints a table, then JSON.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numba

from lexigraft.comparison.bench_text import Ask, text_search, time_texts
from lexigraft.comparison.index_stats_inputs import asked_queries, open_indexes
from lexigraft.comparison.open_systems import OpenSystem, document_contents
from lexigraft.stages.tables import markdown_table

BACKENDS = {"bm25s": "numpy", "bm25s (numba)": "numba"}


def asks_of_bm25s(texts: Sequence[str], doc_ids: Sequence[str]) -> Iterator[tuple[str, Ask]]:
    """bm25s by each backend, with one tokenizer, which remembers words as ours does."""
    import bm25s
    import Stemmer
    from bm25s.tokenization import Tokenizer

    tokenizer = Tokenizer(stopwords="en", stemmer=Stemmer.Stemmer("english"))
    tokens = tokenizer.tokenize(texts, return_as="tuple", show_progress=False)
    for name, backend in BACKENDS.items():
        retriever = bm25s.BM25(k1=1.2, b=0.75, backend=backend)
        retriever.index(tokens, show_progress=False)

        def ask(text: str, k: int, retriever: Any = retriever) -> list[str]:
            asked = tokenizer.tokenize([text], update_vocab=False, return_as="ids", show_progress=False)
            found = retriever.retrieve(asked, k=min(k, len(doc_ids)), return_as="documents", show_progress=False)
            return [doc_ids[row] for row in found[0].tolist()]

        yield name, ask


def agreement(asks: dict[str, Ask], texts: Sequence[str], ours: str) -> dict[str, float]:
    """The share of our ten best that bm25s has among its own: no proof, but different tasks would show."""
    shares = {}
    for name in BACKENDS:
        found = [(set(asks[ours](text, 10).doc_ids), set(asks[name](text, 10))) for text in texts]  # type: ignore[attr-defined]
        shares[name] = sum(len(a & b) / max(1, len(a)) for a, b in found) / len(found)
    return shares


def measure(systems: Sequence[Path], names: Sequence[str], ks: Sequence[int], limit: int, runs: int) -> dict[str, Any]:
    numba.set_num_threads(1)
    opened = open_indexes(systems, (), names, ((0, 0),), None)
    asked = asked_queries(opened, None, None)
    texts = [query.text for query in asked.queries[:: -(-len(asked.queries) // limit)]]
    asks = {one.name: text_search(one) for one in opened}
    first = opened[0].system
    assert isinstance(first, OpenSystem)
    asks |= dict(asks_of_bm25s(list(document_contents(first)), list(first.vectors.matrix.row_ids)))
    times = {k: time_texts(asks, texts, k, runs) for k in ks}
    return {
        "collection": asked.source,
        "documents": opened[0].index.n_documents,
        "queries": len(texts),
        "runs": runs,
        "top_10_shared": agreement(asks, texts, opened[0].name),
        "systems": [
            {
                "k": k,
                "name": name,
                **taken._asdict(),
                **{f"to {other}": taken.p50 / of_k[other].p50 for other in BACKENDS},
            }
            for k, of_k in times.items()
            for name, taken in of_k.items()
        ],
    }


def print_table(found: dict[str, Any]) -> None:
    ratios = [f"to {name}" for name in BACKENDS]
    print(f"{found['collection']}: {found['queries']:,} queries x {found['runs']}, {found['documents']:,} documents")
    rows = []
    for one in found["systems"]:
        cells = (f"{one[key]:.3f}" for key in ("p50", "p99", "mean"))
        rows.append((str(one["k"]), one["name"], *cells, *(f"{one[key]:.2f}" for key in ratios)))
    print("\n".join(markdown_table(["k", "system", "p50 ms", "p99 ms", "mean ms", *ratios], rows)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, action="append", required=True)
    parser.add_argument("--system", action="append", default=[])
    parser.add_argument("--k", type=int, nargs="+", default=[10, 1000])
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = measure(options.run, options.system, options.k, options.queries, options.runs)
    print_table(found)
    print(json.dumps(found, indent=1))
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""What keeping texts costs and gives: room on the disk, time to build, and milliseconds for what a search shows.

    python -m bench.kept_texts COLLECTION [COLLECTION ...] [--queries 200] [--runs 3] [--out FILE.json]

Each collection is indexed by BM25 without and with its texts, in turns, each in a process of its own; medians are
printed. Then queries of the collection are answered, and ten snippets are cut for each: `first` for queries whose
texts' words were not met before, `later` when the same queries come again.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from lexigraft.data.sources import open_source
from lexigraft.index.store import open_index
from lexigraft.retrieve.retriever import Retriever

N_TEXTS = 1000  # read one by one, at random


def build_seconds(data: str, out: Path, texts: str) -> float:
    """Index a collection in a process of its own."""
    command = [sys.executable, "-m", "lexigraft", "index", "--data", data, "--out", str(out), "--texts", texts]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def snippet_milliseconds(retriever: Retriever, queries: list[str]) -> Iterator[float]:
    """To cut the snippets of each query's ten results, which were searched for before."""
    for query in queries:
        hits = retriever.answer(query).hits
        start = time.perf_counter()
        for hit in hits:
            _ = hit.snippet
        yield 1000 * (time.perf_counter() - start)


def measure(data: str, n_queries: int, runs: int, folder: Path) -> dict[str, Any]:
    """All numbers of one collection."""
    seconds: dict[str, list[float]] = {"no": [], "yes": []}
    for _ in range(runs):
        for texts, taken in seconds.items():
            taken.append(build_seconds(data, folder / texts, texts))
    index = open_index(folder / "yes")
    assert index.texts is not None, "asked for"
    sizes = {texts: sum(file.stat().st_size for file in (folder / texts).iterdir()) for texts in seconds}
    places = random.Random(0).choices(range(index.n_documents), k=N_TEXTS)
    start = time.perf_counter()
    for place in places:
        index.texts.get(place)
    a_text = (time.perf_counter() - start) / N_TEXTS
    queries = [query.text for query in islice(open_source(data).queries(), n_queries)]
    with Retriever.open(folder / "yes") as retriever:
        first, later = (list(snippet_milliseconds(retriever, queries)) for _ in range(2))
    kept = sizes["yes"] - sizes["no"]
    return {
        "collection": Path(data).name,
        "documents": index.n_documents,
        "bytes_of_texts": index.texts.count_bytes(),
        "bytes_kept": kept,
        "share": round(kept / index.texts.count_bytes(), 3),
        "bytes_of_index_without": sizes["no"],
        "seconds_without": round(statistics.median(seconds["no"]), 2),
        "seconds_with": round(statistics.median(seconds["yes"]), 2),
        "ms_a_text": round(1000 * a_text, 4),
        "ms_ten_snippets_first": round(statistics.median(first), 3),
        "ms_ten_snippets_later": round(statistics.median(later), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("collections", nargs="+")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    found = []
    for data in asked.collections:
        with tempfile.TemporaryDirectory() as folder:
            found.append(measure(data, asked.queries, asked.runs, Path(folder)))
    text = json.dumps(found, indent=2) + "\n"
    sys.stdout.write(text)
    if asked.out is not None:
        asked.out.write_text(text)


if __name__ == "__main__":
    main()

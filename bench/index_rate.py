"""Documents a second from text to index, beside bm25s on the same text in the same run.

    python -m bench.index_rate [--documents 100000] [--out FILE.json]

Both read the same BEIR file, split, drop stop-words, stem, and leave an index on disk. Each runs in a process of its
own, one after the other, several times; the medians and their ratio are printed as JSON, with each one's peak memory.
"""

import argparse
import json
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from lexigraft.core.resources import measured
from lexigraft.core.types import Document
from lexigraft.data.write import write_collection

SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "is", "on", "ur")]


def generated_documents(
    n_documents: int, seed: int = 0, mean_words: int = 100, n_words: int = 200_000
) -> Iterator[Document]:
    """English-like text: Zipfian words of several syllables with English endings, stop-words, sentences, numbers."""
    rng = np.random.default_rng(seed)
    endings = np.array(["", "", "s", "ed", "ing", "ly", "ness"])
    parts = [rng.choice(SYLLABLES, n_words) for _ in range(3)]
    words = np.char.add(np.char.add(np.char.add(*parts[:2]), parts[2]), rng.choice(endings, n_words))
    words = np.concatenate([["the", "of", "and", "a", "to", "in", "is", "for", "with", "that"], words])
    chances = 1 / (np.arange(len(words)) + 2.7) ** 1.05
    cumulative = np.cumsum(chances / chances.sum())
    for number in range(n_documents):
        drawn = words[np.searchsorted(cumulative, rng.random(max(5, rng.poisson(mean_words))))].tolist()
        sentences = [" ".join(drawn[start : start + 12]).capitalize() + "." for start in range(0, len(drawn), 12)]
        yield Document(f"doc{number}", " ".join(drawn[:5]), " ".join(sentences) + f" {number / 7:.2f}")


def index_with_lexigraft(collection: Path, out: Path) -> None:
    from lexigraft.core.settings import Settings
    from lexigraft.stages.standalone import build

    build(str(collection), out, Settings())


def index_with_bm25s(collection: Path, out: Path) -> None:
    import bm25s
    import Stemmer

    texts = []
    with (collection / "corpus.jsonl").open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            texts.append(f"{record['title']} {record['text']}")
    tokens = bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)
    retriever = bm25s.BM25(k1=1.2, b=0.75)
    retriever.index(tokens, show_progress=False)
    retriever.save(str(out))


def _child(
    function: Callable[[Path, Path], None], collection: Path, out: Path, results: "multiprocessing.Queue[object]"
) -> None:
    with measured() as warm:  # imports and compiled kernels are paid once, before the clock starts
        small = out.with_name("warm-up-data")
        write_collection(small, generated_documents(200, seed=1))
        function(small, out.with_name("warm-up"))
    with measured() as usage:
        function(collection, out)
    results.put((usage.seconds, usage.peak_rss_mib, warm.seconds))


def run_once(function: Callable[[Path, Path], None], collection: Path) -> tuple[float, float]:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        process = context.Process(target=_child, args=(function, collection, Path(folder) / "index", results))
        process.start()
        seconds, peak, _ = results.get()
        process.join()
    return seconds, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        collection = Path(folder) / "generated"
        start = time.perf_counter()
        write_collection(collection, generated_documents(options.documents))
        size = (collection / "corpus.jsonl").stat().st_size
        print(
            f"{options.documents:,} documents of {size / 2**20:.0f} MiB made in {time.perf_counter() - start:.0f} s",
            flush=True,
        )
        taken: dict[str, list[tuple[float, float]]] = {"lexigraft": [], "bm25s": []}
        for run in range(options.runs):
            for name, function in (("lexigraft", index_with_lexigraft), ("bm25s", index_with_bm25s)):
                taken[name].append(run_once(function, collection))
                print(f"run {run + 1}: {name} {taken[name][-1][0]:.1f} s, {taken[name][-1][1]:.0f} MiB", flush=True)
    result = {"documents": options.documents, "corpus_mib": round(size / 2**20, 1), "runs": options.runs}
    for name, runs in taken.items():
        seconds = statistics.median(run[0] for run in runs)
        peak = max(run[1] for run in runs)
        result[name] = {
            "seconds": round(seconds, 2),
            "documents_per_s": round(options.documents / seconds),
            "peak_rss_mib": round(peak),
        }
    ratio = statistics.median(
        theirs[0] / ours[0] for ours, theirs in zip(taken["lexigraft"], taken["bm25s"], strict=True)
    )
    result["times_faster_than_bm25s"] = round(ratio, 2)
    print(json.dumps(result, indent=2))
    if options.out:
        options.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""Megabytes a second of reading, splitting and counting words, beside bm25s on the same text in the same run.

    python -m bench.vocab_rate [--data SOURCE] [--runs 3] [--out FILE.json]
    python -m bench.vocab_rate --memory [--out FILE.json]

SOURCE is anything `--data` is elsewhere; without it, 100,000 generated documents. Lexigraft streams the text and counts
its words; bm25s reads it and tokenises it without stop-words and stems, which is its first half of the same work. Each
runs in a process of its own, in turns; medians and their ratio are printed. With --memory: the peak of reading and
counting 10,000, 100,000 and 1,000,000 generated documents.
"""

import argparse
import json
import multiprocessing
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.index_rate import generated_documents
from lexigraft.core.resources import measured
from lexigraft.data.sources import open_source
from lexigraft.data.write import write_collection

SIZES = (10_000, 100_000, 1_000_000)


def count_with_lexigraft(source: str) -> int:
    from lexigraft.vocab.counting import count_words

    return len(count_words(document.contents for document in open_source(source).documents()))


def count_on_one_process(source: str) -> int:
    from lexigraft.vocab.counting import count_words

    return len(count_words((document.contents for document in open_source(source).documents()), processes=1))


def tokenise_with_bm25s(source: str) -> int:
    import bm25s

    texts = [document.contents for document in open_source(source).documents()]
    return len(bm25s.tokenize(texts, stopwords=None, stemmer=None, show_progress=False).vocab)


WAYS: dict[str, Callable[[str], int]] = {
    "lexigraft": count_with_lexigraft,
    "lexigraft, one process": count_on_one_process,
    "bm25s": tokenise_with_bm25s,
}


def _child(way: str, source: str, warm_up: str, results: "multiprocessing.Queue[tuple[float, float, int]]") -> None:
    WAYS[way](warm_up)  # imports and compiled kernels are paid before the clock starts
    with measured() as usage:
        distinct = WAYS[way](source)
    results.put((usage.seconds, usage.peak_rss_mib, distinct))


def run_once(way: str, source: str, warm_up: str) -> tuple[float, float, int]:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_child, args=(way, source, warm_up, results))
    process.start()
    found: tuple[float, float, int] = results.get()
    process.join()
    return found


def rates(source: str, warm_up: str, runs: int) -> dict[str, object]:
    megabytes = sum(len(d.contents.encode("utf-8", "replace")) for d in open_source(source).documents()) / 1e6
    taken: dict[str, list[tuple[float, float, int]]] = {way: [] for way in WAYS}
    for _ in range(runs):
        for way, found in taken.items():
            found.append(run_once(way, source, warm_up))
    rows = {
        way: {
            "seconds": statistics.median(seconds for seconds, _, _ in found),
            "MB_per_second": megabytes / statistics.median(seconds for seconds, _, _ in found),
            "peak_MiB": max(peak for _, peak, _ in found),
            "distinct_words": found[0][2],
        }
        for way, found in taken.items()
    }
    ratios = [b[0] / ours[0] for ours, b in zip(taken["lexigraft"], taken["bm25s"], strict=True)]
    return {"megabytes": megabytes, "runs": runs, **rows, "times_as_fast": statistics.median(ratios)}


def memory(folder: Path, warm_up: str, sizes: Sequence[int] = SIZES) -> dict[str, object]:
    found = {}
    for size in sizes:
        # Without a number of its own in every document, the vocabulary stops growing, as that of a language does.
        documents = (d._replace(text=d.text.rpartition(" ")[0]) for d in generated_documents(size, n_words=20_000))
        write_collection(folder / "docs", documents)
        seconds, peak, distinct = run_once("lexigraft", str(folder / "docs"), warm_up)
        megabytes = (folder / "docs" / "corpus.jsonl").stat().st_size / 1e6
        found[size] = {"megabytes": megabytes, "seconds": seconds, "peak_MiB": peak, "distinct_words": distinct}
    return {"peak_memory_of_counting": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_collection(folder / "small", generated_documents(200, seed=1))
        if not options.data and not options.memory:
            write_collection(folder / "docs", generated_documents(100_000))
        source, small = options.data or str(folder / "docs"), str(folder / "small")
        result = memory(folder, small) if options.memory else rates(source, small, options.runs)
    text = json.dumps(result, indent=2)
    print(text)
    if options.out is not None:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()

"""Rows a second and peak memory of reading users' files, by format, through the readers alone.

    python -m bench.read_rate [--rows 1000000] [--formats csv,tsv,jsonl,parquet] [--runs 3] [--out FILE.json]

The same generated products, with an id, a name, a description of 40 words and a price, are written once in each format
and read in a process of its own, in turns: fields are guessed, ids compared, nothing is indexed. Medians are printed,
and beside them those of a tenth of the rows: peaks that agree show that memory does not grow with the file, but for the
16 to 32 bytes by which ids that repeat are found.
"""

import argparse
import csv
import json
import logging
import multiprocessing
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lexigraft.core.resources import measured
from lexigraft.data.sources import open_source

FIELDS = ("sku", "name", "description", "price")
N_WORDS, WORDS_EACH, BLOCK = 20_000, 40, 1000


def generated_rows(n_rows: int, seed: int = 0) -> Iterator[tuple[str, str, str, float]]:
    """Products; every tenth description has a comma and quotes, which CSV must write in quotes."""
    draw = np.random.default_rng(seed)
    words = np.array([f"w{number}" for number in range(N_WORDS)])
    for start in range(0, n_rows, BLOCK):
        places = draw.zipf(1.3, (min(BLOCK, n_rows - start), WORDS_EACH)) % N_WORDS
        for row, text in enumerate(words[places], start):
            description = " ".join(text)
            yield (
                f"p{row}",
                " ".join(text[:3]),
                f'{description}, "{text[0]}"' if row % 10 == 0 else description,
                row % 90,
            )


def write_table(path: Path, rows: Iterator[tuple[str, str, str, float]], separator: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        plain = {"quoting": csv.QUOTE_NONE, "quotechar": None} if separator == "\t" else {}
        writer = csv.writer(file, delimiter=separator, **plain)
        writer.writerow(FIELDS)
        writer.writerows(rows)


def write_jsonl(path: Path, rows: Iterator[tuple[str, str, str, float]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(dict(zip(FIELDS, row, strict=True))) + "\n" for row in rows)


def write_parquet(path: Path, rows: Iterator[tuple[str, str, str, float]]) -> None:
    import pyarrow
    from pyarrow import parquet

    block: list[tuple[str, str, str, float]] = []
    schema = pyarrow.schema([*((name, pyarrow.string()) for name in FIELDS[:3]), ("price", pyarrow.float64())])
    with parquet.ParquetWriter(path, schema) as writer:
        for row in rows:
            block.append(row)
            if len(block) == 50 * BLOCK:
                writer.write_table(pyarrow.table(list(map(list, zip(*block, strict=True))), schema=schema))
                block = []
        if block:
            writer.write_table(pyarrow.table(list(map(list, zip(*block, strict=True))), schema=schema))


def write_rows(path: Path, n_rows: int) -> None:
    rows, kind = generated_rows(n_rows), path.suffix
    if kind in (".csv", ".tsv"):
        write_table(path, rows, "," if kind == ".csv" else "\t")
    else:
        {".jsonl": write_jsonl, ".parquet": write_parquet}[kind](path, rows)


def _child(source: str, warm_up: str, results: "multiprocessing.Queue[tuple[float, float, int]]") -> None:
    logging.disable()
    read(warm_up)  # imports and compiled kernels are paid before the clock starts
    with measured() as usage:
        n_rows = read(source)
    results.put((usage.seconds, usage.peak_rss_mib, n_rows))


def read(source: str) -> int:
    return sum(1 for _ in open_source(source).documents())


def run_once(source: Path, warm_up: Path) -> tuple[float, float, int]:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_child, args=(str(source), str(warm_up), results))
    process.start()
    found: tuple[float, float, int] = results.get()
    process.join()
    return found


def rates(folder: Path, formats: list[str], n_rows: int, runs: int) -> dict[str, object]:
    taken: dict[tuple[str, int], list[tuple[float, float, int]]] = {}
    for name in formats:
        for size in (100, n_rows // 10, n_rows):
            write_rows(folder / f"{size}.{name}", size)
    for _ in range(runs):
        for name in formats:
            for size in (n_rows // 10, n_rows):
                found = run_once(folder / f"{size}.{name}", folder / f"100.{name}")
                taken.setdefault((name, size), []).append(found)
    return {
        f"{name}, {size:,} rows": {
            "megabytes": round((folder / f"{size}.{name}").stat().st_size / 1e6, 1),
            "rows_per_second": round(size / statistics.median(seconds for seconds, _, _ in found)),
            "peak_MiB": round(max(peak for _, peak, _ in found), 1),
            "rows": found[0][2],
        }
        for (name, size), found in taken.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--formats", default="csv,tsv,jsonl,parquet")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        result = rates(Path(scratch), options.formats.split(","), options.rows, options.runs)
    text = json.dumps(result, indent=2)
    print(text)
    if options.out is not None:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()

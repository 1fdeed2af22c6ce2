"""What adding up a list costs in each of its forms, by how many of a range's documents it holds: from which share on a
row of all documents is faster, and how many documents a sweep passes in the time of a touched one.

    python -m bench.list_forms [--runs 30]

One thread; every run reads other lists, at random places of 64 MiB, so that caches help no more than they do with an
index of that size. Prints JSON: nanoseconds a posting and bytes a posting of every form and share, what a sweep costs a
document, and a touched posting.
"""

import argparse
import json
import time
from collections.abc import Callable

import numpy as np

from lexigraft.core.compiled import compiled
from lexigraft.index.codec import DENSE, GAPS, HEADER, RANGE, WIDE, encode_list
from lexigraft.search.lists import add_gaps, add_wide
from lexigraft.search.sweep import CHUNK, GROUP, STRIDE, add_rows, block_maxima
from lexigraft.search.touched import add_touched

SHARES = (0.0005, 0.002, 0.004, 0.01, 0.03, 0.06, 0.09, 0.12, 0.18, 0.25, 0.5)
POOL = 64 << 20  # bytes
LISTS_A_RUN = 300
DENSE_AT_ONCE = 3  # as many dense lists a query has, among which the last step is shared


def nanoseconds(call: Callable[[int], object], runs: int) -> float:
    """The median over the runs, each of which gets its number; number 0 is not measured."""
    call(0)
    times = []
    for run in range(1, runs + 1):
        start = time.perf_counter_ns()
        call(run)
        times.append(time.perf_counter_ns() - start)
    return float(np.median(times))


def list_of(share: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    places = np.flatnonzero(rng.random(RANGE) < share).astype(np.uint16)
    return places, rng.integers(1, 256, len(places)).astype(np.uint8)


def words_of(places: np.ndarray, impacts: np.ndarray, form: int) -> np.ndarray:
    gaps = np.diff(places.astype(np.int64), prepend=-1)
    sizes = {WIDE: len(places) + (len(places) + 1) // 2, GAPS: len(places) + int(((gaps - 1) // 255).sum())}
    words = np.zeros(HEADER + sizes.get(form, RANGE // 2), np.uint16)
    encode_list(places, impacts, form, 8, words)
    return words


@compiled
def add_all_wide(
    stream: np.ndarray, octets: np.ndarray, starts: np.ndarray, weight: np.int32, accumulators: np.ndarray
) -> None:
    for i in range(len(starts)):
        add_wide(stream, octets, starts[i], weight, accumulators)


@compiled
def add_all_gaps(
    stream: np.ndarray, octets: np.ndarray, starts: np.ndarray, weight: np.int32, accumulators: np.ndarray
) -> None:
    for i in range(len(starts)):
        add_gaps(stream, octets, starts[i], weight, accumulators)


@compiled
def add_all_dense(
    octets: np.ndarray, starts: np.ndarray, weight: np.int32, sums: np.ndarray, accumulators: np.ndarray
) -> None:
    weights, largest = np.full(DENSE_AT_ONCE, weight), np.full(DENSE_AT_ONCE, 255)
    for i in range(0, len(starts) - DENSE_AT_ONCE + 1, DENSE_AT_ONCE):
        rows = 2 * (starts[i : i + DENSE_AT_ONCE] + HEADER)
        add_rows(octets, rows, weights, largest, DENSE_AT_ONCE, RANGE, sums, accumulators)


@compiled
def touch_all(
    stream: np.ndarray,
    octets: np.ndarray,
    starts: np.ndarray,
    form: int,
    weight: np.int32,
    accumulators: np.ndarray,
    touched: np.ndarray,
) -> None:
    for i in range(len(starts)):
        n = add_touched(stream, octets, starts[i], form, RANGE, weight, accumulators, touched, 0)
        for j in range(n):
            accumulators[touched[j]] = 0


def measure(share: float, runs: int, rng: np.random.Generator) -> dict[str, object]:
    places, impacts = list_of(share, rng)
    accumulators, sums, weight = np.zeros(RANGE, np.int32), np.zeros(CHUNK, np.uint16), np.int32(7)
    touched, found = np.empty(RANGE + 1, np.uint16), {}
    for name, form in (("wide", WIDE), ("gaps", GAPS), ("dense", DENSE)):
        words = words_of(places, impacts, form)
        slots = POOL // words.nbytes
        copies = min(LISTS_A_RUN, slots) // DENSE_AT_ONCE * DENSE_AT_ONCE
        stream = np.tile(words, slots)
        octets, starts = stream.view(np.uint8), rng.integers(0, slots, (runs + 1, copies)) * len(words)
        if form == DENSE:
            taken = nanoseconds(
                lambda run, o=octets, s=starts: add_all_dense(o, s[run], weight, sums, accumulators), runs
            )
        else:
            add = add_all_wide if form == WIDE else add_all_gaps
            taken = nanoseconds(
                lambda run, w=stream, o=octets, s=starts, add=add: add(w, o, s[run], weight, accumulators), runs
            )
        one = {"ns_a_posting": taken / copies / len(places), "bytes_a_posting": words.nbytes / len(places)}
        accumulators[:] = 0
        if form != DENSE:
            taken = nanoseconds(
                lambda run, w=stream, o=octets, s=starts, f=form: touch_all(
                    w, o, s[run], f, weight, accumulators, touched
                ),
                runs,
            )
            one["ns_a_touched_posting"] = taken / copies / len(places)
        found[name] = {key: round(value, 3) for key, value in one.items()}
    return {"share": share, "postings": len(places), **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    accumulators = rng.integers(0, 1000, RANGE).astype(np.int32)
    maxima, tops = np.zeros(RANGE // GROUP * STRIDE, np.int32), np.zeros(RANGE // GROUP, np.int32)
    sweep = nanoseconds(lambda _: block_maxima(accumulators, RANGE, maxima, tops), 200)
    sweep += nanoseconds(lambda _: accumulators.fill(0), 200)
    rows = [measure(share, options.runs, rng) for share in SHARES]
    print(json.dumps({"ns_a_document_swept": round(sweep / RANGE, 4), "shares": rows}, indent=1))


if __name__ == "__main__":
    main()

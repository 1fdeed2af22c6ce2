"""Documents a second of encoding by shards: one and two workers, in local processes and on a Ray cluster.

    python -m bench.shards --data DIR --model MODEL [--documents 4096] [--shards 8] [--workers 1 2] [--ray local]
        [--rounds 3]

The first documents of a collection are encoded in one process and by shards, in turns. Vectors must have the same
bytes, or it is an error. Times are from the call to the joined vectors: starting processes, opening the model in each,
writing texts out and joining are in them. Medians are printed as JSON, with `busy_cores`: how many cores computed
meanwhile, for whomever. Where others compute, two workers are as fast as one.
"""

import argparse
import json
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from bench.encode_contenders import busy_seconds
from lexigraft.core.processes import usable_cores
from lexigraft.core.settings import Settings
from lexigraft.data.sources import open_source
from lexigraft.data.write import write_collection
from lexigraft.inference.threads import at_most
from lexigraft.shards.encoding import encode_by_shards
from lexigraft.shards.running import Where
from lexigraft.stages.standalone import encode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=4096)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--ray", default="")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        print(json.dumps(_measured(asked, Path(name)), indent=2))


def _measured(asked: argparse.Namespace, folder: Path) -> dict[str, object]:
    data = folder / "data"
    write_collection(data, islice(open_source(asked.data).documents(), asked.documents))
    wheres = [Where(asked.shards, workers) for workers in asked.workers]
    if asked.ray:
        wheres += [Where(asked.shards, workers, asked.ray) for workers in asked.workers]
    ways: dict[str, Callable[[Path], object]] = {
        "one process, one thread": lambda out: _in_one_thread(str(data), asked.model, out)
    }
    for where in wheres:
        name = f"{'Ray' if where.ray else 'processes'}, {where.workers} workers"
        ways[name] = lambda out, where=where: encode(
            str(data), asked.model, out, Settings(), write=encode_by_shards(where)
        )
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    expected: dict[str, bytes] = {}
    for number in range(asked.rounds):
        for at, (name, way) in enumerate(ways.items()):
            out = folder / f"{number}-{at}"
            busy, started = busy_seconds(), time.perf_counter()
            way(out)
            seconds = time.perf_counter() - started
            found[name].append((seconds, (busy_seconds() - busy) / seconds))
            made = {file.name: file.read_bytes() for file in out.iterdir()}
            expected = expected or made
            if made != expected:
                raise SystemExit(f"{name} wrote other bytes than one process")
    return {
        "machine": f"{platform.machine()}, {usable_cores()} cores",
        "documents": asked.documents,
        "shards": asked.shards,
        "ways": {name: _medians(times, asked.documents) for name, times in found.items()},
    }


def _in_one_thread(data: str, model: Path, out: Path) -> None:
    with at_most(1):
        encode(data, model, out, Settings())


def _medians(times: list[tuple[float, float]], n_documents: int) -> dict[str, float]:
    """`busy_cores`: of this program and of all others together, while it encoded."""
    seconds = statistics.median(time for time, _ in times)
    return {
        "seconds": round(seconds, 1),
        "documents_per_second": round(n_documents / seconds, 1),
        "busy_cores": round(statistics.median(cores for _, cores in times), 2),
    }


if __name__ == "__main__":
    main()

"""A server under load from a second process, beside the bare engine in the same run.

    python -m bench.serve_load RUN [--system NAME] [--connections 200] [--seconds 60] [--out FILE.json]

The server is a process of its own, as `lexigraft serve` starts it; so is the client. Queries are titles of the run's
documents. Printed as JSON: requests a second and percentiles, the server's memory every second, how long it took to be
ready, what the same questions take in a plain loop over `Retriever.answer` by as many threads, and what became of
requests in flight at SIGTERM.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from typing import Any

from bench.http_load import load
from lexigraft.core.compiled import load_kernels
from lexigraft.core.processes import usable_cores
from lexigraft.retrieve.retriever import Retriever
from lexigraft.serve.running import TURN_SECONDS

N_QUERIES = 1_000
STOPPED_AFTER = 2.0  # seconds of load before SIGTERM


def titles_of(retriever: Retriever) -> list[str]:
    """Titles as questions, spread over the collection."""
    titles = retriever.opened.index.segments[0].index.titles
    step = max(1, len(titles) // N_QUERIES)
    return [titles[at][:200] for at in range(0, len(titles), step) if titles[at].strip()][:N_QUERIES]


class Server:
    """`lexigraft serve`, with its memory while it lives."""

    def __init__(self, run: str) -> None:
        begun = time.monotonic()
        command = [sys.executable, "-m", "lexigraft", "serve", run, "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        self.ready_seconds = round(time.monotonic() - begun, 2)
        self.address = said.rpartition(" at ")[2].split()[0]
        self.memory: list[float] = []
        self._end = Event()
        Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        pages = os.sysconf("SC_PAGESIZE") / (1 << 20)
        while not self._end.wait(1.0) and self.process.poll() is None:
            fields = Path(f"/proc/{self.process.pid}/statm").read_text().split()
            self.memory.append(round((int(fields[1]) - int(fields[2])) * pages, 1))  # without mapped files

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self._end.set()
        return status


def engine_loop(retriever: Retriever, queries: Sequence[str], seconds: float, threads: int) -> dict[str, Any]:
    """The same questions without a server: what `Retriever.answer` shows, as JSON, in a plain loop. Every thread has an
    encoder, and its turn is as long, as in the server."""
    sys.setswitchinterval(TURN_SECONDS)
    ends = time.monotonic() + seconds

    def ask(first: int) -> list[float]:
        times, at = [], first
        while time.monotonic() < ends:
            begun = time.perf_counter()
            json.dumps(retriever.answer(queries[at % len(queries)]).as_json(text=False))
            times.append(1000 * (time.perf_counter() - begun))
            at += threads
        return times

    with ThreadPoolExecutor(threads) as pool:
        times = sorted(one for found in pool.map(ask, range(threads)) for one in found)
    return {
        "threads": threads, "answers_a_second": round(len(times) / seconds, 1),
        "ms_p50": round(times[len(times) // 2], 3), "ms_p99": round(times[int(len(times) * 0.99)], 3),
    }  # fmt: skip


def stopped_under_load(run: str, bodies: list[bytes], connections: int) -> dict[str, Any]:
    """SIGTERM while all connections ask. An answer that has begun must come; what was not accepted is no answer."""
    server = Server(run)

    async def ask() -> Any:
        asking = asyncio.create_task(load(server.address, bodies, connections, STOPPED_AFTER + 0.1))
        await asyncio.sleep(STOPPED_AFTER)
        server.process.send_signal(signal.SIGTERM)
        return await asking

    seen = asyncio.run(ask())
    return {"exit_status": server.process.wait(60), **seen.as_json()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    parser.add_argument("--system", default=None)
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args()
    load_kernels()
    retriever = Retriever.open(given.run, given.system)
    queries = titles_of(retriever)
    named = {} if given.system is None else {"system": given.system}
    bodies = [json.dumps({"query": query, **named}).encode() for query in queries]
    server = Server(given.run)
    client = subprocess.run(
        [sys.executable, "-m", "bench.http_load", server.address, "--connections", str(given.connections),
         "--seconds", str(given.seconds)],
        input=b"\n".join(bodies), stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    memory, status = list(server.memory), server.stop()
    found = {
        "run": given.run, "documents": retriever.n_documents, "cores": usable_cores(), "load_average": os.getloadavg(),
        "ready_seconds": server.ready_seconds, "connections": given.connections, "served": json.loads(client.stdout),
        "memory_mib": {"first": memory[:3], "last": memory[-3:], "most": max(memory, default=0)},
        "exit_status": status,
        "engine_loop": engine_loop(retriever, queries, given.seconds, usable_cores()),
        "stopped_under_load": stopped_under_load(given.run, bodies, given.connections),
    }  # fmt: skip
    text = json.dumps(found, indent=1)
    print(text)
    if given.out is not None:
        given.out.write_text(text + "\n")


if __name__ == "__main__":
    main()

"""Many connections that ask a server at once, as fast as it answers: the client of load tests.

    python -m bench.http_load ADDRESS --connections 200 --seconds 60 < BODIES

reads JSON bodies for POST /search, one a line, and prints counts and percentiles as JSON. A client library would take
more time than the server: here a request is written, and its answer cut by its content-length.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

HONEST = (429, 503)  # what a server may say that has too much to do
PAUSE = 0.1  # seconds after which one that was turned away asks again

Check = Callable[[bytes, bytes], str]  # what is wrong with the answer to a body; empty where it is right


@dataclass
class Load:
    """What was seen."""

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    milliseconds: list[float] = field(default_factory=list)
    broken: Counter[str] = field(default_factory=Counter)  # connections that ended without an answer
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        answered = sorted(self.milliseconds)
        return {
            "requests": sum(self.statuses.values()),
            "requests_a_second": round(len(answered) / max(self.seconds, 1e-9), 1),
            "statuses": dict(self.statuses),
            "broken": dict(self.broken),
            "wrong": dict(self.wrong.most_common(5)),
            **{f"ms_p{share:g}": round(percentile(answered, share), 2) for share in (50, 90, 99, 99.9)},
            "ms_max": round(answered[-1], 2) if answered else None,
            "seconds": round(self.seconds, 2),
        }


def percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share / 100))] if ordered else 0.0


def request_of(host: str, body: bytes, path: str = "/search") -> bytes:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes, bool]:
    """(status, body, whether the server keeps the connection)."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    at = head.index(b"content-length:")
    length = int(head[at + 15 : head.index(b"\r", at)])
    body = await reader.readexactly(length) if length else b""
    return int(head[9:12]), body, b"connection: close" not in head


async def load(
    address: str, bodies: Sequence[bytes], connections: int, seconds: float, check: Check | None = None
) -> Load:
    """Ask from so many connections for so long, each one thing after the other."""
    seen, ends = Load(), time.monotonic() + seconds
    begun = time.monotonic()
    await asyncio.gather(*(_ask(address, bodies, number, ends, seen, check) for number in range(connections)))
    seen.seconds = time.monotonic() - begun
    return seen


async def _ask(
    address: str, bodies: Sequence[bytes], number: int, ends: float, seen: Load, check: Check | None
) -> None:
    parts, choose = urlsplit(address), random.Random(number)
    writer: asyncio.StreamWriter | None = None
    while time.monotonic() < ends:
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=1 << 24)
            body, begun = choose.choice(bodies), time.perf_counter()
            writer.write(request_of(parts.netloc, body))
            status, answer, stays = await read_answer(reader)
        except (OSError, EOFError) as error:
            seen.broken[type(error).__name__] += 1
            writer = None
            await asyncio.sleep(PAUSE)
            continue
        seen.statuses[status] += 1
        if status == 200:
            seen.milliseconds.append(1000 * (time.perf_counter() - begun))
            if check is not None and (wrong := check(body, answer)):
                seen.wrong[wrong] += 1
        elif status in HONEST:
            await asyncio.sleep(PAUSE)
        if not stays:
            writer.close()
            writer = None
    if writer is not None:
        writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    bodies = [line.strip().encode() for line in sys.stdin if line.strip()]
    print(json.dumps(asyncio.run(load(given.address, bodies, given.connections, given.seconds)).as_json()))


if __name__ == "__main__":
    main()

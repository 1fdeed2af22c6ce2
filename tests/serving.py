"""A server for tests: in this process without a socket, or a process of its own as a user starts it."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from lexigraft.serve.access import access_for
from lexigraft.serve.app import make_app
from lexigraft.serve.catalogue import Shelf
from lexigraft.serve.limits import Limits
from lexigraft.serve.service import READY, Service

BASE = "http://127.0.0.1"
START_SECONDS = 120  # kernels may have to be compiled, on busy cores


class InProcess:
    """Asks the application itself. `shelf` looks at files when a test says so, and not by itself."""

    def __init__(self, paths: Sequence[Path], limits: Limits | None = None, **named: Any) -> None:
        self.service = Service(
            access_for("127.0.0.1", **named.pop("access", {})), limits or Limits(seconds=120), **named
        )
        self.shelf = Shelf(list(paths), 2)
        self.service.shelf, self.service.status = self.shelf, READY
        self._app = make_app(self.service)

    def ask(self, method: str, path: str, **named: Any) -> httpx.Response:
        async def one() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app)
            async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
                return await client.request(method, path, **named)

        return asyncio.run(one())

    def get(self, path: str, **named: Any) -> Any:
        found = self.ask("GET", path, **named)
        assert found.status_code == 200, found.text
        return found.json()

    def post(self, path: str, **body: Any) -> Any:
        found = self.ask("POST", path, json=body)
        assert found.status_code == 200, found.text
        return found.json()

    def refused(self, status: int, method: str, path: str, **named: Any) -> str:
        """The line that a client is told."""
        found = self.ask(method, path, **named)
        assert found.status_code == status, (found.status_code, found.text)
        (said,) = found.json().values()
        assert "\n" not in said and "/tmp" not in said and "Traceback" not in said
        return said


class Process:
    """`lexigraft serve` with the address that it said."""

    def __init__(self, process: "subprocess.Popen[str]", address: str) -> None:
        self.process, self.address = process, address

    def stop(self, seconds: float = 60) -> int:
        """Send SIGTERM, and wait for the end."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)


@contextmanager
def served(*arguments: object, errors: Path | None = None, command: str = "serve") -> Any:
    """A server as its user starts it, at any free port."""
    line = [sys.executable, "-m", "lexigraft", command, *map(str, arguments), "--port", "0"]
    with open(errors or os.devnull, "w") as said:  # noqa: PTH123
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=said, text=True)
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert " at http://" in first, first or Path(errors or os.devnull).read_text()
            yield Process(process, first.rpartition(" at ")[2].split()[0])
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()

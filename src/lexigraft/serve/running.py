"""A server from its start to its graceful end."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import NoReturn

import uvicorn

from lexigraft.core.errors import SettingError
from lexigraft.engines.address import Address
from lexigraft.serve.app import make_app
from lexigraft.serve.catalogue import Shelf
from lexigraft.serve.connection import BoundedConnection
from lexigraft.serve.limits import let_open_many_files
from lexigraft.serve.service import READY, STOPPING, Service
from lexigraft.serve.work import n_threads

BACKLOG = 2048  # connections that wait to be accepted
IDLE_SECONDS = 30  # after which a connection without a request is closed
STOP_TICKS = 5  # tenths of a second between a signal and the end of listening
STOP_SECONDS = 30  # that requests in flight have after SIGTERM
# Threads that compute and the one that takes requests share an interpreter: at the usual 5 ms a request would wait long
# for its turn.
TURN_SECONDS = 0.001


class _Server(uvicorn.Server):
    """uvicorn's, but that it ends with status 0 after a signal: it was asked to end, and did."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service, self._ticks_to_go = service, STOP_TICKS

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """They are captured before there is a loop (`heed_signals`), and to the end."""
        yield

    def heed_signals(self) -> None:
        """From here on a signal is noted, and raises nothing: an exception in the middle of a task would be taken for
        that task's end, and the server would go on without it."""
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, self.handle_exit)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Who balances loads sees at once that no more is wanted; what was sent until then is read and answered."""
        if self._service.status != STOPPING:
            self._service.stop()
        else:  # whoever asks twice does not want to wait
            self.should_exit = self.force_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second; whether to end."""
        self._ticks_to_go -= self._service.status == STOPPING
        return await super().on_tick(counter) or self._ticks_to_go <= 0


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise SettingError(f"{host}:{port} cannot be listened at ({said}); give another --host or --port") from error
    return found


def address_of(listening: socket.socket) -> str:
    """How a browser calls it."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def run_server(
    service: Service, given: Sequence[Path | Address], listening: socket.socket, on_ready: Callable[[Shelf], None]
) -> None:
    """Serve until SIGTERM or SIGINT. The socket listens from the beginning: who asks early is told that the systems are
    being opened. Raises what makes a system impossible to open."""
    config = uvicorn.Config(
        make_app(service),
        loop="uvloop" if _has_uvloop() else "asyncio",
        http=BoundedConnection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    server = _Server(config, service)
    let_open_many_files()
    sys.setswitchinterval(TURN_SECONDS)

    async def serve() -> bool:
        """Whether all systems were opened, or could not be, before the end."""
        answering = asyncio.create_task(server.serve([listening]))
        opening = _in_background(lambda: Shelf(given, n_threads(service.limits)))
        try:
            await asyncio.wait((answering, opening), return_when=asyncio.FIRST_COMPLETED)
            if opening.done():
                service.begin(opening.result())
                if service.status == READY:
                    on_ready(opening.result())
        finally:
            server.should_exit = server.should_exit or (opening.done() and opening.exception() is not None)
            await answering
        return opening.done()

    server.heed_signals()
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        try:
            is_opened = runner.run(serve())
        finally:
            service.close()
    if not is_opened:
        _leave()


def _leave() -> NoReturn:
    """End while a thread still opens systems. It may be within code of others, which an orderly end of the interpreter
    would take its memory from, and then sometimes waits for."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _in_background(open_all: Callable[[], Shelf]) -> "asyncio.Future[Shelf]":
    """Opened by a thread that a signal to stop need not wait for."""
    opened: Future[Shelf] = Future()

    def work() -> None:
        try:
            opened.set_result(open_all())
        except BaseException as error:  # noqa: BLE001  # whoever waits for it raises it
            opened.set_exception(error)

    Thread(target=work, name="lexigraft-open", daemon=True).start()
    return asyncio.wrap_future(opened)


def _has_uvloop() -> bool:
    try:
        import uvloop  # noqa: F401
    except ImportError:  # there is none for some systems
        return False
    return True

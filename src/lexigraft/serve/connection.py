"""A connection that is held in bounded time and space: uvicorn bounds neither for its fastest parser."""

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lexigraft.serve.browser_headers import HEADERS
from lexigraft.serve.limits import (
    LEAST_READ,
    LONGEST_HEAD,
    MOST_CONNECTIONS,
    MOST_PIPELINED,
    SLOWEST_HEAD,
    SLOWEST_READ,
    is_left_to_indexes,
)

TOO_LONG = "the headers are too long"
TOO_MANY = f"more than {MOST_PIPELINED} requests were sent before the first was answered"


class BoundedConnection(HttpToolsProtocol):
    """Closes a connection whose headers or trailers do not end, in length or in time; which sends a body that nobody
    reads, or too many requests at once; and whose client does not read what it is answered."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._in_head, self._head_bytes = True, 0
        self._loose = 0  # bytes after a head that were no body: trailers, and what stands around chunks
        self._fault = ""  # what is wrong with the requests, where it is not their form
        self._answered: Any = None  # the request that is being answered: the parser may be further
        self._timer: asyncio.TimerHandle | None = None
        self._reader: asyncio.TimerHandle | None = None  # looks whether the client reads
        self._unsent = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin_timer()
        if len(self.connections) > MOST_CONNECTIONS or is_left_to_indexes(transport.get_extra_info("socket").fileno()):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_timer()
        self._leave_reader()
        if self._answered is not None:
            self._answered.disconnected = True
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._in_head:
            self._head_bytes += len(data)
            self._begin_timer()
        else:
            self._loose += len(data)
        super().data_received(data)
        length = self._head_bytes if self._in_head else self._loose
        if length > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response(TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # trailers, which come after the head, are dropped
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= MOST_PIPELINED:
            self._fault = TOO_MANY
            raise ValueError(TOO_MANY)  # the parser stops, and the answer is 400
        self._in_head, self._loose = False, 0
        self._end_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._loose = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_head, self._head_bytes = True, 0  # what comes next is another request
        self._end_timer()
        super().on_message_complete()
        if self.cycle.response_complete:  # its body came after its answer, and ended uvicorn's wait for the next one
            self._begin_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self._watch_reader()
        elif not self._in_head and self.cycle.response_complete:  # the rest of its body is read by nobody
            self._begin_timer()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.transport.is_closing():
            self._leave_reader()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._watch_reader()

    def shutdown(self) -> None:
        super().shutdown()
        if self.transport.is_closing():
            self._watch_reader()

    def send_400_response(self, msg: str) -> None:
        """As uvicorn's, in the form that all errors have. What is being answered must not write after it."""
        for cycle in (self._answered, self.cycle):
            if cycle is not None:
                cycle.disconnected = True
                cycle.message_event.set()
        self.pipeline.clear()
        content = json.dumps({"error": self._fault or msg}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
            (b"connection", b"close"),
            (b"cache-control", b"no-store"),
            *HEADERS,
        ]
        lines = [b"HTTP/1.1 400 Bad Request", *(b": ".join(pair) for pair in headers)]
        self.transport.write(b"\r\n".join((*lines, b"", content)))
        self._close()

    def _begin_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(SLOWEST_HEAD, self._close)

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        self.transport.close()
        self._watch_reader()

    def _watch_reader(self) -> None:
        """A transport is closed only when all is sent: so a client that does not read would keep it for ever."""
        if self._reader is None:
            self._unsent = self.transport.get_write_buffer_size()
            self._reader = self.loop.call_later(SLOWEST_READ, self._look_at_reader)

    def _look_at_reader(self) -> None:
        self._reader = None
        if self._unsent - self.transport.get_write_buffer_size() < LEAST_READ:
            self.transport.abort()
        else:
            self._watch_reader()

    def _leave_reader(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

"""A connection whose requests begin in bounded time and space: uvicorn bounds neither for its fastest parser."""

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lexigraft.serve.limits import LONGEST_HEAD, SLOWEST_HEAD

TOO_LONG = "the headers are too long"


class BoundedConnection(HttpToolsProtocol):
    """Closes a connection whose headers do not end, in length or in time."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._in_head, self._head_bytes = True, 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head_bytes += len(data)
            self._begin_timer()
        super().data_received(data)
        if self._in_head and self._head_bytes > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response(TOO_LONG)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._end_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head, self._head_bytes = True, 0  # what comes next is another request
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """As uvicorn's, in the form that all errors have."""
        content = json.dumps({"error": msg}).encode()
        lines = (b"HTTP/1.1 400 Bad Request", b"content-type: application/json", b"connection: close")
        length = b"content-length: " + str(len(content)).encode()
        self.transport.write(b"\r\n".join((*lines, length, b"", content)))
        self.transport.close()

    def _begin_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(SLOWEST_HEAD, self._close)

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

"""Around every request: who may ask, how long an address may be, what browsers are told, and what is counted."""

import asyncio
import logging
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lexigraft.serve.browser_headers import HEADERS
from lexigraft.serve.limits import LONGEST_HEAD, LONGEST_URL
from lexigraft.serve.refused import AGAIN, RefusedError
from lexigraft.serve.replies import refusal, reply
from lexigraft.serve.service import STOPPING, Service

OF_WHOM = b"cross-origin-resource-policy"
OTHER = "other"  # how paths are counted that are no endpoint
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "content-type, authorization, x-api-key",
    "Access-Control-Max-Age": "600",
}

log = logging.getLogger(__name__)


class Guard:
    """The outermost layer. Nothing that is raised within gets past it: a client sees one line, the log the rest."""

    def __init__(self, app: ASGIApp, service: Service, paths: frozenset[str]) -> None:
        self._app, self._service, self._paths = app, service, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        begun, status = perf_counter(), [500]
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        origin = headers.get("origin")

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
                message["headers"] = [*message["headers"], *HEADERS, *self._for_origin(origin)]
            await send(message)

        self._service.metrics.begun()
        try:
            await self._answer(scope, headers, receive, send_guarded)
        finally:
            path = scope["path"] if scope["path"] in self._paths else OTHER
            self._service.metrics.ended(path, status[0], perf_counter() - begun)

    async def _answer(self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send) -> None:
        try:
            self._check(scope, headers)
            if scope["method"] == "OPTIONS" and self._service.access.may_share_with(headers.get("origin")):
                await reply(b"", 204, PREFLIGHT)(scope, receive, send)
                return
            await self._app(scope, receive, send)
        except RefusedError as refused:
            await refusal(refused)(scope, receive, send)
        except asyncio.CancelledError:
            if self._service.status != STOPPING:
                raise
            await refusal(RefusedError(503, STOPPING, AGAIN))(scope, receive, send)
        except Exception:  # which the client was told already
            log.exception("a request to %s failed", scope["path"] if scope["path"] in self._paths else OTHER)

    def _check(self, scope: Scope, headers: dict[str, str]) -> None:
        length = len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"")
        if length > LONGEST_URL:
            raise RefusedError(414, f"the address is longer than {LONGEST_URL:,} bytes; send a POST with a body")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > LONGEST_HEAD:
            raise RefusedError(431, "the headers are too long")
        if sum(name.lower() == b"host" for name, _ in scope["headers"]) > 1:
            raise RefusedError(400, "there is more than one Host header")
        preflight = scope["method"] == "OPTIONS"  # which browsers send without a key
        self._service.access.check("/" if preflight else scope["path"], headers)

    def _for_origin(self, origin: str | None) -> list[tuple[bytes, bytes]]:
        """What lets a page of an allowed origin read the answer, and no other."""
        varies = [(b"vary", b"Origin")] if self._service.access.origins else []
        if origin is None or not self._service.access.may_share_with(origin):
            return [*varies, (OF_WHOM, b"same-origin")]
        return [*varies, (OF_WHOM, b"cross-origin"), (b"access-control-allow-origin", origin.encode("latin-1"))]

"""Requests read and answers written: JSON in, JSON out, in bounded time and space."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from lexigraft.serve.limits import SLOWEST_BODY
from lexigraft.serve.refused import RefusedError
from lexigraft.serve.shapes import Fields, ListOf

JSON = "application/json"
NOT_KEPT = {"Cache-Control": "no-store"}


def as_json(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def reply(content: bytes, status: int = 200, headers: Mapping[str, str] | None = None, kind: str = JSON) -> Response:
    return Response(content, status, dict(headers or {}), media_type=kind)


def refusal(refused: RefusedError) -> Response:
    return reply(as_json({"error": refused.message}), refused.status, {**NOT_KEPT, **refused.headers})


async def read_body(request: Request, fields: Fields, most: int) -> dict[str, Any]:
    """The JSON object that was sent, checked."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise RefusedError(415, f"send the body as {JSON}")
    return fields.read(_parsed(await _received(request, most)))


async def _received(request: Request, most: int) -> bytes:
    """The body, of which no more is kept than may be sent."""
    too_long = RefusedError(413, f"the body is longer than {most:,} bytes", {"Connection": "close"})
    said = request.headers.get("content-length", "0")
    if not said.isdecimal() or len(said) > 18 or int(said) > most:
        raise too_long
    parts, length = [], 0
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            async for part in request.stream():
                parts.append(part)
                length += len(part)
                if length > most:
                    raise too_long
    except TimeoutError:
        raise RefusedError(408, "the body did not arrive in time", {"Connection": "close"}) from None
    except ClientDisconnect:
        raise RefusedError(400, "the body is not whole") from None
    return b"".join(parts)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):  # thousands of brackets, or numbers of thousands of digits
        raise RefusedError(400, "the body is not JSON in UTF-8") from None


def _no_number(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity are not JSON, although Python reads them


def read_parameters(request: Request, fields: Fields) -> dict[str, Any]:
    """The parameters of an address, checked. Only those that are lists may come more than once."""
    found: dict[str, Any] = {}
    for name, text in request.query_params.multi_items():
        shape = fields.of.get(name)
        if shape is None:
            raise RefusedError(
                422, f"the parameter {name[:40]!r} is not known; there is {', '.join(fields.of) or 'none'}"
            )
        if not text and name not in fields.needed:
            continue  # a form leaves empty what was not filled in
        if isinstance(shape, ListOf):
            found.setdefault(name, []).append(shape.of_text(text))
        elif name in found:
            raise RefusedError(422, f"the parameter {name} comes twice")
        else:
            found[name] = shape.of_text(text)
    return fields.read(found, "the address")

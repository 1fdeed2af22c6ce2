"""The application: endpoints by their paths, within the guard."""

from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from lexigraft.serve.endpoints import Endpoints
from lexigraft.serve.guard import Guard
from lexigraft.serve.refused import RefusedError
from lexigraft.serve.replies import refusal
from lexigraft.serve.requests import DOCUMENT, QUERY
from lexigraft.serve.service import Service

SAID = {404: "there is nothing at this address; /openapi.json lists what there is", 405: "this address takes {allowed}"}


def make_app(service: Service) -> ASGIApp:
    """The ASGI application that answers for a service."""
    do = Endpoints(service)
    gets = {
        "/": do.page,
        "/page/{file:path}": do.page,
        "/healthz": do.health,
        "/systems": do.systems,
        "/info": do.info,
        "/vocabulary": do.vocabulary,
        "/vocabulary/term": do.term,
        "/report": do.report,
        "/metrics": do.metrics,
        "/openapi.json": do.openapi,
    }
    posts = {"/explain": do.explain, "/encode": do.encode, "/embed_sparse": do.embed_sparse}
    posts["/judgements/question"] = do.question
    # Clients of text-embeddings-inference cannot all say what a text is: their address of the server may.
    posts |= {f"/{kind}/embed_sparse": partial(_embed_as, do, kind) for kind in (QUERY, DOCUMENT)}
    routes = [
        *(Route(path, handler, methods=["GET"]) for path, handler in gets.items()),
        *(Route(path, handler, methods=["POST"]) for path, handler in posts.items()),
        Route("/search", do.search, methods=["GET", "POST"]),
        Route("/judgements", do.judgements, methods=["GET", "POST"]),
    ]
    handlers = {HTTPException: _http_error, RefusedError: _refused, Exception: _failed}
    inner = Starlette(routes=routes, exception_handlers=handlers)  # type: ignore[arg-type]
    inner.router.redirect_slashes = False
    return Guard(inner, service, frozenset({*gets, *posts, "/search", "/judgements"}))


async def _embed_as(do: Endpoints, kind: str, request: Request) -> Response:
    request.path_params["kind"] = kind
    return await do.embed_sparse(request)


async def _refused(_: Request, refused: RefusedError) -> Response:
    return refusal(refused)


async def _failed(_: Request, __: Exception) -> Response:
    """What the client sees of a fault of the server; the guard writes the log."""
    return refusal(RefusedError(500, "the server failed; its log says why"))


async def _http_error(_: Request, error: HTTPException) -> Response:
    """Of a path or method that there is not."""
    headers = dict(error.headers or {})
    said = SAID.get(error.status_code, "this cannot be answered").format(allowed=headers.get("Allow", ""))
    return refusal(RefusedError(error.status_code, said, headers))

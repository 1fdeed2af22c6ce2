"""The endpoints: each reads a request, has a thread work out the answer, and sends it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lexigraft.core.errors import LexigraftError
from lexigraft.serve import requests as shapes
from lexigraft.serve.asking import Asking, search
from lexigraft.serve.catalogue import Catalogue
from lexigraft.serve.describing import all_reports, describe
from lexigraft.serve.embeddings import embedded, info
from lexigraft.serve.encoding import encode
from lexigraft.serve.explaining import explain_found
from lexigraft.serve.judging import READ_ONLY, judged_answer, judged_question, judged_state
from lexigraft.serve.metrics import KIND as METRICS_KIND
from lexigraft.serve.openapi import document
from lexigraft.serve.page_files import INDEX
from lexigraft.serve.refused import AGAIN, RefusedError, refused_by
from lexigraft.serve.replies import NOT_KEPT, as_json, read_body, read_parameters, refusal, reply
from lexigraft.serve.service import READY, Service
from lexigraft.serve.shapes import Fields
from lexigraft.serve.vocabulary import list_terms, show_term

Handler = Callable[[Request], Awaitable[Response]]


class Endpoints:
    """All of them, over one service. A request takes the catalogue once, and so has one version of everything."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._description: tuple[tuple[str, ...], bytes] | None = None  # of the systems that were there

    async def _worked_out(self, task: Callable[[], Any]) -> Response:
        """The answer, made and written as JSON by a thread."""
        try:
            content = await self._service.work.do(lambda: as_json(task()))
        except LexigraftError as error:
            raise refused_by(error, 503) from error
        return reply(content, headers=NOT_KEPT)

    async def _body(self, request: Request, fields: Fields) -> dict[str, Any]:
        return await read_body(request, fields, self._service.limits.body_bytes)

    async def health(self, request: Request) -> Response:
        read_parameters(request, Fields({}))
        status = self._service.status
        if status != READY:
            return refusal(RefusedError(503, status, AGAIN))
        return reply(as_json({"status": status}), headers=NOT_KEPT)

    async def systems(self, request: Request) -> Response:
        read_parameters(request, Fields({}))
        catalogue, most = self._service.catalogue(), self._service.limits.results
        told = {"most_results": most, "may_judge": self._service.may_judge and len(catalogue.names) > 1}
        return await self._worked_out(lambda: {**describe(catalogue), **told})

    async def search(self, request: Request) -> Response:
        catalogue, limits = self._service.catalogue(), self._service.limits
        if request.method == "POST":
            read = await self._body(request, shapes.search_request(catalogue.names, limits))
        else:
            read = read_parameters(request, shapes.linked_search(catalogue.names, limits))
            read["query"] = read.pop("q")
        asked = Asking.of(read)
        return await self._worked_out(lambda: search(catalogue.system(read.get("system")), asked))

    async def explain(self, request: Request) -> Response:
        catalogue = self._service.catalogue()
        read = await self._body(request, shapes.explain_request(catalogue.names, self._service.limits))
        asked = Asking.of(read)
        return await self._worked_out(lambda: explain_found(catalogue, read.get("system"), asked, read["doc_id"]))

    async def encode(self, request: Request) -> Response:
        catalogue = self._service.catalogue()
        read = await self._body(request, shapes.encode_request(catalogue.names, self._service.limits))
        kind = read.get("as", shapes.QUERY)
        return await self._worked_out(lambda: encode(_of_terms(catalogue, read), read["texts"], kind))

    async def embed_sparse(self, request: Request) -> Response:
        catalogue = self._service.catalogue()
        read = await self._body(request, shapes.embed_request(self._service.limits))
        usual = request.path_params.get("kind", self._service.embed_as)
        return await self._worked_out(lambda: embedded(catalogue, read, usual))

    async def info(self, request: Request) -> Response:
        read_parameters(request, Fields({}))
        catalogue = self._service.catalogue()
        return await self._worked_out(lambda: info(catalogue, self._service.limits))

    async def vocabulary(self, request: Request) -> Response:
        catalogue = self._service.catalogue()
        read = read_parameters(request, shapes.vocabulary_request(catalogue.names))
        return await self._worked_out(lambda: list_terms(_of_terms(catalogue, read), self._service.wackiness, read))

    async def term(self, request: Request) -> Response:
        catalogue = self._service.catalogue()
        read = read_parameters(request, shapes.term_request(catalogue.names))
        return await self._worked_out(
            lambda: show_term(_of_terms(catalogue, read), self._service.wackiness, read["term"])
        )

    async def report(self, request: Request) -> Response:
        read_parameters(request, Fields({}))
        catalogue = self._service.catalogue()
        return await self._worked_out(lambda: all_reports(catalogue))

    async def judgements(self, request: Request) -> Response:
        """What the user's judgements say by now; or one more of them."""
        catalogue, limits = self._judged(), self._service.limits
        if request.method == "GET":
            read = read_parameters(request, shapes.judged_request(catalogue.names))
            return await self._worked_out(lambda: judged_state(catalogue, read))
        read = await self._body(request, shapes.answer_request(catalogue.names, limits))
        return await self._worked_out(lambda: judged_answer(catalogue, read))

    async def question(self, request: Request) -> Response:
        catalogue = self._judged()
        read = await self._body(request, shapes.question_request(catalogue.names, self._service.limits))
        return await self._worked_out(lambda: judged_question(catalogue, read))

    def _judged(self) -> Catalogue:
        """What is served, where judgements of it may be written."""
        if not self._service.may_judge:
            raise RefusedError(403, READ_ONLY)
        return self._service.catalogue()

    async def metrics(self, request: Request) -> Response:
        read_parameters(request, Fields({}))
        service = self._service
        documents = {} if service.shelf is None else _documents(service.shelf.current)
        refreshed = 0 if service.shelf is None else service.shelf.n_refreshed
        # By a thread, but none of those that answer: it is wanted most when those are busy.
        text = await asyncio.to_thread(service.metrics.text, service.work.n_begun, refreshed, documents)
        return reply(text, headers=NOT_KEPT, kind=METRICS_KIND)

    async def openapi(self, request: Request) -> Response:
        read_parameters(request, Fields({}))
        names = tuple(self._service.catalogue().names)
        if self._description is None or self._description[0] != names:
            self._description = names, as_json(document(names, self._service.limits, self._service.may_judge))
        return reply(self._description[1], headers=NOT_KEPT)

    async def page(self, request: Request) -> Response:
        """The page itself, or one of its files."""
        name = request.path_params.get("file", INDEX)
        found = self._service.files.get(name)
        if found is None:
            said = "there is no page in this installation; /openapi.json lists what can be asked"
            raise RefusedError(404, said if name == INDEX else "there is no such file")
        headers = {"ETag": found.tag, "Cache-Control": "no-cache"}
        known = request.headers.get("if-none-match", "").split(",")
        if found.tag in (tag.strip().removeprefix("W/") for tag in known):  # which proxies that compress put before it
            return reply(b"", 304, headers, found.kind)
        return reply(found.content, 200, headers, found.kind)


def _of_terms(catalogue: Catalogue, read: dict[str, Any]) -> Any:
    return catalogue.of_terms(read.get("system"))


def _documents(catalogue: Catalogue) -> dict[str, int]:
    return {name: one.system.n_documents for name, one in catalogue.opened.items()}

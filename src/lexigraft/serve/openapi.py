"""/openapi.json: what can be asked, in which shape, and what is answered, with every status."""

from collections.abc import Mapping, Sequence
from typing import Any

from lexigraft import __version__
from lexigraft.serve import answer_schemas as answers
from lexigraft.serve import requests as shapes
from lexigraft.serve.limits import Limits
from lexigraft.serve.shapes import Fields, ListOf, Schema, Shape

ALWAYS = {
    400: "The request is not HTTP or JSON",
    401: "A key is needed",
    403: "Not for that Host or Origin",
    429: "Too many requests are waiting",
    431: "The headers are too long",
    503: "Opening, stopping, or it took too long",
}
OF_BODIES = {
    404: "No such system or document",
    408: "The body did not arrive in time",
    413: "The body is too long",
    415: "The body is not JSON",
    422: "A value is not allowed",
}
OF_ADDRESSES = {404: "No such system or term", 414: "The address is too long", 422: "A value is not allowed"}


def document(systems: Sequence[str], limits: Limits, may_judge: bool = False) -> dict[str, Any]:
    """The whole description. It names the systems that there are now. `may_judge`: judgements are taken."""
    nothing = Fields({})
    linked, asked = shapes.linked_search(systems, limits), shapes.search_request(systems, limits)
    paths: dict[str, Any] = {
        "/healthz": {"get": _get("Whether it is ready", nothing, answers.HEALTH)},
        "/systems": {"get": _get("What there is to ask", nothing, answers.SYSTEMS)},
        "/search": {
            "get": _get("Search by a link", linked, answers.SEARCH),
            "post": _post("Search", asked, answers.SEARCH),
        },
        "/explain": {"post": _post("Why", shapes.explain_request(systems, limits), answers.EXPLANATION)},
        "/encode": {"post": _post("Texts as terms", shapes.encode_request(systems, limits), answers.ENCODED)},
        "/embed_sparse": {
            "post": _post("As text-embeddings-inference", shapes.embed_request(limits), answers.EMBEDDED)
        },
        **{
            f"/{kind}/embed_sparse": {
                "post": _post("The same of one kind of text", shapes.embed_request(limits), answers.EMBEDDED)
            }
            for kind in (shapes.QUERY, shapes.DOCUMENT)
        },
        "/info": {"get": _get("As text-embeddings-inference", nothing, answers.INFO)},
        "/vocabulary": {"get": _get("Terms", shapes.vocabulary_request(systems), answers.VOCABULARY)},
        "/vocabulary/term": {"get": _get("One term", shapes.term_request(systems), answers.TERM)},
        "/report": {"get": _get("What was measured", nothing, answers.REPORT)},
        "/metrics": {"get": _get("For Prometheus", nothing, {"type": "string"}, "text/plain")},
        "/openapi.json": {"get": _get("This description", nothing, {"type": "object"})},
    }
    if may_judge:
        paths |= {
            "/judgements": {
                "get": _get("What the user's judgements say", shapes.judged_request(systems), answers.JUDGED),
                "post": _post("Judge a document", shapes.answer_request(systems, limits), answers.JUDGED),
            },
            "/judgements/question": {
                "post": _post("Documents to judge", shapes.question_request(systems, limits), answers.QUESTION)
            },
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Lexigraft", "version": __version__},
        "paths": paths,
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
    }


def _get(summary: str, fields: Fields, answer: Schema, kind: str = "application/json") -> dict[str, Any]:
    parameters = [
        {
            "name": name,
            "in": "query",
            "required": name in fields.needed,
            "schema": shape.schema() if name in fields.needed else _or_empty(shape),
            **({"style": "form", "explode": True} if isinstance(shape, ListOf) else {}),
        }
        for name, shape in fields.of.items()
    ]
    return {"summary": summary, "parameters": parameters, "responses": _responses(answer, OF_ADDRESSES, kind)}


def _or_empty(shape: Shape) -> Schema:
    """What a parameter may be that need not be there: an empty one is taken for none."""
    empty: Schema = {"type": "string", "maxLength": 0}
    if isinstance(shape, ListOf):
        return {**shape.schema(), "items": {"anyOf": [shape.of.schema(), empty]}}
    return {"anyOf": [shape.schema(), empty]}


def _post(summary: str, fields: Fields, answer: Schema) -> dict[str, Any]:
    body = {"required": True, "content": answers.content(fields.schema())}
    return {"summary": summary, "requestBody": body, "responses": _responses(answer, {**OF_ADDRESSES, **OF_BODIES})}


def _responses(answer: Schema, others: Mapping[int, str], kind: str = "application/json") -> dict[str, Any]:
    refused = {
        str(status): {"description": said, "content": answers.content(answers.ERROR)}
        for status, said in sorted({**ALWAYS, **others}.items())
    }
    return {"200": {"description": summary_of(answer), "content": answers.content(answer, kind)}, **refused}


def summary_of(answer: Schema) -> str:
    return f"The answer: {answer.get('type', 'a value')}"

"""JSON schemas of what the server answers."""

from typing import Any

from lexigraft.core.origin import KINDS
from lexigraft.serve.shapes import Schema

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
CUT: Schema = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}


def record(**fields: Schema) -> Schema:
    """An object with exactly these fields."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def many(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def maybe(of: Schema) -> Schema:
    return {"anyOf": [of, {"type": "null"}]}


def _exactly(number: int, of: Schema) -> Schema:
    """Not place by place (`prefixItems`): what reads descriptions to test them takes that for a fault."""
    return {"type": "array", "items": of, "minItems": number, "maxItems": number}


VALUE: Schema = {"anyOf": [TEXT, NUMBER, FLAG, many({"anyOf": [TEXT, NUMBER]})]}
SPAN = _exactly(2, COUNT)
WEIGHED_SPAN = _exactly(3, NUMBER)  # from, to, weight
WEIGHED = record(term=TEXT, weight=NUMBER)
SCORED = record(term=TEXT, score=NUMBER)

ERROR = record(error=TEXT)
HEALTH = record(status={"type": "string", "enum": ["ready"]})
# A point has its quality under the name of the measure, which is told at the end of /systems.
POINT: Schema = {
    "type": "object",
    "properties": {"qk": CUT, "dk": CUT, "FLOPS": NUMBER, "ms": NUMBER, "chosen": FLAG},
    "required": ["qk", "dk", "FLOPS", "ms", "chosen"],
    "additionalProperties": NUMBER,
}
FIELD = record(
    name=TEXT,
    kind={"type": "string", "enum": ["number", "text", "yes_or_no", "date", "list"]},
    values=many({"anyOf": [TEXT, NUMBER]}),
)
SYSTEMS = record(
    systems=many(
        record(
            name=TEXT,
            run=TEXT,
            kind={"type": "string", "enum": ["terms", "dense", "hybrid"]},
            n_documents=COUNT,
            has_texts=FLAG,
            qk=CUT,
            dk=CUT,
            recommended=FLAG,
            why=TEXT,
            points=many(POINT),
            fields=many(FIELD),
        )
    ),
    measure=TEXT,
    n_queries=COUNT,
    most_results=COUNT,
    may_judge=FLAG,
)
HIT = record(
    doc_id=TEXT,
    passage=maybe(TEXT),
    title=TEXT,
    score=NUMBER,
    snippet=maybe(record(text=TEXT, marks=many(SPAN))),
    metadata=maybe({"type": "object", "additionalProperties": VALUE}),
    matches=many(record(term=TEXT, score=NUMBER, origin=maybe({"type": "string", "enum": list(KINDS)}))),
)
SEARCH = record(
    system=TEXT,
    query=TEXT,
    qk=CUT,
    dk=CUT,
    terms=many(record(term=TEXT, weight=NUMBER, kept=FLAG, own=FLAG, postings=COUNT)),
    unknown=many(TEXT),
    notices=many(TEXT),
    hits=many(HIT),
    ms=record(encode=NUMBER, search=NUMBER, all=NUMBER),
    postings=COUNT,
    FLOPS=NUMBER,
)
ORIGIN = {
    "own": COUNT, "borrowed": COUNT, "vector": COUNT, "lenders": many(record(doc_id=TEXT, title=TEXT, points=COUNT)),
}  # fmt: skip
ADDED_WORDS = many(record(term=TEXT, weight=NUMBER, **ORIGIN))
EXPLANATION = record(
    system=TEXT,
    doc_id=TEXT,
    title=TEXT,
    score=NUMBER,
    query_text=TEXT,
    text=maybe(TEXT),
    contributions=many(
        record(
            term=TEXT,
            query_weight=NUMBER,
            document_weight=NUMBER,
            score=NUMBER,
            share=NUMBER,
            own_query=FLAG,
            query_words=many(WEIGHED_SPAN),
            document_words=many(WEIGHED_SPAN),
            origin=maybe(record(**ORIGIN)),
        )
    ),
    only_query=many(TEXT),
    only_document=many(TEXT),
    added_words=maybe(record(borrowed=ADDED_WORDS, vector=ADDED_WORDS)),
    whole=maybe(
        record(how=TEXT, said=TEXT, parts=many(record(system=TEXT, rank=COUNT, score=maybe(NUMBER), adds=NUMBER)))
    ),
)
ENCODED = record(system=TEXT, vectors=many(many(WEIGHED)))
EMBEDDED = many(many(record(index=COUNT, value=NUMBER)))
INFO: Schema = {"type": "object", "required": ["model_id", "max_client_batch_size", "version"]}
VOCABULARY = record(
    n_terms=COUNT,
    terms=many(record(term=TEXT, id=COUNT, postings=COUNT, wackiness=maybe(NUMBER))),
    page=COUNT,
    pages=COUNT,
    scored=FLAG,
)
TERM = record(
    term=TEXT,
    postings=COUNT,
    wackiness=maybe(NUMBER),
    neighbours=many(SCORED),
    documents=many(record(doc_id=TEXT, title=TEXT, weight=NUMBER)),
)
REPORT = record(runs=many(record(name=TEXT, measure=TEXT, rows=many({"type": "object"}), recommended=TEXT)))

JUDGED = record(
    systems=many(TEXT),
    decided=maybe(TEXT),
    is_enough=FLAG,
    n_queries=COUNT,
    n_same=COUNT,
    n_first_better=COUNT,
    n_second_better=COUNT,
    difference=NUMBER,
    p=NUMBER,
    said=TEXT,
    begun=many(TEXT),
)
QUESTION = record(
    question=TEXT,
    documents=many(record(doc_id=TEXT, title=TEXT, snippet=TEXT, text=TEXT, relevant=maybe(FLAG))),
    state=JUDGED,
)


def content(schema: Schema, kind: str = "application/json") -> dict[str, Any]:
    return {kind: {"schema": schema}}

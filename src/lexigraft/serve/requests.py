"""The shapes of what clients send."""

from collections.abc import Sequence

from lexigraft.serve.limits import Limits
from lexigraft.serve.shapes import Either, Fields, ListOf, MapOf, Matching, Number, OneOf, Shape, Text, Whole, YesOrNo

LONGEST_TERM = 200  # characters
LONGEST_ID = 1_000
MOST_TERMS = 200  # that are switched off or weighed
MOST_CONDITIONS = 20
LONGEST_CONDITION = 1_000
LARGEST_WEIGHT = 1e4
MOST_KEPT = 1_000_000
PAGE = 50  # terms a page
QUERY, DOCUMENT = "query", "document"
SORTS = ("postings", "term", "wackiness")

MASS = Matching(r"m0?\.[0-9]{1,6}", "m and a share of the mass, such as m0.8")
QK = Either(
    (Whole(0, MOST_KEPT), Number(0, 1, above=True), MASS), "a whole number, a share below 1, or a mass such as m0.8"
)
DK = Either((Whole(0, MOST_KEPT), MASS), "a whole number or a mass such as m0.8")


def search_request(systems: Sequence[str], limits: Limits) -> Fields:
    """Of /search."""
    fields: dict[str, Shape] = {
        "query": Text(limits.query_characters),
        "system": OneOf(systems, unknown=404),
        "k": Whole(1, limits.results),
        "qk": QK,
        "dk": DK,
        "where": ListOf(Text(LONGEST_CONDITION), MOST_CONDITIONS),
        "without": ListOf(Text(LONGEST_TERM, plain=False), MOST_TERMS),
        "weights": MapOf(Number(0, LARGEST_WEIGHT), MOST_TERMS, LONGEST_TERM),
    }
    return Fields(fields, needed=("query",))


def linked_search(systems: Sequence[str], limits: Limits) -> Fields:
    """Of /search by an address, where the query is called q."""
    asked = dict(search_request(systems, limits).of)
    del asked["weights"]
    return Fields({"q": asked.pop("query"), **asked}, needed=("q",))


def explain_request(systems: Sequence[str], limits: Limits) -> Fields:
    asked = search_request(systems, limits).of
    fields: dict[str, Shape] = {"query": asked["query"], "doc_id": Text(LONGEST_ID, plain=False)}
    fields |= {name: asked[name] for name in ("system", "qk", "dk", "without", "weights")}
    return Fields(fields, needed=("query", "doc_id"))


def encode_request(systems: Sequence[str], limits: Limits) -> Fields:
    fields: dict[str, Shape] = {
        "texts": ListOf(Text(limits.text_characters), limits.texts, least=1),
        "system": OneOf(systems, unknown=404),
        "as": OneOf((QUERY, DOCUMENT)),
    }
    return Fields(fields, needed=("texts",))


def embed_request(limits: Limits) -> Fields:
    """Of /embed_sparse, as text-embeddings-inference has it."""
    text = Text(limits.text_characters)
    fields: dict[str, Shape] = {
        "inputs": Either((text, ListOf(text, limits.texts, least=1)), f"a text, or a list of 1 to {limits.texts}"),
        "truncate": YesOrNo(),
        "truncation_direction": OneOf(("Left", "Right", "left", "right")),
        "prompt_name": OneOf((QUERY, DOCUMENT)),
        "normalize": YesOrNo(),
    }
    return Fields(fields, needed=("inputs",))


def judged_request(systems: Sequence[str]) -> Fields:
    """Of /judgements; without names BM25 is judged against the system that is usual."""
    named = OneOf(systems, unknown=404)
    return Fields({"system": named, "baseline": named})


def question_request(systems: Sequence[str], limits: Limits) -> Fields:
    return Fields({"question": Text(limits.query_characters), **judged_request(systems).of}, needed=("question",))


def answer_request(systems: Sequence[str], limits: Limits) -> Fields:
    asked: dict[str, Shape] = {**question_request(systems, limits).of, "doc_id": Text(LONGEST_ID, plain=False)}
    return Fields({**asked, "relevant": YesOrNo(), "skip": YesOrNo()}, needed=("question",))


def vocabulary_request(systems: Sequence[str]) -> Fields:
    fields: dict[str, Shape] = {
        "system": OneOf(systems, unknown=404),
        "starts": Text(LONGEST_TERM),
        "sort": OneOf(SORTS),
        "descending": YesOrNo(),
        "page": Whole(1, 10_000_000),
        "size": Whole(1, 500),
    }
    return Fields(fields)


def term_request(systems: Sequence[str]) -> Fields:
    return Fields({"system": OneOf(systems, unknown=404), "term": Text(LONGEST_TERM, plain=False)}, needed=("term",))

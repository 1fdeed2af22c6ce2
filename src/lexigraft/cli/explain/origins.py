"""What `explain` prints of grafted documents: where their words come from."""

from collections.abc import Sequence
from typing import Any

from lexigraft.cli.console import print_line, print_table
from lexigraft.core.origin import Origin
from lexigraft.explain.documents import AddedWord, ExplainedDocument

LENDERS = 5


def show_document(found: ExplainedDocument, top: int) -> None:
    """The heaviest words that a document's text does not hold."""
    print_line(f"{found.doc_id} '{found.title}': {found.said}")
    show_lenders(found.origin)
    _show_added("Borrowed words that its text does not hold", found.borrowed, top)
    _show_added("Words of its vector that its text does not hold", found.told, top)


def said_of(origin: Origin | None) -> str:
    return "" if origin is None else origin.said


def show_lenders(origin: Origin | None) -> None:
    """Who lent most of a score or a document, by title; nothing where that is not known."""
    if origin is None:
        return
    for lender in origin.lenders[:LENDERS]:
        print_line(f"  {lender.doc_id} lends {lender.points / origin.points:.1%}: {lender.title}")
    if (more := len(origin.lenders) - LENDERS) > 0:
        print_line(f"  and {more} more lend less")


def document_as_dict(found: ExplainedDocument) -> dict[str, Any]:
    return {
        "doc_id": found.doc_id, "title": found.title, "n_terms": found.n_terms, "scale": found.scale,
        "origin": found.origin.as_json(), "borrowed": _as_dicts(found.borrowed), "vector": _as_dicts(found.told),
    }  # fmt: skip


def _as_dicts(words: Sequence[AddedWord]) -> list[dict[str, Any]]:
    return [{"term": word.term, "weight": word.weight, "origin": word.origin.as_json()} for word in words]


def _show_added(name: str, words: Sequence[AddedWord], top: int) -> None:
    if not words:
        print_line(f"{name}: none")
        return
    more = f" ({top} heaviest of {len(words)})" if len(words) > top else ""
    print_line(f"{name}{more}")
    rows = [(word.term, f"{word.weight:.3f}", word.origin.said) for word in words[:top]]
    print_table("", ("term", "weight", "made of"), rows, left=("term", "made of"))

"""What `explain` prints: tables for people, and the same as JSON."""

from collections.abc import Sequence
from typing import Any

from lexigraft.cli.console import print_line, print_table
from lexigraft.core.types import TermSource
from lexigraft.explain.pairs import BOTH, FIRST, SECOND, Explained, agreement, common_share, counts, pair
from lexigraft.explain.results import ExplainedResult, query_source
from lexigraft.explain.texts import ExplainedText, shown_source

ONLY = {BOTH: "", FIRST: "first only", SECOND: "second only"}
LEFT = ("term", "", "from", "it is", "from there")


def show_text(found: ExplainedText, top: int) -> None:
    """The heaviest terms of a text."""
    _say_unknown(found)
    if not found.terms:
        print_line(f"{found.text!r} becomes nothing: it has no word that documents are indexed by")
        return
    more = f" ({top} heaviest of {len(found.terms)})" if len(found.terms) > top else ""
    print_line(f"{found.text!r} becomes{more}")
    scored = found.scored
    rows = [
        (
            item.term, _number(item.weight), _own(item.own), shown_source(item.source),
            *_if(scored, _number(item.wackiness)),
        )
        for item in found.terms[:top]
    ]  # fmt: skip
    print_table("", ("term", "weight", "", "from", *_if(scored, "wackiness")), rows, left=LEFT)
    _say_wackiness(found)


def show_result(found: ExplainedResult, top: int) -> None:
    """The terms that add most to a score, and their sum."""
    _say_unknown(found.query)
    said = f"{found.doc_id} scores {found.score:.3f} for {found.query.text!r}"
    if not found.shared:
        print_line(f"{said}: they share no term")
        return
    print_line(f"{said}, {found.points:,} points of {found.scale:.3g}")
    both, scored = found.document is not None, found.query.scored
    rows = [
        (
            item.term,
            _number(item.query_weight), _own(item.query_own), shown_source(item.query_source),
            _number(item.document_weight), *_if(both, _own(item.document_own), shown_source(item.document_source)),
            _number(item.contribution), f"{item.share:.1%}", *_if(scored, _number(item.wackiness)),
        )
        for item in found.shared[:top]
    ]  # fmt: skip
    between = ("",) * (6 if both else 4)
    if rest := found.shared[top:]:
        total = sum(item.points for item in rest)
        amounts = (_number(total * found.scale), f"{total / found.points:.1%}")
        rows.append((f"{len(rest)} more", *between, *amounts, *_if(scored, "")))
    rows.append(("sum", *between, _number(found.score), "100.0%", *_if(scored, "")))
    documents = ("in the document", *_if(both, "it is", "from there"))
    columns = ("term", "in the query", "", "from", *documents, "adds", "share", *_if(scored, "wackiness"))
    print_table("", columns, rows, left=LEFT)
    _say_wackiness(found.query)


def show_pair(first: Explained, second: Explained, top: int) -> None:
    """Two models side by side, by their terms' shares."""
    pairs = pair(first, second)
    print_line(agreement(pairs))
    rows = [
        (item.term, *_side(item.first, item.first_share), *_side(item.second, item.second_share), ONLY[item.where])
        for item in pairs[:top]
    ]
    if len(pairs) > top:
        rows.append((f"{len(pairs) - top} more", "", "", "", "", ""))
    print_table("", ("term", "first", "from", "second", "from there", ""), rows, left=LEFT)


def text_as_dict(found: ExplainedText) -> dict[str, Any]:
    terms = [
        {
            "term": item.term,
            "weight": item.weight,
            "own": item.own,
            "from": _source_as_dict(item.source),
            **({"wackiness": item.wackiness} if found.scored else {}),
        }
        for item in found.terms
    ]
    return {"text": found.text, "terms": terms, "unknown": list(found.unknown), "wackiness": found.wackiness}


def result_as_dict(found: ExplainedResult) -> dict[str, Any]:
    contributions = []
    for item in found.shared:
        facts = item._asdict()
        for side in ("query", "document"):
            facts[f"{side}_from"] = _source_as_dict(facts.pop(f"{side}_source"))
        contributions.append(facts)
    return {
        "query": found.query.text,
        "doc_id": found.doc_id,
        "title": found.title,
        "score": found.score,
        "points": found.points,
        "scale": found.scale,
        "contributions": contributions,
        "wackiness": found.query.wackiness,
    }


def pair_as_dict(first: Explained, second: Explained, names: Sequence[str]) -> dict[str, Any]:
    pairs = pair(first, second)
    return {
        "first": {"name": names[0], **as_dict(first)},
        "second": {"name": names[1], **as_dict(second)},
        "terms": [
            {"term": item.term, "in": item.where, "first_share": item.first_share, "second_share": item.second_share}
            for item in pairs
        ],
        "counts": counts(pairs),
        "common_share": common_share(pairs),
    }


def as_dict(found: Explained) -> dict[str, Any]:
    """Either kind of explanation as JSON holds it."""
    return result_as_dict(found) if isinstance(found, ExplainedResult) else text_as_dict(found)


def _side(item: Any, share: float) -> tuple[str, str]:
    return ("–", "") if item is None else (f"{share:.1%}", shown_source(query_source(item)))


def _source_as_dict(source: TermSource | None) -> dict[str, Any] | None:
    return None if source is None else source._asdict()


def _say_unknown(query: ExplainedText) -> None:
    if query.said_of_unknown:
        print_line(query.said_of_unknown)


def _say_wackiness(query: ExplainedText) -> None:
    if query.scored:
        print_line(query.said_of_wackiness)


def _own(own: bool | None) -> str:
    return "its own" if own else "added"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _if(condition: bool, *cells: str) -> tuple[str, ...]:
    return cells if condition else ()

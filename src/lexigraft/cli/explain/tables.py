"""What `explain` prints: tables for people, and the same as JSON."""

from collections.abc import Sequence
from typing import Any

from lexigraft.cli.console import print_line, print_table
from lexigraft.cli.explain.origins import said_of, show_lenders
from lexigraft.core.types import TermSource, WholeScore
from lexigraft.explain.pairs import BOTH, FIRST, SECOND, Explained, agreement, common_share, counts, pair
from lexigraft.explain.results import ExplainedResult, query_source
from lexigraft.explain.texts import WITHOUT_TERMS, ExplainedText, shown_source

ONLY = {BOTH: "", FIRST: "first only", SECOND: "second only"}
LEFT = ("term", "", "from", "it is", "from there", "made of")


def show_text(found: ExplainedText, top: int) -> None:
    """The heaviest terms of a text."""
    _say_notices(found)
    if not found.has_terms:
        print_line(WITHOUT_TERMS)
        return
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
    _say_notices(found.query)
    said = f"{found.doc_id} scores {found.score:.3f} for {found.query.text!r}"
    if found.whole is not None:
        print_line(f"{said} by {found.whole.system}")
        said = f"its terms score {found.score_of_terms:.3f}"
    if found.shared:
        _show_shared(found, said, top)
    elif found.query.has_terms:
        print_line(f"{said}: they share no term")
    if found.whole is not None:
        print_line(found.whole.said)


def _show_shared(found: ExplainedResult, said: str, top: int) -> None:
    print_line(f"{said}, {found.points:,} points of {found.scale:.3g}")
    scored, origin = found.query.scored, found.origin
    both = found.document is not None and origin is None  # what a grafted document's words are made of says more
    rows = [
        (
            item.term,
            _number(item.query_weight), _own(item.query_own), shown_source(item.query_source),
            _number(item.document_weight), *_if(both, _own(item.document_own), shown_source(item.document_source)),
            _number(item.contribution), f"{item.share:.1%}", *_if(scored, _number(item.wackiness)),
            *_if(item.origin is not None, said_of(item.origin)),
        )
        for item in found.shared[:top]
    ]  # fmt: skip
    between = ("",) * (6 if both else 4)
    if rest := found.shared[top:]:
        total = sum(item.points for item in rest)
        amounts = (_number(total * found.scale), f"{total / found.points:.1%}")
        rows.append((f"{len(rest)} more", *between, *amounts, *_if(scored, ""), *_if(origin is not None, "")))
    made_of = (*_if(scored, ""), *_if(origin is not None, said_of(origin)))
    rows.append(("sum", *between, _number(found.score_of_terms), "100.0%", *made_of))
    documents = ("in the document", *_if(both, "it is", "from there"))
    columns = ("term", "in the query", "", "from", *documents, "adds", "share", *_if(scored, "wackiness"))
    print_table("", (*columns, *_if(origin is not None, "made of")), rows, left=LEFT)
    show_lenders(origin)
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
    return {
        "text": found.text, "terms": terms, "unknown": list(found.unknown),
        "notices": list(found.notices), "wackiness": found.wackiness,
    }  # fmt: skip


def result_as_dict(found: ExplainedResult) -> dict[str, Any]:
    contributions = []
    for item in found.shared:
        facts = item._asdict()
        for side in ("query", "document"):
            facts[f"{side}_from"] = _source_as_dict(facts.pop(f"{side}_source"))
        facts["origin"] = None if item.origin is None else item.origin.as_json()
        contributions.append(facts)
    return {
        "query": found.query.text,
        "doc_id": found.doc_id,
        "title": found.title,
        "score": found.score,
        "points": found.points,
        "scale": found.scale,
        "contributions": contributions,
        "notices": list(found.query.notices),
        "whole": None if found.whole is None else whole_as_dict(found.whole),
        "wackiness": found.query.wackiness,
        "origin": None if found.origin is None else found.origin.as_json(),
    }


def whole_as_dict(whole: WholeScore) -> dict[str, Any]:
    return {
        "system": whole.system, "how": whole.how, "said": whole.said, "parts": [part._asdict() for part in whole.parts]
    }  # fmt: skip


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


def _say_notices(query: ExplainedText) -> None:
    for line in query.notices:
        print_line(line)


def _say_wackiness(query: ExplainedText) -> None:
    if query.scored:
        print_line(query.said_of_wackiness)


def _own(own: bool | None) -> str:
    return "its own" if own else "added"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _if(condition: bool, *cells: str) -> tuple[str, ...]:
    return cells if condition else ()

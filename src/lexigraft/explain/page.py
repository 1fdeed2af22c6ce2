"""Explanations as one HTML file that needs nothing else: no script, no font, no picture from elsewhere.

The words of a text are marked by how much they produced; terms are bars, in one colour where the text holds them and in
another where the model added them.
"""

from collections.abc import Sequence
from pathlib import Path

from lexigraft.core.os_errors import naming
from lexigraft.explain.page_parts import bar, marked, note, number, table, text, words
from lexigraft.explain.page_style import STYLE
from lexigraft.explain.pairs import Explained, agreement, pair
from lexigraft.explain.results import ExplainedResult
from lexigraft.explain.texts import ExplainedText, shown_source

MOST_TERMS = 200  # of a text; those after them weigh next to nothing
LEGEND = '<p class="legend"><span class="own"></span> in the text itself &nbsp; <span></span> added by the model</p>'


def write_page(file: Path, found: Sequence[Explained], names: Sequence[str]) -> None:
    """Write the page of one explanation, or of two models' of the same thing; `names` are the models'."""
    with naming(file):
        file.write_bytes(page(found, names).encode("utf-8", "replace"))


def page(found: Sequence[Explained], names: Sequence[str]) -> str:
    """The page as a string of HTML."""
    title = text(_title(found[0]))
    sections = "\n".join(
        f"<section>\n<h2>{text(name)}</h2>\n{_result(item) if isinstance(item, ExplainedResult) else _text(item)}"
        "</section>"
        for item, name in zip(found, names, strict=True)
    )
    compared = _compared(found[0], found[1]) if len(found) > 1 else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f'{LEGEND}\n<div class="sides">\n{sections}\n</div>\n{compared}</body>\n</html>\n'
    )


def _title(found: Explained) -> str:
    if isinstance(found, ExplainedResult):
        return f"Why “{found.query.text}” finds {found.doc_id}"
    return f"What “{found.text}” becomes"


def _text(found: ExplainedText) -> str:
    if not found.terms:
        return note("Nothing: it has no word that documents are indexed by.")
    heaviest, scored = found.terms[0].weight, found.scored
    rows = [
        words(item.term)
        + bar(item.weight / heaviest, item.own)
        + number(item.weight)
        + words(shown_source(item.source))
        + (number(item.wackiness) if scored else "")
        for item in found.terms[:MOST_TERMS]
    ]
    columns = ["term", "", "#weight", "from", *(["#wackiness"] if scored else [])]
    more = len(found.terms) - MOST_TERMS
    return (
        marked(found.traced, found.word_weights, "the text, marked by the weight that each word produced")
        + table(columns, rows)
        + (note(f"{more} lighter terms are not shown.") if more > 0 else "")
        + _wackiness(found)
    )


def _result(found: ExplainedResult) -> str:
    facts = note(f"Score {found.score:.3f}, {found.points:,} points of {found.scale:.3g}. {found.title}")
    if not found.shared:
        return facts + note("They share no term.")
    largest = found.shared[0].contribution
    both, scored = found.document is not None, found.query.scored
    rows = [
        words(item.term)
        + bar(item.contribution / largest, item.query_own)
        + number(item.contribution)
        + number(item.share, ".1%")
        + number(item.query_weight)
        + words(shown_source(item.query_source))
        + number(item.document_weight)
        + (words(shown_source(item.document_source)) + words(_own(item.document_own)) if both else "")
        + (number(item.wackiness) if scored else "")
        for item in found.shared
    ]
    columns = ["term", "", "#adds", "#share", "#in the query", "from", "#in the document"]
    columns += ["from", "there it is"] if both else []
    columns += ["#wackiness"] if scored else []
    total = words("sum") + words("") + number(found.score) + number(1.0, ".1%") + words("") * (len(columns) - 4)
    caption = "marked by how much of the score each word produced"
    return (
        facts
        + marked(found.query.traced, found.query_word_amounts, f"the query, {caption}")
        + marked(found.document, found.document_word_amounts, f"the document, {caption}")
        + table(columns, [*rows, f'<tr class="sum">{total}</tr>'])
        + _wackiness(found.query)
    )


def _compared(first: Explained, second: Explained) -> str:
    pairs = pair(first, second)
    largest = max((max(item.first_share, item.second_share) for item in pairs), default=1.0)
    rows = [
        words(item.term)
        + number(None if item.first is None else item.first_share, ".1%")
        + bar(item.first_share / largest, True)
        + number(None if item.second is None else item.second_share, ".1%")
        + bar(item.second_share / largest, True)
        for item in pairs[:MOST_TERMS]
    ]
    columns = ["term", "#first", "", "#second", ""]
    return f"<section>\n<h2>Side by side</h2>\n{note(agreement(pairs))}{table(columns, rows)}</section>\n"


def _own(own: bool | None) -> str:
    return "its own" if own else "added"


def _wackiness(query: ExplainedText) -> str:
    return note(query.said_of_wackiness) if query.scored else ""

"""Explanations as one HTML file that needs nothing else: no script, no font, no picture from elsewhere.

The words of a text are marked by how much they produced; terms are bars, in one colour where the text holds them and in
another where the model added them.
"""

from collections.abc import Sequence
from pathlib import Path

from lexigraft.core.os_errors import naming
from lexigraft.explain import page_origins
from lexigraft.explain.documents import ExplainedDocument
from lexigraft.explain.page_parts import bar, marked, note, number, table, text, words
from lexigraft.explain.page_style import STYLE
from lexigraft.explain.pairs import Explained, agreement, pair
from lexigraft.explain.results import ExplainedResult, SharedTerm
from lexigraft.explain.texts import WITHOUT_TERMS, ExplainedText, shown_source

MOST_TERMS = 200  # of a text; those after them weigh next to nothing
LEGEND = '<p class="legend"><span class="own"></span> in the text itself &nbsp; <span></span> added by the model</p>'


def write_page(file: Path, found: Sequence[Explained], names: Sequence[str]) -> None:
    """Write the page of one explanation, or of two models' of the same thing; `names` are the models'."""
    _write(file, page(found, names))


def write_document_page(file: Path, found: ExplainedDocument, name: str) -> None:
    """Write the page of a document as a whole."""
    section = f"<section>\n<h2>{text(name)}</h2>\n{page_origins.document(found)}</section>\n"
    _write(file, _framed(f"Where the words of {found.doc_id} come from", section))


def _write(file: Path, content: str) -> None:
    with naming(file):
        file.write_bytes(content.encode("utf-8", "replace"))


def page(found: Sequence[Explained], names: Sequence[str]) -> str:
    """The page as a string of HTML."""
    sections = "\n".join(
        f"<section>\n<h2>{text(name)}</h2>\n{_result(item) if isinstance(item, ExplainedResult) else _text(item)}"
        "</section>"
        for item, name in zip(found, names, strict=True)
    )
    compared = _compared(found[0], found[1]) if len(found) > 1 else ""
    return _framed(_title(found[0]), f'{_legend(found)}\n<div class="sides">\n{sections}\n</div>\n{compared}')


def _legend(found: Sequence[Explained]) -> str:
    """Grafted results have a legend of their own."""
    return LEGEND if any(not isinstance(item, ExplainedResult) or item.origin is None for item in found) else ""


def _framed(title: str, body: str) -> str:
    title = text(title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f"{body}</body>\n</html>\n"
    )


def _title(found: Explained) -> str:
    if isinstance(found, ExplainedResult):
        return f"Why “{found.query.text}” finds {found.doc_id}"
    return f"What “{found.text}” becomes"


def _text(found: ExplainedText) -> str:
    if not found.has_terms:
        return note(WITHOUT_TERMS)
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
    points = f", {found.points:,} points of {found.scale:.3g}" if found.whole is None else ""
    facts = note(f"Score {found.score:.3f}{points}. {found.title}")
    facts += "" if found.whole is None else note(f"{found.whole.said}.")
    if not found.shared:
        return facts + (note("They share no term.") if found.query.has_terms else "")
    largest = found.shared[0].contribution
    scored, grafted = found.query.scored, found.origin is not None
    both = found.document is not None and not grafted  # what a grafted document's words are made of says more
    rows = [
        words(item.term)
        + _bar(item, item.contribution / largest)
        + number(item.contribution)
        + number(item.share, ".1%")
        + number(item.query_weight)
        + words(shown_source(item.query_source))
        + number(item.document_weight)
        + (words(shown_source(item.document_source)) + words(_own(item.document_own)) if both else "")
        + (number(item.wackiness) if scored else "")
        + ("" if item.origin is None else page_origins.made_of(item.origin))
        for item in found.shared
    ]
    columns = ["term", "", "#adds", "#share", "#in the query", "from", "#in the document"]
    columns += ["from", "there it is"] if both else []
    columns += ["#wackiness"] if scored else []
    columns += ["made of"] if grafted else []
    total = (
        words("sum") + words("") + number(found.score_of_terms) + number(1.0, ".1%") + words("") * (len(columns) - 4)
    )
    caption = "marked by how much of the score each word produced"
    return (
        facts
        + _origin(found)
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


def _bar(item: SharedTerm, share: float) -> str:
    return bar(share, item.query_own) if item.origin is None else page_origins.parts_bar(share, item.origin)


def _origin(found: ExplainedResult) -> str:
    """Of a grafted document, where its score comes from."""
    origin = found.origin
    if origin is None:
        return ""
    return page_origins.LEGEND + note(f"Of the score: {origin.said}.") + page_origins.lenders_note(origin)


def _own(own: bool | None) -> str:
    return "its own" if own else "added"


def _wackiness(query: ExplainedText) -> str:
    return note(query.said_of_wackiness) if query.scored else ""

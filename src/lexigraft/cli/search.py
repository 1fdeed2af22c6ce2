"""`search` and `explain`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexigraft.cli.console import err, out, print_json, print_table, show_messages
from lexigraft.cli.options import (
    QUICKSTART,
    DkOption,
    IndexOption,
    JsonOption,
    OverlapOption,
    QkOption,
    SystemOption,
    TwoStepOption,
    VectorsOption,
    WhereOption,
)
from lexigraft.core.errors import SettingError

if TYPE_CHECKING:
    from lexigraft.pipeline.text_search import TextSearch

SHOWN_TERMS = 8  # of those that matched, the ones that add most

RunOption = Annotated[
    Path | None,
    typer.Option("--run", help="The folder of a run; the quickstart's where neither it nor --index is given."),
]


def search(
    query: Annotated[str | None, typer.Argument(help="What to look for; without it a prompt opens.")] = None,
    run: RunOption = None,
    index: IndexOption = None,
    system: SystemOption = None,
    k: Annotated[int, typer.Option("--k", min=1, help="How many results.")] = 10,
    where: WhereOption = None,
    overlap: OverlapOption = 0.0,
    two_step: TwoStepOption = 0,
    qk: QkOption = 0,
    dk: DkOption = 0,
    vectors: VectorsOption = None,
    json: JsonOption = False,
) -> None:
    """Search a run's documents: rank, score, title and the terms that matched."""
    from lexigraft.pipeline.refined_search import Refinement, open_refined

    refinement = Refinement(overlap, two_step, qk, dk, tuple(where or ()))
    if refinement:
        show_messages()
        _require_one(run, index, system)
        session: TextSearch = open_refined(run or QUICKSTART, index, system, vectors, refinement)
    else:
        session = _open(run, index, system)
    if query is not None:
        _answer(session, query, k, json)
        return
    err.print(f"{session.index.n_documents:,} documents. Type a query; an empty line or Ctrl-D ends.")
    while text := _ask():
        _answer(session, text, k, json)


def explain(
    query: Annotated[str | None, typer.Argument(help="The query.")] = None,
    document: Annotated[
        str | None, typer.Argument(help="A document's id; without it, the query's own terms are shown.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="Any text: the terms it becomes as a query.")] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many terms of a text to show.")] = 20,
    run: RunOption = None,
    index: IndexOption = None,
    system: SystemOption = None,
    json: JsonOption = False,
) -> None:
    """Say why a document got its score: what each shared term adds, or which terms a text becomes."""
    if (query is None) == (text is None):
        raise SettingError("give either a query, with the id of a document or without, or --text TEXT")
    session = _open(run, index, system)
    if document is None or query is None:
        _explain_text(session, query or text or "", top, json)
        return
    found = session.explain(query, document)
    if json:
        print_json(
            {
                "query": query,
                "doc_id": found.doc_id,
                "score": found.score,
                "contributions": [item._asdict() for item in found.contributions],
            }
        )
        return
    rows = [
        (item.term, f"{item.query_weight:.3f}", f"{item.document_weight:.3f}", f"{item.contribution:.3f}")
        for item in found.contributions
    ]
    columns = ("term", "in the query", "in the document", "adds")
    print_table(
        f"{document} scores {found.score:.3f} for {query!r}",
        columns,
        [*rows, ("sum", "", "", f"{found.score:.3f}")],
        left=("term",),
    )


def _open(run: Path | None, index: Path | None, system: str | None) -> "TextSearch":
    from lexigraft.pipeline.layout import RunFolder
    from lexigraft.pipeline.text_search import TextSearch

    show_messages()
    _require_one(run, index, system)
    return TextSearch(index if index is not None else RunFolder(run or QUICKSTART).searchable_index(system))


def _require_one(run: Path | None, index: Path | None, system: str | None) -> None:
    if run is not None and index is not None:
        raise SettingError("give either --run RUN or --index INDEX, not both")
    if index is not None and system is not None:
        raise SettingError("--system chooses among the systems of a --run; an --index has only one")


def _explain_text(session: "TextSearch", text: str, top: int, as_json: bool) -> None:
    terms = session.terms(text)
    if as_json:
        print_json([item._asdict() for item in terms])
        return
    shown = [(item.term, f"{item.weight:.3f}", "its own" if item.own else "added") for item in terms[:top]]
    more = f" ({top} heaviest of {len(terms)})" if len(terms) > top else ""
    print_table(f"{text!r} becomes{more}", ("term", "weight", ""), shown, left=("term", ""))


def _ask() -> str:
    try:
        return err.input("search> ").strip()
    except EOFError:
        return ""


def _answer(session: "TextSearch", query: str, k: int, as_json: bool) -> None:
    hits = session.search(query, k)
    if as_json:
        print_json([{"rank": hit.rank, "doc_id": hit.doc_id, "score": hit.score, "title": hit.title} for hit in hits])
        return
    if not hits:
        err.print(f"nothing found: {session.why_nothing}", soft_wrap=True)
        return
    for hit in hits:
        matched = [item.term for item in session.explain(query, hit.doc_id).contributions]
        more = f" … and {len(matched) - SHOWN_TERMS} more" if len(matched) > SHOWN_TERMS else ""
        terms = " ".join(matched[:SHOWN_TERMS]) + more
        out.print(f"{hit.rank:>3}  {hit.score:8.3f}  ", end="")
        out.print(hit.doc_id, style="bold cyan", soft_wrap=True)
        if hit.title:
            out.print(f"               {hit.title}", soft_wrap=True)
        out.print(f"               matched: {terms}", style="dim", soft_wrap=True)

"""`search`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexigraft.cli.console import err, out, print_json, show_messages
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
    from lexigraft.retrieve.text_search import TextSearch

SHOWN_TERMS = 8  # of those that matched, the ones that add most

OptionalRunOption = Annotated[
    Path | None,
    typer.Option("--run", help="The folder of a run; the quickstart's where neither it nor --index is given."),
]


def search(
    query: Annotated[str | None, typer.Argument(help="What to look for; without it a prompt opens.")] = None,
    run: OptionalRunOption = None,
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
    from lexigraft.retrieve.refined_search import Refinement, open_refined

    refinement = Refinement(overlap, two_step, qk, dk, tuple(where or ()))
    if refinement:
        show_messages()
        require_one(run, index, system)
        session: TextSearch = open_refined(run or QUICKSTART, index, system, vectors, refinement)
    else:
        session = _open(run, index, system)
    if query is not None:
        _answer(session, query, k, json)
        return
    err.print(f"{session.index.n_documents:,} documents. Type a query; an empty line or Ctrl-D ends.")
    while text := _ask():
        _answer(session, text, k, json)


def _open(run: Path | None, index: Path | None, system: str | None) -> "TextSearch":
    from lexigraft.retrieve.text_search import TextSearch
    from lexigraft.stages.layout import RunFolder

    show_messages()
    require_one(run, index, system)
    return TextSearch(index if index is not None else RunFolder(run or QUICKSTART).searchable_index(system))


def require_one(run: Path | None, index: Path | None, system: str | None) -> None:
    """Raise where a run and an index are both named, or a system without a run."""
    if run is not None and index is not None:
        raise SettingError("give either --run RUN or --index INDEX, not both")
    if index is not None and system is not None:
        raise SettingError("--system chooses among the systems of a --run; an --index has only one")


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

"""`search`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from lexigraft.cli.console import err, out, print_json, show_messages
from lexigraft.cli.options import (
    QUICKSTART,
    DkOption,
    IndexOption,
    JsonOption,
    OverlapOfOption,
    OverlapOption,
    QkOption,
    SystemOption,
    TwoStepOption,
    VectorsOption,
    WhereOption,
)
from lexigraft.core.errors import SettingError

if TYPE_CHECKING:
    from lexigraft.retrieve.retriever import Retriever

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
    overlap_of: OverlapOfOption = "terms",
    two_step: TwoStepOption = 0,
    qk: QkOption = None,
    dk: DkOption = None,
    vectors: VectorsOption = None,
    json: JsonOption = False,
) -> None:
    """Search a run's documents: rank, score, title and the terms that matched.

    A run is searched at its operating point: the terms kept of queries and documents that validation queries chose for
    its cost budget. `--qk` and `--dk` choose another.
    """
    asked = _Asked(k, tuple(where or ()), overlap, two_step, overlap_of)
    retriever = open_retriever(run, index, system, qk, dk, vectors)
    if query is not None:
        _answer(retriever, query, asked, json)
        return
    err.print(f"{retriever.n_documents:,} documents. Type a query; an empty line or Ctrl-D ends.")
    while text := _ask():
        _answer(retriever, text, asked, json)


class _Asked(NamedTuple):
    """What every query of a session is asked with."""

    k: int
    where: tuple[str, ...]
    overlap: float
    two_step: int
    overlap_of: str

    @property
    def why_nothing(self) -> str:
        if self.where or self.overlap or self.two_step:
            return "no document that shares a word with the query fulfils what else was asked"
        return "the query has no word that documents are indexed by"


def open_retriever(
    run: Path | None,
    index: Path | None,
    system: str | None,
    qk: float | None = None,
    dk: int | None = None,
    vectors: Path | None = None,
) -> "Retriever":
    """The run or index that the options name; the quickstart's run where they name neither."""
    from lexigraft.retrieve.retriever import Retriever

    show_messages()
    if run is not None and index is not None:
        raise SettingError("give either --run RUN or --index INDEX, not both")
    if index is not None and system is not None:
        raise SettingError("--system chooses among the systems of a --run; an --index has only one")
    if index is not None and dk:
        raise SettingError("--dk chooses among the indexes of a --run; an --index has only one")
    return Retriever.open(index or run or QUICKSTART, system, qk=qk, dk=dk, vectors=vectors)


def _ask() -> str:
    try:
        return err.input("search> ").strip()
    except EOFError:
        return ""


def _answer(retriever: "Retriever", query: str, asked: _Asked, as_json: bool) -> None:
    if as_json:
        print_json([hit._asdict() for hit in retriever.search(query, *asked)])
        return
    found = retriever.search_explained(query, *asked)
    if not found:
        err.print(f"nothing found: {asked.why_nothing}", soft_wrap=True)
        return
    for hit, why in found:
        matched = [item.term for item in why.contributions]
        more = f" … and {len(matched) - SHOWN_TERMS} more" if len(matched) > SHOWN_TERMS else ""
        terms = " ".join(matched[:SHOWN_TERMS]) + more
        out.print(f"{hit.rank:>3}  {hit.score:8.3f}  ", end="")
        out.print(hit.doc_id, style="bold cyan", soft_wrap=True)
        if hit.title:
            out.print(f"               {hit.title}", soft_wrap=True)
        out.print(f"               matched: {terms}", style="dim", soft_wrap=True)

"""`search`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from lexigraft.cli.answers import print_documents
from lexigraft.cli.console import BarProgress, err, print_json, show, show_messages
from lexigraft.cli.options import (
    QUICKSTART,
    DkOption,
    EngineOption,
    IndexOption,
    JsonOption,
    OverlapOfOption,
    OverlapOption,
    QkOption,
    SearchBudgetOption,
    SearchCostOption,
    SystemOption,
    TwoStepOption,
    VectorsOption,
    WhereOption,
)
from lexigraft.core.cut import DocumentCut, Keep, QueryCut
from lexigraft.core.errors import SettingError
from lexigraft.core.known_checksums import read_every_byte
from lexigraft.core.types import counted_rows

if TYPE_CHECKING:
    from lexigraft.retrieve.retriever import Retriever

USUAL_RESULTS = 10  # of a query that a person asks

OptionalRunOption = Annotated[
    Path | None,
    typer.Option("--run", help="The folder of a run; the quickstart's where neither it nor --index is given."),
]

QueriesOption = Annotated[
    Path | None,
    typer.Option(
        "--queries",
        help="A file of queries (JSON lines, tab-separated, TREC topics) instead of one; --k is then 1000 where not "
        "given.",
    ),
]
ThreadsOption = Annotated[
    int, typer.Option("--threads", min=0, help="With --queries: searches at a time; 0: one for each core.")
]
WholeTextOption = Annotated[
    bool | None,
    typer.Option(
        "--text/--no-text",
        help="Whole texts, or only the part with the words that matched; with --json texts are whole where neither is "
        "given.",
        show_default=False,
    ),
]
VerifyOption = Annotated[
    bool,
    typer.Option(
        "--verify",
        help="Compare every byte that is opened with its checksum, also of large files that were compared before and "
        "are unchanged, as far as the file system knows; and look through contents, whoever made them.",
    ),
]


def search(
    query: Annotated[str | None, typer.Argument(help="What to look for; without it a prompt opens.")] = None,
    run: OptionalRunOption = None,
    index: IndexOption = None,
    engine: EngineOption = None,
    system: SystemOption = None,
    k: Annotated[int | None, typer.Option("--k", min=1, help="How many results; 10 where not given.")] = None,
    queries: QueriesOption = None,
    out: Annotated[Path | None, typer.Option("--out", help="With --queries: the TREC run to write.")] = None,
    threads: ThreadsOption = 0,
    where: WhereOption = None,
    overlap: OverlapOption = 0.0,
    overlap_of: OverlapOfOption = "terms",
    two_step: TwoStepOption = 0,
    qk: QkOption = None,
    dk: DkOption = None,
    cost: SearchCostOption = None,
    budget: SearchBudgetOption = None,
    vectors: VectorsOption = None,
    text: WholeTextOption = None,
    json: JsonOption = False,
    verify: VerifyOption = False,
) -> None:
    """Search a run's documents: rank, score, title, the part of the text that matched best, and the terms that matched.

    A run is searched at its operating point: the terms kept of queries and documents that validation queries chose for
    its cost budget. `--qk` and `--dk` choose another, `--cost` and `--budget` the best for another cost, and `--system
    "esplade (10,40)"` the one that a table calls so.
    """
    if (queries is None) != (out is None) or (queries is not None and query is not None):
        raise SettingError("--queries FILE and --out RUN.trec go together, and without a query")
    from lexigraft.retrieve.place import how_to_keep_texts

    depth = k or (USUAL_RESULTS if queries is None else _usual_depth())
    if queries is not None and text is not None:
        raise SettingError(
            "--text and --no-text are for what a person or a script is shown; --queries writes a ranking"
        )
    if verify:
        read_every_byte()
    asked = _Asked(depth, tuple(where or ()), overlap, two_step, overlap_of)
    keep: tuple[QueryCut | None, DocumentCut | None] = qk, dk
    if cost is not None or budget is not None:
        keep = _chosen_for(run, index or engine, system, qk, dk, cost, budget)
    retriever = open_retriever(run, index, system, *keep, vectors, engine)
    if queries is not None and out is not None:
        _answer_file(retriever, queries, out, asked, threads, json)
        return
    if (text or json) and text is not False and not retriever.keeps_texts:
        err.print(how_to_keep_texts(retriever.place), soft_wrap=True)
    if query is not None:
        _answer(retriever, query, asked, text, json)
        return
    err.print(
        f"{counted_rows(retriever.n_documents, retriever.in_passages)}. Type a query; an empty line or Ctrl-D ends."
    )
    while line := _ask():
        _answer(retriever, line, asked, text, json)


def _usual_depth() -> int:
    from lexigraft.retrieve.many_queries import DEPTH

    return DEPTH


def _chosen_for(
    run: Path | None, index: Path | str | None, system: str | None, qk: str | None, dk: str | None,
    cost: float | None, budget: str | None,
) -> Keep:  # fmt: skip
    """The (qk, dk) for a cost, and in a message why these."""
    from lexigraft.comparison.cost_grid import parse_budget
    from lexigraft.comparison.point_for_cost import point_for_cost

    if qk is not None or dk is not None:
        raise SettingError("--cost and --budget choose the (qk, dk); leave out --qk and --dk")
    if index is not None:
        raise SettingError("--cost and --budget choose among the prunings of a --run; anything else has only one")
    show_messages()
    limit = None if budget is None else parse_budget(budget)
    point = point_for_cost(run or QUICKSTART, system, cost, limit, BarProgress())
    err.print(point.why, soft_wrap=True)
    return point.qk, point.dk


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
    qk: QueryCut | None = None,
    dk: DocumentCut | None = None,
    vectors: Path | None = None,
    engine: str | None = None,
) -> "Retriever":
    """The run, index or engine that the options name; the quickstart's run where they name none. Beside an engine, a
    run or an index is what encodes its queries."""
    from lexigraft.engines.address import parse_address
    from lexigraft.retrieve.retriever import Retriever

    show_messages()
    if run is not None and index is not None:
        raise SettingError("give either --run RUN or --index INDEX, not both")
    if index is not None and system is not None:
        raise SettingError("--system chooses among the systems of a --run; an --index has only one")
    if engine is not None:
        parse_address(engine)  # says what is wrong with it
        return Retriever.open(engine, system, qk=qk, dk=dk, vectors=vectors, encoder=index or run)
    return Retriever.open(index or run or QUICKSTART, system, qk=qk, dk=dk, vectors=vectors)


def _answer_file(retriever: "Retriever", queries: Path, out: Path, asked: _Asked, threads: int, as_json: bool) -> None:
    from lexigraft.retrieve.many_queries import queries_of_file, rank_all, write_rankings

    if out.exists():
        raise SettingError(f"{out} is there already; give another --out, or remove it first")
    given = queries_of_file(queries)
    empty = write_rankings(rank_all(retriever, given, *asked, threads), out, "lexigraft", len(given), BarProgress())
    nothing = f"; nothing was found for {empty:,} of them" if empty else ""
    facts = {"queries": len(given), "nothing_found": empty, "depth": asked.k, "run": str(out)}
    show(as_json, facts, f"{out}: {len(given):,} queries, at most {asked.k:,} results each{nothing}",
         f"measure it: lexigraft evaluate {out} --qrels FILE")  # fmt: skip


def _ask() -> str:
    try:
        return err.input("search> ").strip()
    except EOFError:
        return ""


def _answer(retriever: "Retriever", query: str, asked: _Asked, text: bool | None, as_json: bool) -> None:
    from lexigraft.retrieve.notices import NO_WORD

    found = retriever.answer(query, *asked)
    if as_json:
        print_json(found.as_json(text is not False))
        return
    no_word = next((line for line in found.notices if line.startswith(NO_WORD)), "")
    for line in found.notices:
        if found.hits or line != no_word:
            err.print(line, soft_wrap=True)
    if not found.hits:
        err.print(f"nothing found: {no_word or asked.why_nothing}", soft_wrap=True)
        return
    print_documents(found.hits, bool(text))

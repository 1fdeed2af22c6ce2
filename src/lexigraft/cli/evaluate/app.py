"""`evaluate`: systems side by side, or one system at a grid of prunings."""

from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, show_messages
from lexigraft.cli.options import JsonOption, OnDuplicateOption
from lexigraft.core.errors import SettingError

if TYPE_CHECKING:
    from lexigraft.comparison.side_by_side import Asked


def evaluate(
    trec_run: Annotated[list[Path] | None, typer.Argument(help="TREC run files, of any systems.")] = None,
    run: Annotated[
        list[Path] | None, typer.Option("--run", help="A run, with all that its report has; may be repeated.")
    ] = None,
    index: Annotated[
        list[Path] | None,
        typer.Option("--index", help="An index, searched now with the judged queries; may be repeated."),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            "--engine",
            metavar="ADDRESS",
            help="What 'lexigraft engine load' put into an engine, searched in the same way, with milliseconds; may be "
            "repeated.",
        ),
    ] = None,
    queries: Annotated[
        Path | None, typer.Option("--queries", help="What an --index is searched with, instead of --data's queries.")
    ] = None,
    system: Annotated[
        list[str] | None, typer.Option("--system", help="Only this system of the runs; may be repeated.")
    ] = None,
    qrels: Annotated[Path | None, typer.Option("--qrels", help="A file of judgements, TREC's or BEIR's.")] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", help="A collection to take the judgements from, instead of --qrels or a run's own."),
    ] = None,
    split: Annotated[str, typer.Option("--split", help="Which judgements of --data; auto: test, or dev.")] = "auto",
    on_duplicate: OnDuplicateOption = None,
    measure: Annotated[
        list[str] | None, typer.Option("--measure", help="A measure such as nDCG@10; may be repeated.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", help="What the others are compared with; bm25, or the first.")
    ] = None,
    all_pairs: Annotated[bool, typer.Option("--all-pairs", help="Compare every two, not only with one.")] = False,
    common: Annotated[
        bool,
        typer.Option(
            "--common", help="Only the queries that every file ranks; otherwise one without a ranking counts 0."
        ),
    ] = False,
    changes: Annotated[
        int, typer.Option("--changes", min=0, max=10, help="Show so many queries that gained and lost most.")
    ] = 0,
    qk: Annotated[
        str | None,
        typer.Option(
            "--qk", help="Measure a grid of prunings: terms of a query, such as 0,7,5 (0: all) or, by mass, m0.8."
        ),
    ] = None,
    dk: Annotated[str | None, typer.Option("--dk", help="Terms of a document in that grid, such as 0,20,m0.8.")] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            help="Choose the best pruning of the grid that costs less, on validation queries, and measure it.",
            metavar="bm25|FLOPS",
        ),
    ] = None,
    write_runs: Annotated[
        Path | None, typer.Option("--write-runs", help="A folder for the systems' rankings, as TREC runs.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="A folder for tables (CSV, Markdown), JSON and, of a grid, a picture.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Put systems side by side: what they are worth, what they cost, and whether they differ by more than chance.

    Systems come from runs, indexes, engines and TREC run files. With --qk, --dk or --budget: one run, at a grid of
    prunings.
    """
    show_messages()
    if qk is None and dk is None and budget is None:
        from lexigraft.comparison.side_by_side import DEFAULT_MEASURES, Asked

        asked = Asked(
            run or (), trec_run or (), system or (), qrels, data, split, measure or DEFAULT_MEASURES, baseline,
            all_pairs, common, index or (), queries, engine or (), on_duplicate,
        )  # fmt: skip
        _side_by_side(asked, changes, write_runs, out, json)
        return
    others = (trec_run, index, engine, queries, qrels, data, measure, baseline, split != "auto", changes, on_duplicate)
    if len(run or ()) != 1 or any(others) or len(system or ()) > 1 or all_pairs or common:
        raise SettingError(
            "--qk, --dk and --budget measure the prunings of one system of one --run on its own judgements; give a "
            "single --run and at most one --system, and none of the other choices"
        )
    assert run is not None, "one was counted"
    _grid(run[0], system[0] if system else None, qk, dk, budget, write_runs, out, json)


def _side_by_side(asked: "Asked", changes: int, write_runs: Path | None, out: Path | None, json: bool) -> None:
    from lexigraft.cli.evaluate.tables import show_side_by_side
    from lexigraft.comparison import comparison_files, side_by_side

    if out is not None:
        comparison_files.require_free(out)
    with TemporaryDirectory() as workspace:
        found = side_by_side.side_by_side(asked, Path(workspace), BarProgress())
        if write_runs is not None:
            side_by_side.write_runs(found.systems, write_runs)
    if out is not None:
        comparison_files.write_comparison(found, out)
    if json:
        print_json(side_by_side.facts(found))
    else:
        show_side_by_side(found, changes, write_runs, out)


def _grid(
    run: Path,
    system: str | None,
    qk: str | None,
    dk: str | None,
    budget: str | None,
    write_runs: Path | None,
    out: Path | None,
    json: bool,
) -> None:
    from lexigraft.cli.evaluate.tables import show_grid
    from lexigraft.comparison import cost_grid, grid_files, side_by_side

    qks = cost_grid.USUAL_QK if qk is None else cost_grid.parse_cuts("--qk", qk)
    dks = cost_grid.USUAL_DK if dk is None else cost_grid.parse_cuts("--dk", dk)
    limit = None if budget is None else cost_grid.parse_budget(budget)
    if out is not None:
        grid_files.require_free(out)
    found = cost_grid.cost_grid(run, system, qks, dks, limit, BarProgress())
    if write_runs is not None:
        side_by_side.write_runs(found.compared.systems, write_runs)
    if out is not None:
        grid_files.write_grid(found, out)
    if json:
        print_json(grid_files.facts(found))
    else:
        show_grid(found, write_runs, out)
        if found.budget is not None:
            chosen = f"--qk {found.budget.chosen[0]} --dk {found.budget.chosen[1]}"
            print_line(f"Search so: lexigraft search --run {quote(str(run))} --system {quote(found.system)} {chosen}")

"""`bench`: what searches take on this machine, from vectors (`search`) or from text (`text`)."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lexigraft.cli.compared_indexes import ComparedIndexes, distinct_results
from lexigraft.cli.console import print_json, print_line, print_table, show_messages
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import IndexOption, JsonOption, ResultsOption, SystemOption
from lexigraft.core.cut import document_cut
from lexigraft.core.errors import SettingError
from lexigraft.core.settings import SEARCH_METHODS
from lexigraft.core.types import counted_rows

MEASURED = ("k", "p50 ms", "p99 ms", "mean ms")

app = typer.Typer(no_args_is_help=True, help="Measure what the program takes on this machine.")


@app.command()
def search(
    run: Annotated[
        Path | None, typer.Option("--run", help="The folder of a run: its judged index, and its measured queries.")
    ] = None,
    index: IndexOption = None,
    queries: Annotated[
        Path | None,
        typer.Option("--queries", help="Queries: .jsonl, .tsv or TREC topics; an --index needs them."),
    ] = None,
    system: SystemOption = None,
    dk: Annotated[
        str | None,
        typer.Option("--dk", help="The run's index of so many terms a document (0: all), or by mass (m0.8)."),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", help=f"One to measure; may be repeated; all where none: {', '.join(SEARCH_METHODS)}."),
    ] = None,
    k: ResultsOption = None,
    runs: Annotated[int, typer.Option("--runs", min=1, help="How often each query is searched and measured.")] = 5,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many queries, evenly spread.")] = 500,
    json: JsonOption = False,
) -> None:
    """Time every search method side by side, on one thread, and count what each does.

    Milliseconds are from a query's vector to document ids; the time to encode a query's text is given separately.
    Methods take turns, after one unmeasured pass.
    """
    from lexigraft.comparison.bench_search import bench_index, bench_run, list_queries

    show_messages()
    methods, ks = list(dict.fromkeys(method or SEARCH_METHODS)), distinct_results(k)
    if (run is None) == (index is None):
        raise SettingError("give either --run RUN or --index INDEX")
    if run is not None:
        found = bench_run(run, system, document_cut(dk or 0), queries, methods, ks, runs, limit)
    else:
        if queries is None or system is not None or dk:
            raise SettingError("an --index needs --queries FILE, and takes neither --system nor --dk")
        found = bench_index(index or Path(), list_queries(queries), methods, ks, runs, limit)
    if json:
        print_json(found)
    else:
        _print(found)


@app.command()
@grouped
def text(
    of: ComparedIndexes,
    runs: Annotated[int, typer.Option("--runs", min=1, help="How often each query is measured.")] = 5,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many queries, evenly spread.")] = 200,
    json: JsonOption = False,
) -> None:
    """Time systems from a query's text to ranked ids, on one thread, and say which part of that is encoding.

    Systems take turns, after one unmeasured pass over all queries: words that come again are then known already.
    """
    from lexigraft.comparison.bench_text import bench_text

    show_messages()
    found = bench_text(
        of.run or (), of.index or (), of.system or (), of.keeps(), of.queries, of.data, of.ks(), runs, limit
    )
    if json:
        print_json(found)
        return
    print_line(
        f"{found['collection']}: {found['queries']:,} queries over "
        f"{counted_rows(found['documents'], found['passages'])}, {found['runs']} "
        "runs, one thread, from text to ranked ids"
    )
    rows = [(one["name"], *_measured(one), f"{one['ms_encode']['p50']:.3f}") for one in found["systems"]]
    print_table("a query", ("system", *MEASURED, "encoding p50"), rows, left=("system",))


def _print(found: dict[str, Any]) -> None:
    print_line(
        f"{found['index']}: {counted_rows(found['documents'], found['passages'])}, {found['postings']:,} postings, "
        f"{found['bytes_on_disk'] / 2**20:,.1f} MiB, {found['bytes_per_posting']:.2f} bytes a posting in lists"
    )
    encode = found["ms_encode"]
    print_line(
        f"{found['queries']:,} queries of {found['terms_per_query']:.1f} terms and {found['postings_per_query']:,.0f} "
        f"postings, {found['runs']} runs, one thread; encoding: p50 {encode['p50']:.3f}, p99 {encode['p99']:.3f}, "
        f"mean {encode['mean']:.3f} ms"
    )
    counters = next((list(row["counts"]) for row in found["searches"] if row["counts"]), [])
    rows = [
        (row["method"], *_measured(row), *(f"{row['counts'][name]:,.0f}" for name in counters))
        for row in found["searches"]
    ]
    print_table("a query", ("method", *MEASURED, *counters), rows, left=("method",))


def _measured(row: dict[str, Any]) -> list[str]:
    """The cells below `MEASURED`: how many results were asked for, and the milliseconds."""
    return [str(row["k"]), *(f"{row['ms'][name]:.3f}" for name in ("p50", "p99", "mean"))]

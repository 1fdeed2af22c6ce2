"""`index stats`: indexes measured side by side."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.compared_indexes import ComparedIndexes
from lexigraft.cli.console import BarProgress, print_json, print_line, print_prose, print_table, show_messages
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import JsonOption


@grouped
def stats(
    of: ComparedIndexes,
    runs: Annotated[int, typer.Option("--runs", min=1, help="How often each query is timed.")] = 5,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Time and count so many queries, evenly spread.")] = 500,
    out: Annotated[
        Path | None, typer.Option("--out", help="A folder for tables, pictures and numbers; made or replaced.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare indexes: what they hold, what queries touch in them, and how long searches take.

    Terms a query and a document, split queries, postings a query, retrieval time by method, terms added to documents,
    MaxScore's operations, and how the largest scores of lists are distributed. All answer the same
    queries.
    """
    from lexigraft.comparison.index_stats import StatisticsSettings, measure_indexes
    from lexigraft.comparison.index_stats_files import heading, notes, require_free, tables, write_statistics

    show_messages()
    settings = StatisticsSettings(tuple(of.ks()), runs, limit)
    if out is not None:
        require_free(out)
    found = measure_indexes(
        of.run or (), of.index or (), of.system or (), of.keeps(), of.queries, of.data, settings, BarProgress()
    )
    if out is not None:
        write_statistics(found, out)
    if json:
        print_json(found)
        return
    print_prose(heading(found))
    for table in tables(found):
        if table.rows:
            print_table(table.title, table.columns, table.cells(), left=("system", "lists of"))
    for note in notes(found):
        print_prose(note)
    if out is not None:
        print_line(f"tables, picture and numbers: {out}")

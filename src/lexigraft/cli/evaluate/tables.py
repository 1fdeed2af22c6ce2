"""The tables and lines that `evaluate` prints."""

from pathlib import Path

from lexigraft.cli.console import print_line, print_prose, print_table
from lexigraft.comparison import comparison_files, grid_files
from lexigraft.comparison.cost_grid import CostGrid
from lexigraft.comparison.side_by_side import SideBySide

NAMES = ("system", "measure", "baseline", "query", "")


def show_side_by_side(found: SideBySide, changes: int, runs: Path | None, out: Path | None) -> None:
    """The systems, their comparisons and, where asked for, the queries that changed most."""
    columns, rows = comparison_files.system_table(found)
    print_table(f"{found.queries:,} judged queries ({found.judged_by})", columns, rows, left=NAMES)
    _comparisons(found)
    for title, lines in comparison_files.change_rows(found, changes) if changes else ():
        print_line(title, style="bold")  # a title of the table would be broken where the table is narrow
        print_table("", ["query", "baseline", "system", "difference"], lines, left=("query",))
    _places(runs, out, "evaluation.md")


def show_grid(found: CostGrid, runs: Path | None, out: Path | None) -> None:
    """The grid as measured or, with a budget, as validated, and then what was chosen."""
    if found.budget is not None:
        columns, rows = grid_files.table(found.budget.all_rows, grid_files.validated_marks(found, found.budget))
        print_line(grid_files.validated_title(found, found.budget), style="bold")
        print_table("", columns, rows, left=NAMES)
        print_prose(grid_files.choice_in_words(found.budget))
        print_line("")
    columns, rows = grid_files.table(found.rows, grid_files.measured_marks(found))
    print_table(grid_files.measured_title(found), columns, rows, left=NAMES)
    if found.budget is not None:
        _comparisons(found.compared)
    _places(runs, out, "grid.md")


def _comparisons(found: SideBySide) -> None:
    if found.comparisons:
        rows = map(comparison_files.comparison_row, found.comparisons)
        print_table("", comparison_files.COMPARISON_COLUMNS, rows, left=NAMES)
        print_prose(comparison_files.EXPLANATION)


def _places(runs: Path | None, out: Path | None, table: str) -> None:
    if runs is not None:
        print_line(f"TREC runs: {runs}")
    if out is not None:
        print_line(f"tables: {out / table}")

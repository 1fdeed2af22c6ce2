"""A grid of costs as a folder: `grid.json`, CSV, `grid.md` and `grid.png`, and what its systems are side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lexigraft.comparison import comparison_files
from lexigraft.comparison.cost_grid import Budget, CostGrid
from lexigraft.comparison.cost_picture import draw
from lexigraft.comparison.prunings import BM25
from lexigraft.comparison.side_by_side import comparison_facts
from lexigraft.comparison.validation import CHOSEN_BY
from lexigraft.core.artifact import Manifest, write_artifact, write_json
from lexigraft.core.cut import DocumentCut, QueryCut
from lexigraft.core.types import counted_rows
from lexigraft.stages.report import cell
from lexigraft.stages.standalone import require_free_for
from lexigraft.stages.tables import markdown_table, write_csv

KIND, FORMAT_VERSION = "cost grid", 1
COLUMNS = (
    "system", "qk", "dk", "L0_q", "L0_d", "FLOPS", "postings", "MRR@10", "R@10", "R@100", "R@1000", "nDCG@10",
    "ms_encode", "ms_search", "ms_text_to_ids", "ms_text_to_ids_p50",
)  # fmt: skip
FRONT_MARK, CHOICE_MARK = "front", "chosen"

Row = Mapping[str, Any]
Marks = Mapping[tuple[str, QueryCut, DocumentCut], str]  # by system, qk and dk


def require_free(out: Path) -> None:
    """Raise where `write_grid` would not write, before anything is measured."""
    require_free_for(out, KIND)


def write_grid(found: CostGrid, out: Path) -> None:
    """Write everything to `out`, which appears whole; a grid that is there is replaced."""
    config = {"system": found.system, "split": found.split, "budget": None if found.budget is None else found.budget.of}
    with write_artifact(out, Manifest(KIND, FORMAT_VERSION, config)) as folder:
        comparison_files.fill(found.compared, folder)
        write_json(folder / "grid.json", facts(found))
        (folder / "grid.md").write_text(as_markdown(found), encoding="utf-8")
        _write_rows(folder / "grid.csv", found.rows)
        if found.budget is not None:
            _write_rows(folder / "validation.csv", found.budget.all_rows)
        _draw(found, folder / "grid.png")


def facts(found: CostGrid) -> dict[str, Any]:
    """All of it for JSON; the comparisons against the baseline, too."""
    return {
        "system": found.system,
        "split": found.split,
        "queries": found.queries,
        "documents": found.documents,
        "passages": found.passages,
        "rows": [{name: row[name] for name in COLUMNS if name in row} for row in found.rows],
        "front": [list(keep) for keep in found.front],
        "budget": None if found.budget is None else asdict(found.budget),
        "baseline": found.compared.baseline,
        "comparisons": [comparison_facts(comparison) for comparison in found.compared.comparisons],
    }


def table(rows: Sequence[Row], marks: Marks) -> tuple[list[str], list[list[str]]]:
    """(columns, rows) for the eye; the last column holds what a pruning is marked with."""
    columns = _columns(rows)
    return [*columns, ""], [
        [*(cell(name, row[name]) for name in columns), marks.get((row["system"], row["qk"], row["dk"]), "")]
        for row in rows
    ]


def measured_marks(found: CostGrid) -> Marks:
    """On the measured queries: the front where all of the grid was measured there, else the choice."""
    if found.budget is not None:
        return {(found.system, *found.budget.chosen): CHOICE_MARK}
    return {(found.system, *keep): FRONT_MARK for keep in found.front}


def validated_marks(found: CostGrid, budget: Budget) -> Marks:
    front = {(found.system, *keep): FRONT_MARK for keep in found.front}
    return {**front, (found.system, *budget.chosen): CHOICE_MARK}


def measured_title(found: CostGrid) -> str:
    return (
        f"{found.system}: {found.queries:,} {found.split} queries over {counted_rows(found.documents, found.passages)}"
    )


def validated_title(found: CostGrid, budget: Budget) -> str:
    return f"{found.system}: {budget.queries:,} validation queries ({budget.validated_on})"


def choice_in_words(budget: Budget) -> str:
    qk, dk = budget.chosen
    what = f"BM25's {budget.flops:.4f} FLOPS" if budget.of == BM25 else f"{budget.flops:g} FLOPS"
    return (
        f"Chosen: qk={qk}, dk={dk}, the highest {CHOSEN_BY} below {what} on {budget.queries:,} validation queries "
        f"({budget.validated_on})."
    )


def as_markdown(found: CostGrid) -> str:
    lines = [f"# {measured_title(found)}", "", *markdown_table(*table(found.rows, measured_marks(found))), ""]
    if found.budget is not None:
        rows = markdown_table(*table(found.budget.all_rows, validated_marks(found, found.budget)))
        lines += [choice_in_words(found.budget), "", f"## {validated_title(found, found.budget)}", "", *rows, ""]
    lines += [
        "qk, dk: terms kept of a query and of a document (0: all). FLOPS: postings touched by a query, per document. "
        f"{FRONT_MARK}: no other pruning has less FLOPS and no lower {CHOSEN_BY}.", "",
        f"![{CHOSEN_BY} against FLOPS](grid.png)", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _columns(rows: Sequence[Row]) -> list[str]:
    """Those that every row has: a cell that was measured before, by a former version, may lack some."""
    return [name for name in COLUMNS if all(name in row for row in rows)]


def _write_rows(path: Path, rows: Sequence[Row]) -> None:
    columns = _columns(rows)
    write_csv(path, columns, ([row[name] for name in columns] for row in rows))


def _draw(found: CostGrid, path: Path) -> None:
    budget = found.budget
    shown = found.rows if budget is None else budget.rows
    own = [row for row in shown if row["system"] == found.system]
    bm25 = next((row for row in found.rows if row["system"] == BM25 and (row["qk"], row["dk"]) == (0, 0)), None)
    if budget is None:
        baseline, limit = (bm25 if found.system != BM25 else None), (None if bm25 is None else bm25["FLOPS"])
        draw(own, found.front, baseline, limit, None, measured_title(found), path)
    else:
        bm25 = budget.bm25 if found.system != BM25 else None
        draw(own, found.front, bm25, budget.flops, budget.chosen, validated_title(found, budget), path)

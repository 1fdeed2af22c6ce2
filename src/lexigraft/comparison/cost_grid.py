"""Cost against effectiveness over a grid of prunings (qk, dk), and the choice of one within a budget (E1).

The indexes and evaluations are artifacts of the run, the same that `lexigraft run` would make with the grid as
`prune.budgets`: a second call keeps them, a killed one is continued.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexigraft.comparison.measured_systems import MeasuredSystem, system_of_evaluation
from lexigraft.comparison.side_by_side import SideBySide, compared
from lexigraft.comparison.validation import (
    CHOSEN_BY,
    ValidationQueries,
    validate,
    validation_queries,
    wanted_validation,
)
from lexigraft.core.artifact import Manifest, open_artifact
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.lock import writer_lock
from lexigraft.core.progress import SILENT, Progress
from lexigraft.measure.pareto import Point, best_within, pareto_front
from lexigraft.stages.cells import MeasuredOn, ensure_evaluation, ensure_index
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.evaluate import JudgedQueries, encode_judged, measure_names
from lexigraft.stages.finished_run import FinishedRun, open_run
from lexigraft.stages.layout import JUDGED, MODEL
from lexigraft.vectors import store as vectors_store

USUAL_QK, USUAL_DK = (0, 10, 7, 5, 3), (0, 40, 20, 10, 5)
BM25 = "bm25"
WHOLE = (0, 0)

Keep = tuple[int, int]


@dataclass(frozen=True)
class Budget:
    """A choice among prunings. `flops` is the limit, `of` what set it; `rows` of the grid, and `bm25` where that set
    the limit, are of validation queries."""

    flops: float
    of: str
    validated_on: str
    queries: int
    rows: Sequence[dict[str, Any]]
    chosen: Keep
    bm25: dict[str, Any] | None = None

    @property
    def all_rows(self) -> list[dict[str, Any]]:
        return [*([] if self.bm25 is None else [self.bm25]), *self.rows]


@dataclass(frozen=True)
class CostGrid:
    """`rows` are of the split that the run measures: BM25, where it has it, then the grid or, with a budget, the whole
    vectors and the choice. `front`: the prunings that no other of the grid beats, on the queries the grid was measured
    on."""

    system: str
    split: str
    queries: int
    documents: int
    rows: Sequence[dict[str, Any]]
    front: Sequence[Keep]
    compared: SideBySide
    budget: Budget | None = None


def parse_counts(option: str, text: str) -> tuple[int, ...]:
    """`0,5,10` as numbers, each once."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise SettingError(f"{option} {text!r} is not allowed: counts of terms with commas, such as 0,5,10 (0: all)")
    return tuple(dict.fromkeys(map(int, parts)))


def parse_budget(text: str) -> float | str:
    """A number of FLOPS, or the name of the system that sets it."""
    if text == BM25:
        return text
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise SettingError(f"--budget {text!r} is not allowed: bm25, or FLOPS of more than 0, such as 0.5")
    return value


def cost_grid(
    path: Path,
    system: str | None = None,
    qks: Sequence[int] = USUAL_QK,
    dks: Sequence[int] = USUAL_DK,
    budget: float | str | None = None,
    progress: Progress = SILENT,
) -> CostGrid:
    """Measure every (qk, dk) of a system of the run at `path` on what the run measures.

    With a `budget` every one is measured on validation queries instead; the one with the highest MRR@10 among those
    that cost less there is chosen, and only it, and the whole vectors, are measured on what the run measures.
    """
    run = open_run(path)
    systems = run.settings.run.systems
    name = run.require_system(system) if system is not None else MODEL if MODEL in systems else systems[0]
    grid = [(qk, dk) for dk in dks for qk in qks]
    with writer_lock(run.folder.root):
        return _Measuring(run, name, progress).grid(grid, budget)


class _Measuring:
    """One call of `cost_grid`: what all cells of a system share is made once."""

    def __init__(self, run: FinishedRun, system: str, progress: Progress) -> None:
        self.run, self.system, self.progress = run, system, progress
        self.artifacts = Ensurer(run.folder, None)
        self.on = MeasuredOn(run.collection, run.measured_split())
        self.measured_queries: dict[str, JudgedQueries] = {}
        self.validated_queries: dict[str, JudgedQueries] = {}
        self.indexes: dict[tuple[str, int], Manifest] = {}

    def grid(self, grid: Sequence[Keep], limit: float | str | None) -> CostGrid:
        budget = None if limit is None else self.choose(grid, limit)
        wanted = list(grid) if budget is None else list(dict.fromkeys([WHOLE, budget.chosen]))
        cells = [(self.system, keep) for keep in wanted]
        if BM25 in self.run.settings.run.systems and (BM25, WHOLE) not in cells:
            cells.insert(0, (BM25, WHOLE))
        folders = [self.evaluation(system, keep) for system, keep in cells]
        rows = [_row(folder) for folder in folders]
        judged_on = rows if budget is None else budget.rows
        own = [row for row in judged_on if row["system"] == self.system and (row["qk"], row["dk"]) in grid]
        front = [own[at] for at in pareto_front([Point(row["FLOPS"], row[CHOSEN_BY]) for row in own])]
        return CostGrid(
            self.system, self.on.split, rows[0]["queries"], rows[0]["documents"], rows,
            [(row["qk"], row["dk"]) for row in front], self.comparison(rows), budget,
        )  # fmt: skip

    def comparison(self, rows: Sequence[dict[str, Any]]) -> SideBySide:
        names = measure_names(self.run.settings.evaluate)
        systems: list[MeasuredSystem] = [system_of_evaluation(self.run, row, names) for row in rows]
        return compared(systems, f"{self.on.split} of {self.run.collection.name}", names)

    def choose(self, grid: Sequence[Keep], limit: float | str) -> Budget:
        queries = validation_queries(self.run)
        bm25 = self.validated_bm25(queries) if limit == BM25 else None
        of, limit = ("given", float(limit)) if bm25 is None else (BM25, float(bm25["FLOPS"]))
        rows = [self.validated(queries, self.system, keep) for keep in grid]
        at = best_within([Point(row["FLOPS"], row[CHOSEN_BY]) for row in rows], limit)
        if at is None:
            least = min(rows, key=lambda row: row["FLOPS"])
            raise InputError(
                f"no pruning of the grid costs less than {limit:.4f} FLOPS on {queries.described}; the "
                f"cheapest, qk={least['qk']} and dk={least['dk']}, costs {least['FLOPS']:.4f}; give smaller "
                "--qk and --dk"
            )
        return Budget(limit, of, queries.described, rows[at]["queries"], rows, grid[at], bm25)

    def validated_bm25(self, queries: ValidationQueries) -> dict[str, Any]:
        if BM25 not in self.run.settings.run.systems:
            named = ", ".join(f'"{name}"' for name in (BM25, *self.run.settings.run.systems))
            raise InputError(
                f"the run at {self.run.folder.root} has no bm25 to set the budget; add it: lexigraft run --data "
                f"{self.run.source} --out {self.run.folder.root} --set 'run.systems=[{named}]' with the settings of "
                "before, or give the budget as a number of FLOPS"
            )
        return self.validated(queries, BM25, WHOLE)

    def evaluation(self, system: str, keep: Keep) -> Path:
        index = self.index(system, keep[1])
        return ensure_evaluation(
            self.artifacts, self.run.settings, self.on, system, keep, index, self.measured_queries, self.progress
        )

    def validated(self, queries: ValidationQueries, system: str, keep: Keep) -> dict[str, Any]:
        index, folder = self.index(system, keep[1]), self.run.folder
        index_path, vectors_path = folder.index(JUDGED, system, keep[1]), folder.vectors(JUDGED, system)
        settings = self.run.settings

        def make(out: Path) -> None:
            if system not in self.validated_queries:
                self.validated_queries[system] = encode_judged(
                    self.run.collection, queries.split, index_path, settings.evaluate, queries.qrels
                )
            validate(self.validated_queries[system], index_path, vectors_path, system, keep, settings.search, out)

        path, wanted = folder.validation(system, *keep), wanted_validation(self.run, queries, system, keep, index)
        self.artifacts.ensure("evaluate", f"validate {system} (qk={keep[0]}, dk={keep[1]})", path, wanted, make)
        return _row(path)

    def index(self, system: str, dk: int) -> Manifest:
        if (system, dk) not in self.indexes:
            path = self.run.folder.vectors(JUDGED, system)
            vectors = open_artifact(path, vectors_store.KIND, vectors_store.FORMAT_VERSION, checksums=False)
            self.indexes[system, dk] = ensure_index(
                self.artifacts, self.run.settings, JUDGED, system, dk, vectors, self.progress
            )
        return self.indexes[system, dk]


def _row(folder: Path) -> dict[str, Any]:
    row: dict[str, Any] = json.loads((folder / "row.json").read_text(encoding="utf-8"))
    return row

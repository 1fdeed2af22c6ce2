"""Cost against effectiveness over a grid of prunings (qk, dk), and the choice of one within a budget (E1).

The indexes and evaluations are artifacts of the run, the same that `lexigraft run` would make with the grid as
`prune.budgets`: a second call keeps them, a killed one is continued.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexigraft.comparison.measured_systems import MeasuredSystem, system_of_evaluation
from lexigraft.comparison.prunings import BM25, WHOLE, PruningsOnValidation, read_row
from lexigraft.comparison.side_by_side import SideBySide, compared
from lexigraft.comparison.validation import CHOSEN_BY, validation_queries
from lexigraft.core.artifact import Manifest, open_artifact
from lexigraft.core.cut import DocumentCut, Keep, document_cut
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.lock import writer_lock
from lexigraft.core.progress import SILENT, Progress
from lexigraft.measure.pareto import Point, pareto_front
from lexigraft.stages.cells import ensure_evaluation, ensure_index
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.evaluate import JudgedQueries, measure_names
from lexigraft.stages.finished_run import FinishedRun, open_run
from lexigraft.stages.layout import JUDGED
from lexigraft.vectors.store import FORMAT_VERSION, KIND

USUAL_QK, USUAL_DK = (0, 10, 7, 5, 3), (0, 40, 20, 10, 5)


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
    passages: bool = False  # it is passages that `documents` counts


def parse_cuts(option: str, text: str) -> tuple[DocumentCut, ...]:
    """`0,5,m0.8` as what is kept, each once."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() or part.startswith("m") for part in parts):
        raise SettingError(
            f"{option} {text!r} is not allowed: counts of terms with commas, such as 0,5,10 (0: all), or shares of the "
            "mass, such as m0.8"
        )
    return tuple(dict.fromkeys(document_cut(part, option) for part in parts))


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
    qks: Sequence[DocumentCut] = USUAL_QK,
    dks: Sequence[DocumentCut] = USUAL_DK,
    budget: float | str | None = None,
    progress: Progress = SILENT,
) -> CostGrid:
    """Measure every (qk, dk) of a system of the run at `path` on what the run measures.

    With a `budget` every one is measured on validation queries instead; the one with the highest MRR@10 among those
    that cost less there is chosen, and only it, and the whole vectors, are measured on what the run measures.
    """
    run = open_run(path)
    name = run.require_system(system) if system is not None else run.folder.searchable(None)[1]
    run.folder.require_terms(name)
    grid = [(qk, dk) for dk in dks for qk in qks]
    with writer_lock(run.folder.root):
        return _Measuring(run, name, progress).grid(grid, budget)


class _Measuring:
    """One call of `cost_grid`: what all cells of a system share is made once."""

    def __init__(self, run: FinishedRun, system: str, progress: Progress) -> None:
        self.run, self.system, self.progress = run, system, progress
        self.artifacts = Ensurer(run.folder, None)
        self.on = run.reported_on()
        self.measured_queries: dict[str, JudgedQueries] = {}
        self.prunings = PruningsOnValidation(run, self.artifacts, {}, progress)

    def grid(self, grid: Sequence[Keep], limit: float | str | None) -> CostGrid:
        budget = None if limit is None else self.choose(grid, limit)
        wanted = list(grid) if budget is None else list(dict.fromkeys([WHOLE, budget.chosen]))
        cells = [(self.system, keep) for keep in wanted]
        if BM25 in self.run.settings.run.systems and (BM25, WHOLE) not in cells:
            cells.insert(0, (BM25, WHOLE))
        folders = [self.evaluation(system, keep) for system, keep in cells]
        rows = [read_row(folder) for folder in folders]
        judged_on = rows if budget is None else budget.rows
        own = [row for row in judged_on if row["system"] == self.system and (row["qk"], row["dk"]) in grid]
        front = [own[at] for at in pareto_front([Point(row["FLOPS"], row[CHOSEN_BY]) for row in own])]
        return CostGrid(
            self.system, self.on.split, rows[0]["queries"], rows[0]["documents"], rows,
            [(row["qk"], row["dk"]) for row in front], self.comparison(rows), budget, rows[0].get("passages", False),
        )  # fmt: skip

    def comparison(self, rows: Sequence[dict[str, Any]]) -> SideBySide:
        names = measure_names(self.run.settings.evaluate)
        systems: list[MeasuredSystem] = [system_of_evaluation(self.run, row, names) for row in rows]
        return compared(systems, f"{self.on.split} of {self.on.collection.name}", names)

    def choose(self, grid: Sequence[Keep], limit: float | str) -> Budget:
        queries = validation_queries(self.run, system=self.run.system(self.system))
        if limit == BM25:
            self.require_bm25()
        found = self.prunings.measure(queries, self.system, grid, limit)
        chosen, least = found.best(), found.cheapest
        if chosen is None:
            raise InputError(
                f"no pruning of the grid costs less than {found.flops:.4f} FLOPS on {queries.described}; the "
                f"cheapest, qk={least['qk']} and dk={least['dk']}, costs {least['FLOPS']:.4f}; give smaller "
                "qk and dk"
            )
        of = "given" if found.bm25 is None else BM25
        return Budget(found.flops, of, queries.described, least["queries"], found.rows, chosen, found.bm25)

    def require_bm25(self) -> None:
        if BM25 not in self.run.settings.run.systems:
            named = ", ".join(f'"{name}"' for name in (BM25, *self.run.settings.run.systems))
            raise InputError(
                f"the run at {self.run.folder.root} has no bm25 to set the budget; add it: lexigraft run --data "
                f"{self.run.source} --out {self.run.folder.root} --set 'run.systems=[{named}]' with the settings of "
                "before, or give the budget as a number of FLOPS"
            )

    def index(self, system: str, dk: DocumentCut) -> Manifest:
        """The index that is searched: of the view that the run measures."""
        if self.on.view == JUDGED:
            return self.prunings.index(system, dk)
        vectors = open_artifact(self.run.folder.vectors(self.on.view, system), KIND, FORMAT_VERSION, checksums=False)
        settings, view = self.run.settings, self.on.view
        return ensure_index(self.artifacts, settings, view, system, dk, vectors, self.progress)

    def evaluation(self, system: str, keep: Keep) -> Path:
        index = self.index(system, keep[1])
        return ensure_evaluation(
            self.artifacts, self.run.settings, self.on, system, keep, index, self.measured_queries, self.progress
        )

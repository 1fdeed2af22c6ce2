"""Prunings of a system measured on validation queries, and the best of them within a cost.

`run` and `evaluate --budget` choose by the same artifacts, so that each keeps what the other made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexigraft.comparison.validation import (
    CHOSEN_BY,
    UNTIMED,
    ValidationQueries,
    validate,
    wanted_validation,
)
from lexigraft.core.artifact import Manifest, open_artifact
from lexigraft.core.cut import DocumentCut, Keep
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.sealed_json import read_sealed
from lexigraft.measure.pareto import Point, best_within
from lexigraft.stages.cells import ensure_index
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.evaluate import JudgedQueries, encode_judged
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.layout import JUDGED
from lexigraft.vectors import store as vectors_store

BM25 = "bm25"
WHOLE: Keep = (0, 0)


@dataclass(frozen=True)
class ValidatedPrunings:
    """What each pruning of `grid` costs and is worth on validation queries, in `rows`; `flops` is the limit, and `bm25`
    BM25's row on the same queries, where that set it."""

    queries: ValidationQueries
    grid: Sequence[Keep]
    rows: Sequence[dict[str, Any]]
    flops: float
    bm25: dict[str, Any] | None

    def best(self, inclusive: bool = False) -> Keep | None:
        """The pruning with the highest MRR@10 among those that cost less than the limit or, with `inclusive`, no more;
        None where no pruning is so cheap."""
        at = best_within([Point(row["FLOPS"], row[CHOSEN_BY]) for row in self.rows], self.flops, inclusive)
        return None if at is None else self.grid[at]

    @property
    def cheapest(self) -> dict[str, Any]:
        return min(self.rows, key=lambda row: row["FLOPS"])


class PruningsOnValidation:
    """Measures prunings of a run's systems on validation queries. `indexes`, by system and dk, are those that are known
    to be there; others are made and added."""

    def __init__(
        self,
        run: FinishedRun,
        artifacts: Ensurer,
        indexes: dict[tuple[str, DocumentCut], Manifest],
        progress: Progress = SILENT,
    ) -> None:
        self.run, self.artifacts, self.indexes, self.progress = run, artifacts, indexes, progress
        self.encoded: dict[tuple[str, str], JudgedQueries] = {}  # by system and the queries' digest
        self._rows: dict[tuple[Path, str], dict[str, Any]] = {}  # by folder and the queries' digest, of this call

    def measure(
        self, queries: ValidationQueries, system: str, grid: Sequence[Keep], limit: float | str
    ) -> ValidatedPrunings:
        """Every pruning of `grid`, with a limit in FLOPS or, for "bm25", that of BM25 on the same queries."""
        bm25 = self.bm25_row(queries, system) if limit == BM25 else None
        flops = float(limit) if bm25 is None else float(bm25["FLOPS"])
        return ValidatedPrunings(queries, grid, [self.row(queries, system, keep) for keep in grid], flops, bm25)

    def bm25_row(self, queries: ValidationQueries, system: str) -> dict[str, Any]:
        """BM25 on the validation queries of a system."""
        return self.row(queries, BM25, WHOLE, self._queries_of(system))

    def _queries_of(self, system: str) -> str:
        """The name of a model that may have held out other queries than the run's first; else nothing. What BM25 costs
        on them is kept apart, so that no call measures it anew for each."""
        models = [one.name for one in self.run.systems() if one.is_model]
        return system if system in models[1:] else ""

    def row(self, queries: ValidationQueries, system: str, keep: Keep, queries_of: str = "") -> dict[str, Any]:
        """One pruning of a system, measured now or before, on the usual queries or those held out for another one."""
        known = self.run.folder.validation(system, *keep, queries_of), queries.digest
        if known not in self._rows:
            self._rows[known] = self._measured_row(queries, system, keep, queries_of)
        return self._rows[known]

    def _measured_row(self, queries: ValidationQueries, system: str, keep: Keep, queries_of: str) -> dict[str, Any]:
        index, folder = self.index(system, keep[1]), self.run.folder
        index_path, vectors_path = folder.index(JUDGED, system, keep[1]), folder.vectors(JUDGED, system)

        def make(out: Path) -> None:
            validate(
                self.encoded_queries(queries, system),
                self.run.settings.search,
                index_path,
                vectors_path,
                system,
                keep,
                out,
            )

        path = folder.validation(system, *keep, queries_of)
        wanted = wanted_validation(self.run, queries, system, keep, index)
        whose = f", queries of {queries_of}" if queries_of else ""
        self.artifacts.ensure("evaluate", f"validate {system} (qk={keep[0]}, dk={keep[1]}{whose})", path, wanted, make)
        return read_row(path)

    def encoded_queries(self, queries: ValidationQueries, system: str) -> JudgedQueries:
        """The validation queries as a system writes them; it has an index of whole vectors."""
        asked = system, queries.digest
        if asked not in self.encoded:
            index_path = self.run.folder.index(JUDGED, system, 0)
            self.encoded[asked] = encode_judged(self.run.collection, queries.split, index_path, UNTIMED, queries.qrels)
        return self.encoded[asked]

    def index(self, system: str, dk: DocumentCut) -> Manifest:
        """The judged view's index of a system whose documents keep `dk`, made where it is not there."""
        if (system, dk) not in self.indexes:
            path = self.run.folder.vectors(JUDGED, system)
            vectors = open_artifact(path, vectors_store.KIND, vectors_store.FORMAT_VERSION, checksums=False)
            self.indexes[system, dk] = ensure_index(
                self.artifacts, self.run.settings, JUDGED, system, dk, vectors, self.progress
            )
        return self.indexes[system, dk]


def read_row(folder: Path) -> dict[str, Any]:
    """What an evaluation or a validation measured."""
    return read_sealed(folder / "row.json")

"""The systems of a run opened as text searches: what a hybrid is made of, whether it is measured or asked."""

from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.artifact import open_artifact
from lexigraft.core.pinned import of_one_version
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.stored_record import record_of
from lexigraft.core.systems_table import DENSE, HYBRID
from lexigraft.dense.text_search import DenseTextSearch
from lexigraft.search.hybrid import Fusion, HybridTextSearch
from lexigraft.search.text_search import SparseTextSearch, TextSearch
from lexigraft.stages.layout import RunFolder
from lexigraft.stages.operating_point import read_operating_point

CHOICE_KIND, CHOICE_FORMAT = "hybrid-choice", 1
CHOICE = "hybrid.json"


class HybridChoice(NamedTuple):
    """A hybrid: of which two systems, how they are fused, and in one line why so. `looked_at` is the evidence: what
    each fusion is worth on the `queries` that it was chosen by. `ahead` and `p`: what its MRR@10 is above that of its
    first system alone, and of the paired test over these queries; None where that was not looked at."""

    of: list[str]
    method: str
    weight: float
    depth: int
    why: str
    queries: int = 0
    looked_at: list[dict[str, Any]] = []  # noqa: RUF012
    ahead: float | None = None
    p: float | None = None

    @property
    def fusion(self) -> Fusion:
        return Fusion(self.method, self.weight)

    @property
    def asked(self) -> list[str]:
        """Those of its systems that a search asks: one of weight 0 is not."""
        return [name for name, asked in zip(self.of, self.fusion.asked, strict=True) if asked]


def read_choice(run: RunFolder, system: str) -> HybridChoice:
    """What a run chose for a hybrid."""
    return _read_choice(run.choice(system))


@of_one_version
def _read_choice(folder: Path) -> HybridChoice:
    open_artifact(folder, CHOICE_KIND, CHOICE_FORMAT)
    return record_of(folder / CHOICE, HybridChoice, read_sealed(folder / CHOICE))


def searched_path(run: RunFolder, view: str, system: str) -> Path:
    """What a search of a system that is no hybrid reads: the index at its operating point, or dense vectors."""
    if run.read_contents().kinds.get(system) == DENSE:
        return run.vectors(view, system)
    return run.index(view, system, read_operating_point(run, system).dk)


def open_text_search(run: RunFolder, view: str, system: str) -> TextSearch:
    """A system of a run, at its operating point where it has one, over the documents of a view."""
    kind = run.read_contents().kinds.get(system)
    if kind == DENSE:
        return DenseTextSearch(run.vectors(view, system))
    if kind == HYBRID:
        choice = read_choice(run, system)
        parts = [open_text_search(run, view, name) for name in choice.of]
        return HybridTextSearch(choice.of, parts, choice.fusion, choice.depth)
    return SparseTextSearch(searched_path(run, view, system), read_operating_point(run, system).qk)

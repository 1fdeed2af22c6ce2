"""The peers of a run's sparse systems: dense ones, trained and embedded, and hybrids; each measured on the same
queries."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lexigraft.comparison.hybrid_choice import ensure_choice, parts_of
from lexigraft.comparison.prunings import read_row
from lexigraft.comparison.recommendation import Recommendation, recommend_hybrid
from lexigraft.core.artifact import Manifest, read_manifest
from lexigraft.core.processes import is_leader
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.systems import System
from lexigraft.core.systems_table import DENSE, HYBRID
from lexigraft.data.collection import Collection
from lexigraft.stages.cells import MeasuredOn
from lexigraft.stages.dense_cells import ensure_dense_vectors
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.evaluate_text import WHOLE, evaluate_texts, wanted_evaluation
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.layout import JUDGED
from lexigraft.stages.operating_point import read_operating_point
from lexigraft.stages.text_searches import HybridChoice, open_text_search, searched_path

log = logging.getLogger(__name__)


@dataclass
class PeersOfRun:
    """Makes what is missing of them: first what trains, then, when all systems are there, the rest. `evaluations` are
    the folders of what was measured, `choices` what the hybrids are."""

    run: FinishedRun
    artifacts: Ensurer
    views: Mapping[str, Collection]
    progress: Progress = SILENT
    evaluations: list[Path] = field(default_factory=list)
    embedded: dict[tuple[str, str], Manifest] = field(default_factory=dict)  # by dense system and view
    choices: dict[str, HybridChoice] = field(default_factory=dict)

    def measure(self, recommended: Recommendation | None, on: MeasuredOn | None) -> Recommendation | None:
        """All of them `on` what the other systems are measured on, when every system is ready. What is `recommended` of
        the others is an unnamed part of a hybrid; what is recommended of all comes back. Hybrids are chosen even where
        nothing is measured."""
        systems = self.run.systems()
        for system in (one for one in systems if one.kind == DENSE):
            if on is not None:
                self._evaluate(system, on, {"vectors": self.embedded[system.name, on.view].fingerprint})
        taken = recommended
        for system in (one for one in systems if one.kind == HYBRID):
            row = self.hybrid(system, recommended.system if recommended else "", on)
            if self.run.settings.data.makes_pairs:
                taken = recommend_hybrid(taken, system.name, self.choices[system.name], row)
        return taken

    def train(self, system: System) -> None:
        """Train a dense system, and embed the documents of every view."""
        from lexigraft.dense.opening import ensure_dense_form
        from lexigraft.learn.dense_training import DenseTraining

        run, folder = self.run, self.run.folder.of(system)
        training = DenseTraining(
            run.collection, run.split, folder, system.settings, self.artifacts.of(system), self.progress
        )
        encoder = training.trained()
        if is_leader() and (reason := ensure_dense_form(folder.model(system.trained_part))):
            log.info("the dense encoder is run by torch: %s", reason)
        for view, collection in self.views.items():
            made = ensure_dense_vectors(self.artifacts, system, view, collection, encoder, self.progress)
            self.embedded[system.name, view] = made
        log.info("searchable now: lexigraft search --run %s --system %s", run.folder.root, system.name)

    def hybrid(self, system: System, recommended: str, on: MeasuredOn | None) -> Mapping[str, Any]:
        """Choose how its two systems are fused, and measure; its row of the report, empty where there is none."""
        parts = parts_of(self.run, system, recommended)
        self.choices[system.name] = ensure_choice(self.run, self.artifacts, system, parts)
        chosen = read_manifest(self.run.folder.choice(system.name))
        assert chosen is not None, "just made"
        if on is None:
            return {}
        self._evaluate(system, on, {"choice": chosen.fingerprint, **self._searched(parts, on.view)})
        return read_row(self.run.folder.evaluation(system.name, *WHOLE, on.view))

    def _searched(self, parts: Sequence[System], view: str) -> dict[str, str]:
        """What is searched of the parts of a hybrid, as parents. A choice has those of the judged view itself."""
        found = {part.name: read_manifest(searched_path(self.run.folder, view, part.name)) for part in parts}
        return {name: made.fingerprint for name, made in found.items() if made is not None and view != JUDGED}

    def _evaluate(self, system: System, on: MeasuredOn, parents: Mapping[str, str]) -> Manifest:
        run, settings, path = self.run, self.run.settings, self.run.folder.evaluation(system.name, *WHOLE, on.view)

        def make(folder: Path) -> None:
            opened = open_text_search(run.folder, on.view, system.name)
            facts = self._facts(system, on.view)
            evaluate_texts(opened, on, system.name, facts, settings.search, settings.evaluate, folder, self.progress)

        self.evaluations.append(path)
        wanted = wanted_evaluation(settings, on, system.name, parents)
        return self.artifacts.ensure("evaluate", f"evaluate {system.name}", path, wanted, make)

    def _facts(self, system: System, view: str) -> dict[str, Any]:
        """What a row says beside what is measured. A dense system multiplies every document and touches no postings; a
        hybrid touches those of its sparse parts."""
        if system.kind == DENSE:
            from lexigraft.dense.store import open_dense_vectors

            vectors = open_dense_vectors(self.run.folder.vectors(view, system.name), checksums=False)
            return {"FLOPS": None, "width": vectors.meta.width}
        touched = [self._flops(name, view) for name in self.choices[system.name].of if self.run.system(name).is_sparse]
        return {"FLOPS": sum(touched) if touched else None, "of": self.choices[system.name].of}

    def _flops(self, sparse: str, view: str) -> float:
        point = read_operating_point(self.run.folder, sparse)
        return float(read_row(self.run.folder.evaluation(sparse, point.qk, point.dk, view))["FLOPS"])

"""The peers of a run's sparse systems: dense ones, trained and embedded, and hybrids; each measured on the same
queries."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lexigraft.comparison.hybrid_choice import ensure_choice, fingerprint_at, parts_of
from lexigraft.comparison.prunings import read_row
from lexigraft.comparison.recommendation import Recommendation, recommend_hybrid
from lexigraft.core.artifact import Manifest
from lexigraft.core.processes import is_leader
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.systems import System
from lexigraft.core.systems_table import BM25, DENSE, HYBRID
from lexigraft.data.collection import Collection
from lexigraft.stages.cells import MeasuredOn
from lexigraft.stages.dense_cells import Embedded, ensure_dense_vectors
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.evaluate_text import WHOLE, evaluate_texts, wanted_evaluation
from lexigraft.stages.finished_run import FinishedRun
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
    embedded: dict[tuple[str, str], Manifest] = field(default_factory=dict)  # documents, by dense system and view
    choices: dict[str, HybridChoice] = field(default_factory=dict)

    def untrained(self) -> Recommendation | None:
        """Embed the documents for the encoders that are taken as they come, and choose the hybrids of those and BM25,
        whose judged index is there; what is recommended of these comes back."""
        systems, taken = self.run.systems(), None
        if not any(one.kind == DENSE for one in systems):
            return None
        from lexigraft.learn.dense_training import is_taken_as_it_comes

        ready = [one for one in systems if one.kind == DENSE and is_taken_as_it_comes(one.settings)]
        for system in ready:
            self.train(system)
        for system in (one for one in systems if one.kind == HYBRID) if ready else ():
            parts = parts_of(self.run, system)
            if all(part.kind == BM25 or part in ready for part in parts):
                self._choose(system, parts)
                if self.run.settings.data.makes_pairs:
                    taken = recommend_hybrid(taken, system.name, self.choices[system.name], {})
        return taken

    def measure(
        self, recommended: Recommendation | None, on: MeasuredOn | None, lead: float | None = None
    ) -> Recommendation | None:
        """All of them, when every system is ready, on what the run measures (None: nothing is judged). What is
        `recommended` of the others, with its `lead` over BM25 on made queries, is an unnamed part of a hybrid of what
        trained; what is recommended of all comes back."""
        systems, taken = self.run.systems(), recommended
        for system in (one for one in systems if one.kind == DENSE):
            if on is not None:
                self._evaluate(system, on, {"vectors": self.embedded[system.name, on.view].fingerprint})
        for system in (one for one in systems if one.kind == HYBRID):
            self.hybrid(system, recommended.system if recommended is not None else "", on)
            if self.run.settings.data.makes_pairs:
                row = {} if on is None else read_row(self.run.folder.evaluation(system.name, *WHOLE, on.view))
                taken = recommend_hybrid(taken, system.name, self.choices[system.name], row, lead)
        return taken

    def train(self, system: System) -> None:
        """Train a dense system, and embed the documents of every view, unless that is done."""
        if any(name == system.name for name, _ in self.embedded):
            return
        from lexigraft.dense.opening import ensure_dense_form
        from lexigraft.learn.dense_training import DenseTraining

        run, folder = self.run, self.run.folder.of(system)
        training = DenseTraining(
            run.collection, run.split, folder, system.settings, self.artifacts.of(system), self.progress
        )
        encoder = training.trained()
        if is_leader() and (reason := ensure_dense_form(folder.model(system.trained_part))):
            log.info("the dense encoder is run by torch: %s", reason)
        done = None  # the view that is searched, of which the other one has most texts, or many
        for view, collection in self.views.items():
            made = ensure_dense_vectors(self.artifacts, system, view, collection, encoder, self.progress, done)
            if done is None:
                log.info("searchable now: lexigraft search --run %s --system %s", run.folder.root, system.name)
            self.embedded[system.name, view], done = made, Embedded(view, collection, made)

    def hybrid(self, system: System, recommended: str, on: MeasuredOn | None) -> None:
        """Choose how its two systems are fused, and measure."""
        folder, parts = self.run.folder, parts_of(self.run, system, recommended)
        self._choose(system, parts)
        if on is not None:
            searched = {part.name: searched_path(folder, on.view, part.name) for part in parts}
            made_of = {"choice": folder.choice(system.name), **searched}
            self._evaluate(system, on, {name: fingerprint_at(path) for name, path in made_of.items()})

    def _choose(self, system: System, parts: Sequence[System]) -> None:
        before = self.choices.get(system.name)
        if before is None or before.of != [part.name for part in parts]:
            self.choices[system.name] = ensure_choice(self.run, self.artifacts, system, parts)
            log.info("searchable now: lexigraft search --run %s --system %s", self.run.folder.root, system.name)

    def _evaluate(self, system: System, on: MeasuredOn, parents: Mapping[str, str]) -> None:
        run, settings = self.run, self.run.settings
        path = run.folder.evaluation(system.name, *WHOLE, on.view)

        def make(folder: Path) -> None:
            opened, facts = open_text_search(run.folder, on.view, system.name), self._facts(system, on)
            evaluate_texts(opened, on, system.name, facts, settings.search, settings.evaluate, folder, self.progress)

        self.evaluations.append(path)
        wanted = wanted_evaluation(settings, on, system.name, parents)
        self.artifacts.ensure("evaluate", f"evaluate {system.name}", path, wanted, make)

    def _facts(self, system: System, on: MeasuredOn) -> dict[str, Any]:
        """What a row says beside what is measured. A dense system multiplies every document and touches no postings; a
        hybrid touches those of its sparse parts that it asks."""
        if system.kind == DENSE:
            from lexigraft.dense.store import open_dense_vectors

            vectors = open_dense_vectors(self.run.folder.vectors(on.view, system.name), checksums=False)
            return {"FLOPS": None, "width": vectors.meta.width}
        choice = self.choices[system.name]
        touched = [self._flops(name, on.view) for name in choice.asked if self.run.system(name).is_sparse]
        return {"FLOPS": sum(touched) if touched else None, "of": choice.of}

    def _flops(self, sparse: str, view: str) -> float:
        point = read_operating_point(self.run.folder, sparse)
        return float(read_row(self.run.folder.evaluation(sparse, point.qk, point.dk, view))["FLOPS"])

"""The whole job: `run` takes a collection from text to report, doing only what is not done yet."""

import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from lexigraft.comparison.operating_points import choose_operating_points
from lexigraft.core.artifact import Manifest, read_manifest, write_json
from lexigraft.core.config import settings_as_dict
from lexigraft.core.errors import SettingError
from lexigraft.core.lock import writer_lock
from lexigraft.core.processes import is_leader
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.resources import measured
from lexigraft.core.settings import AUTO, FORMER_NAME, LEXICAL, Settings
from lexigraft.core.systems import OWN_HOME, System, systems_of
from lexigraft.core.systems_table import BM25
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.learn.model_training import ModelTraining, why_not
from lexigraft.learn.own_settings.chosen import own_settings
from lexigraft.learn.own_settings.given_time import GivenTime
from lexigraft.learn.own_settings.kept import for_report
from lexigraft.measure.measures import check_measures
from lexigraft.stages.cells import (
    MeasuredOn,
    document_config,
    ensure_evaluation,
    ensure_index,
    ensure_lexical_vectors,
)
from lexigraft.stages.collect import PYDOCS, collect, collected, source_description
from lexigraft.stages.ensure import STAGES, Ensurer
from lexigraft.stages.evaluate import JudgedQueries, measure_names
from lexigraft.stages.expanded_documents import Expansions
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.layout import JUDGED, Contents, RunFolder
from lexigraft.stages.operating_point import OperatingPoint, write_operating_points
from lexigraft.stages.report import assemble_report, write_report
from lexigraft.vectors import store as vectors_store

COLLECTION_FORMAT = 1

log = logging.getLogger(__name__)


def run(
    source: str,
    out: Path,
    settings: Settings | None = None,
    from_stage: str | None = None,
    progress: Progress = SILENT,
    time: GivenTime | None = None,
) -> dict[str, Any]:
    """Run every stage for `source` (a collection folder, or "pydocs") into `out` and return the report (of several
    processes the leader does; the others return nothing).

    A second call continues where the first stopped and redoes what a changed setting touches; `from_stage` forces that
    stage and those after it. With a `time`, settings that are not by hand are chosen so that the run fits into it.
    """
    if from_stage is not None and from_stage not in STAGES:
        raise SettingError(f"--from {from_stage!r} is not a stage; one of {', '.join(STAGES)}")
    return _Run(source, RunFolder(out), settings or Settings(), from_stage, progress, time).all_stages()


def train_until(
    source: str, out: Path, settings: Settings, stage: str, from_stage: str | None = None, progress: Progress = SILENT
) -> Path:
    """Make the run's own model of `source` in the run folder `out` as far as `stage` (vocabulary, pretrain or
    finetune), doing only what is not done yet; returns the folder of what that stage leaves."""
    if settings.systems:
        raise SettingError(
            f"the settings name the systems {', '.join(settings.systems)}, and this command makes one model; make them "
            "with: lexigraft run, or leave [systems] out"
        )
    return _Run(source, RunFolder(out), settings, from_stage, progress).train_until(stage)


def with_systems(settings: Settings, collection: Collection, former: Contents | None = None) -> Settings:
    """`run.systems` = auto as what it means for a collection, in a folder where a run that had `former` contents may
    have been before."""
    if settings.run.systems != (AUTO,):
        return settings
    if settings.systems:
        systems = tuple(dict.fromkeys((BM25, *settings.systems)))
    elif reason := why_not(collection):
        log.info("no model is trained: %s", reason)
        systems = LEXICAL
    else:
        # Runs from before models were called what they are keep the name: nothing of theirs is made again.
        kept = former is not None and former.models.get(FORMER_NAME) == OWN_HOME
        systems = (BM25, FORMER_NAME if kept else settings.model.usual_name)
    return replace(settings, run=replace(settings.run, systems=systems))


class _Run:
    """One call of `run`: the order of the stages and what each hands to the next."""

    def __init__(
        self,
        source: str,
        folder: RunFolder,
        settings: Settings,
        from_stage: str | None,
        progress: Progress,
        time: GivenTime | None = None,
    ) -> None:
        self.source, self.folder, self.settings, self.progress = source, folder, settings, progress
        self.time = time
        self.artifacts = Ensurer(folder, from_stage)
        self.encoded: dict[str, JudgedQueries] = {}  # by system: encoded once, measured at every pruning

    def all_stages(self) -> dict[str, Any]:
        description = self.description()
        check_measures(measure_names(self.settings.evaluate))
        with self._lock():
            self.collect(description)
            views = collected(self.source, self.settings.data, self.folder.collection)
            self.settings = with_systems(self.settings, views[JUDGED], self.folder.read_contents())
            split = views[JUDGED].evaluation_split(self.settings.data.split)
            self.settings = own_settings(self.settings, self.time, views, split, self.artifacts, self.progress)
            if is_leader():
                self.folder.write_contents(views, self.systems())
            indexes = self.index_views(views, split)
            rows = [] if split is None else self.evaluate(views[JUDGED], split, indexes)
            points = self.operating_points(views, split, indexes)
            if split is None:
                message = "%s has no test or dev judgements: it is indexed and searchable, and nothing is measured"
                log.warning(message, self.source)
            if not is_leader():
                return {}
            report = self.report(views, split, rows, points)
            write_json(self.folder.settings, {"source": self.source, **settings_as_dict(self.settings)})
            return report

    def _lock(self) -> AbstractContextManager[None]:
        return writer_lock(self.folder.root) if is_leader() else nullcontext()

    def description(self) -> dict[str, Any]:
        """What the collection is; read before anything is written, so that a bad source leaves no folder behind."""
        description = source_description(self.source, self.settings.data)
        if Path(self.source).resolve() == self.folder.root.resolve():
            raise SettingError(
                f"--out {self.folder.root} is the collection itself; give a folder of its own for the run"
            )
        if is_leader() and (name := self.folder.in_the_way()) is not None:
            raise SettingError(f"--out {self.folder.root} is no run and has a {name} of its own; give another folder")
        return description

    def train_until(self, stage: str) -> Path:
        description = self.description()
        with self._lock():
            self.collect(description)
            judged = collected(self.source, self.settings.data, self.folder.collection)[JUDGED]
            own = System("", self.settings, OWN_HOME)
            training = self.training(judged, judged.evaluation_split(self.settings.data.split), own)
            part, make = {
                "vocabulary": ("vocabulary", training.vocabulary),
                "pretrain": ("pretrained", training.pretrained),
                "finetune": ("finetuned", training.finetuned),
            }[stage]
            make()
        return self.folder.model(part)

    def manifest(self, kind: str, version: int, config: dict[str, Any], parents: dict[str, str]) -> Manifest:
        """Of stages that draw nothing at random: the seed is only a note. Training has it in its recipe."""
        return Manifest(kind, version, config, parents, notes={"seed": self.settings.run.seed})

    def collect(self, description: dict[str, Any]) -> Manifest:
        wanted = self.manifest("collection", COLLECTION_FORMAT, description, {})
        return self.artifacts.ensure(
            "collect", "collect", self.folder.collection, wanted,
            lambda folder: collect(self.source, self.settings.data, folder, self.progress),
        )  # fmt: skip

    def systems(self) -> list[System]:
        """Those of the run, in the order of its settings."""
        return systems_of(self.settings)

    def index_views(self, views: dict[str, Collection], split: str | None) -> dict[tuple[str, int], Manifest]:
        """Encode and index every view with every system, BM25 first; returns the judged indexes by (system, dk)."""
        judged: dict[tuple[str, int], Manifest] = {}
        for system in sorted(self.systems(), key=lambda one: one.is_model):
            training = self.training(views[JUDGED], split, system) if system.is_model else None
            model = training.finetuned() if training is not None else None
            for view, collection in views.items():
                expansions = training.expansions(view, collection) if training is not None else None
                vectors = self.encode(view, collection, system, model, expansions)
                budgets = system.prunings if view == JUDGED else ()
                for keep in dict.fromkeys([0, *(dk for _, dk in budgets)]):
                    made = self.index(view, system.name, keep, vectors)
                    if view == JUDGED:
                        judged[system.name, keep] = made
                if view == next(iter(views)):
                    log.info("searchable now: lexigraft search --run %s --system %s", self.folder.root, system.name)
        return judged

    def training(self, collection: Collection, split: str | None, system: System) -> ModelTraining:
        folder, artifacts = self.folder.of(system), self.artifacts.of(system)
        return ModelTraining(collection, split, folder, system.settings, artifacts, self.progress)

    def encode(
        self, view: str, collection: Collection, system: System, model: Manifest | None, expansions: Expansions | None
    ) -> Manifest:
        if model is None:
            return ensure_lexical_vectors(self.artifacts, system.settings, view, collection, system.name, self.progress)
        path = self.folder.vectors(view, system.name)
        config = {**document_config(self.settings), "encoder": "model"}
        # New queries or judgements change no document.
        parents = {"corpus": collection.digest(CORPUS), "model": model.fingerprint}

        if expansions is not None:
            parents["expansions"] = expansions.digest

        def make(folder: Path) -> None:
            from lexigraft.stages.encode_model import encode_with_trained_model

            encode_with_trained_model(
                collection, self.settings.data, self.folder.of(system).model("finetuned"), folder, path,
                self.progress,
                expansions.file if expansions is not None else None,
            )  # fmt: skip

        wanted = self.manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, config, parents)
        return self.artifacts.ensure("encode", f"encode {system.name} ({view})", path, wanted, make)

    def index(self, view: str, system: str, keep: int, vectors: Manifest) -> Manifest:
        return ensure_index(self.artifacts, self.settings, view, system, keep, vectors, self.progress)

    def evaluate(self, collection: Collection, split: str, indexes: dict[tuple[str, int], Manifest]) -> list[Path]:
        return [
            ensure_evaluation(
                self.artifacts, self.settings, MeasuredOn(collection, split), system.name, keep,
                indexes[system.name, keep[1]], self.encoded, self.progress,
            )
            for system in self.systems()
            for keep in system.prunings
        ]  # fmt: skip

    def operating_points(
        self, views: dict[str, Collection], split: str | None, indexes: dict[tuple[str, int], Manifest]
    ) -> dict[str, OperatingPoint]:
        """Choose what each system is searched with; the view that is searched gets the index it takes."""
        run = FinishedRun(self.folder, self.source, self.settings, views[JUDGED], split)
        points = choose_operating_points(run, self.artifacts, indexes, self.progress)
        searched = next(iter(views))
        for system, point in points.items():
            if searched != JUDGED and point.dk:
                vectors = read_manifest(self.folder.vectors(searched, system))
                assert vectors is not None, "made before"
                self.index(searched, system, point.dk, vectors)
        if is_leader():
            write_operating_points(self.folder, points)
        return points

    def report(
        self,
        views: dict[str, Collection],
        split: str | None,
        evaluations: list[Path],
        points: dict[str, OperatingPoint],
    ) -> dict[str, Any]:
        with measured() as usage:
            name = PYDOCS if self.source == PYDOCS else views[JUDGED].name
            report = assemble_report(
                name, split, evaluations, points, self.artifacts.timings(), self.read_of_documents()
            )
            report |= self.teachers()
            report |= for_report(self.folder) if self.time is not None else {}
            write_report(report, self.folder)
        self.artifacts.labels.append("report")
        self.artifacts.record("report", usage.seconds, usage.peak_rss_mib)
        report["stages"] = self.artifacts.timings()
        write_json(self.folder.report("json"), report)
        return report

    def read_of_documents(self) -> dict[str, Mapping[str, Any]]:
        """What each model reads of the documents that are measured, as its vectors say."""
        models = (system.name for system in self.systems() if system.is_model)
        return {name: vectors_store.read_meta(self.folder.vectors(JUDGED, name)).encoding for name in models}

    def teachers(self) -> dict[str, Any]:
        """What the teachers of the models are worth: of the run's own as "teacher", of others by name as "teachers"."""
        found: dict[str, Any] = {}
        for system in self.systems():
            if not system.is_model or not system.settings.teacher.trains:
                continue
            worth = self.folder.of(system).teacher_quality()
            if system.home == OWN_HOME:
                found |= worth
            elif worth:
                found.setdefault("teachers", {})[system.name] = worth["teacher"]
        return found

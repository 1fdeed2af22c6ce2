"""The whole job: `run` takes a collection from text to report, doing only what is not done yet."""

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from lexigraft.comparison.blending import ChosenBlend, chosen_blend, ensure_blended_vectors, recommend_blend
from lexigraft.comparison.cost_limits import with_aim
from lexigraft.comparison.operating_points import choose_operating_points
from lexigraft.comparison.peers import PeersOfRun
from lexigraft.comparison.prunings import PruningsOnValidation
from lexigraft.comparison.recommendation import Recommendation, recommend, recommend_by_user
from lexigraft.core.artifact import Manifest, read_manifest
from lexigraft.core.cut import DocumentCut
from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.core.lock import writer_lock
from lexigraft.core.processes import is_leader
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.resources import measured
from lexigraft.core.sealed_json import write_sealed
from lexigraft.core.settings import AUTO, BLEND, GRAFTED, Settings
from lexigraft.core.systems import OWN_HOME, System, in_order_of_training, system_of, systems_of
from lexigraft.core.systems_table import BM25, DENSE
from lexigraft.data.collection import Collection
from lexigraft.learn.advice import advice
from lexigraft.learn.grafting import ensure_grafted
from lexigraft.learn.model_training import ModelTraining
from lexigraft.learn.taken_folder import TakenFolder
from lexigraft.learn.usual_systems import with_systems
from lexigraft.measure.measures import check_measures
from lexigraft.own_settings.choice import Choice
from lexigraft.own_settings.chosen import own_settings
from lexigraft.own_settings.encoder_time import encoder_in_time
from lexigraft.own_settings.given_time import GivenTime
from lexigraft.own_settings.graft_time import graft_in_time
from lexigraft.own_settings.kept import for_report
from lexigraft.stages.cells import (
    MeasuredOn,
    ensure_evaluation,
    ensure_index,
    ensure_lexical_vectors,
)
from lexigraft.stages.collect import PYDOCS, collect
from lexigraft.stages.ensure import STAGES, Ensurer, barrier
from lexigraft.stages.evaluate import JudgedQueries, measure_names
from lexigraft.stages.expanded_documents import Expansions
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.layout import FULL, JUDGED, Contents, RunFolder
from lexigraft.stages.made import MADE, judged_split, measured_on, with_pairs
from lexigraft.stages.made import for_report as made_for_report
from lexigraft.stages.model_cells import ensure_model_vectors
from lexigraft.stages.operating_point import OperatingPoint, write_operating_points
from lexigraft.stages.report import MADE_WITH, assemble_report, write_report
from lexigraft.stages.report_graft import of_graft
from lexigraft.stages.report_peers import with_peers
from lexigraft.stages.run_facts import read_of_documents, worth_of_teachers
from lexigraft.stages.run_settings import settings_checksum, write_settings
from lexigraft.stages.text_searches import HybridChoice
from lexigraft.stages.texts import ensure_texts
from lexigraft.vectors.deciding_words import decide_words
from lexigraft.vectors.store import read_meta

COLLECTION_FORMAT = 1

log = logging.getLogger(__name__)


def run(
    source: str,
    out: Path,
    settings: Settings | None = None,
    from_stage: str | None = None,
    progress: Progress = SILENT,
    time: GivenTime | None = None,
    replace_other: bool = False,
) -> dict[str, Any]:
    """Run every stage for `source` (a collection folder, or "pydocs") into `out` and return the report (of several
    processes the leader does; the others return nothing).

    A second call continues where the first stopped and redoes what a changed setting touches; `from_stage` forces that
    stage and those after it. With a `time`, settings that are not by hand are chosen so that the run fits into it.
    A folder with the run of another collection is refused or, with `replace_other`, emptied of it first.
    """
    if from_stage is not None and from_stage not in STAGES:
        raise SettingError(f"--from {from_stage!r} is not a stage; one of {', '.join(STAGES)}")
    call = _Run(source, RunFolder(out), settings or Settings(), from_stage, progress, time, replace_other)
    return call.all_stages()


def train_until(
    source: str,
    out: Path,
    settings: Settings,
    stage: str,
    from_stage: str | None = None,
    progress: Progress = SILENT,
    replace_other: bool = False,
) -> Path:
    """Make the run's own model of `source` in the run folder `out` as far as `stage` (vocabulary, pretrain or
    finetune), doing only what is not done yet; returns the folder of what that stage leaves."""
    if settings.systems:
        raise SettingError(
            f"the settings name the systems {', '.join(settings.systems)}, and this command makes one model; make them "
            "with: lexigraft run, or leave [systems] out"
        )
    return _Run(source, RunFolder(out), settings, from_stage, progress, None, replace_other).train_until(stage)


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
        replace_other: bool = False,
    ) -> None:
        self.source, self.folder, self.settings, self.progress = source, folder, settings, progress
        self.given = settings  # before anything is decided by what the collection is
        self.time, self.place = time, TakenFolder(source, folder, settings, replace_other)
        self.artifacts = Ensurer(folder, from_stage)
        self.blend: tuple[System, ChosenBlend, Manifest] | None = None  # of which model, how much, and its artifact
        self.encoded: dict[str, JudgedQueries] = {}  # by system: encoded once, measured at every pruning
        self.bm25: dict[str, Manifest] = {}  # vectors, by view
        self.indexes: dict[str, dict[tuple[str, DocumentCut], Manifest]] = {FULL: {}, JUDGED: {}}  # by system and dk
        self.contents = Contents([], [], {})  # what an earlier call says of the run
        self.timed: list[Choice] = []  # what each call chooses anew for the time it is given

    def all_stages(self) -> dict[str, Any]:
        description = self.place.description()
        check_measures(measure_names(self.settings.evaluate))
        with self._lock():
            self.place.take(description)
            self.contents = self._contents_before()
            views, timed = self.views(description, self.index_words), self.time is not None
            self.settings = with_systems(self.settings, views[JUDGED], self.contents, timed)
            split = judged_split(self.settings, views[JUDGED])
            in_order_of_training(self.systems())  # says what is wrong before anything is trained
            self.index_words(views)
            in_time = views, split, self.artifacts, self.progress
            self.settings, self.timed = encoder_in_time(self.settings, self.time, *in_time)
            recommended = self._recommended_before()
            self.settings, graft = graft_in_time(self.settings, self.time, views, self.artifacts)
            self.timed += graft
            self._write_contents(views, recommended)
            run = FinishedRun(self.folder, self.source, self.settings, views[JUDGED], split)
            peers = PeersOfRun(run, self.artifacts, views, self.progress)
            self.index_lexical(views)
            learns = any(system.learns for system in self.systems())
            on = measured_on(self.settings, views, split)
            self.index_grafted(views, {JUDGED, on.view if on is not None else JUDGED} if learns else views)
            if first := peers.untrained():  # what needs no training, before what trains
                self._write_contents(views, recommended := first.system)
            self.settings, left_out = own_settings(self.settings, self.time, *in_time)
            self.timed += left_out
            self._write_contents(views, recommended)
            run = replace(run, settings=self.settings)
            validated = PruningsOnValidation(run, self.artifacts, self.indexes[JUDGED], self.progress)
            peers = replace(peers, run=run)
            self.index_views(views, validated, peers)
            points = self.operating_points(views, validated)
            rows = [] if on is None else self.evaluate(on, validated, points)
            taken, lead = recommend(run, validated, points), None
            if self.blend is not None and self.settings.data.makes_pairs:  # it holds as much of the model as is of use
                blend, point = self.blend[1], points[BLEND]
                taken, lead = recommend_blend(blend, point), (point.mrr or blend.bm25) - blend.bm25
            taken = recommend_by_user(run, peers.measure(taken, on, lead))
            if taken is not None and taken.system == GRAFTED:
                self.index_grafted(views, views)  # the view that is searched, if what trains was not worth it
            self._write_contents(views, taken.system if taken else "")
            if on is None and learns:
                message = "%s has no test or dev judgements: it is indexed and searchable, and nothing is measured"
                log.warning(message, self.source)
            if not is_leader():
                return {}
            report = self.report(views, on, [*rows, *peers.evaluations], points, taken, peers.choices)
            write_settings(self.folder, self.source, self.settings)
            return report

    def _contents_before(self) -> Contents:
        """What an earlier call says of the run; a damaged file says nothing, and is written anew."""
        try:
            return self.folder.read_contents()
        except ArtifactError as error:
            log.warning("%s", error)
            return Contents([], [], {})

    def _recommended_before(self) -> str:
        """The system that a search takes until it is found out again. Where pairs are made it is no model that happens
        to be ready, which may be worse than BM25."""
        if not self.settings.data.makes_pairs:
            return ""
        names = self.settings.run.systems
        return next((name for name in (self.contents.recommended, BM25) if name in names), "")

    def _write_contents(self, views: Iterable[str], recommended: str) -> None:
        if is_leader():
            self.folder.write_contents(views, self.systems(), recommended)

    def _lock(self) -> AbstractContextManager[None]:
        return writer_lock(self.folder.root) if is_leader() else nullcontext()

    def train_until(self, stage: str) -> Path:
        description = self.place.description()
        with self._lock():
            self.place.take(description, trains=True)
            judged = self.views(description)[JUDGED]
            split = judged_split(self.settings, judged)
            own = System(self.settings.model.usual_name, self.settings, OWN_HOME)
            if stage == "finetune":
                own = self.steered(judged, split, own)
            training = self.training(judged, split, own)
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

    def views(
        self, description: dict[str, Any], before_pairs: Callable[[dict[str, Collection]], None] | None = None
    ) -> dict[str, Collection]:
        """The collection as it is read, with pairs that are made of it where the settings ask for them, after what is
        to be done before that."""
        self.collect(description)

        def before(own: Collection) -> None:
            self.settings = decide_words(self.settings, own.documents())
            if before_pairs is not None:
                before_pairs({FULL: own})

        found, views = with_pairs(self.source, self.settings, self.artifacts, self.progress, before)
        own = self.settings  # where pairs are made, decided by the documents as they are
        found = replace(found, words=own.words, lexical=own.lexical, vocab=own.vocab)
        self.settings = decide_words(found, views[JUDGED].documents())
        return views

    def index_words(self, views: dict[str, Collection]) -> None:
        """The texts of the view that is searched, and BM25 over them, unless the run shall not have it: before anything
        that takes longer, so that whatever ends the run later leaves something to search."""
        searched = next(iter(views))
        if searched in self.bm25:
            return
        ensure_texts(self.artifacts, self.settings, searched, views[searched], self.progress)
        if not {AUTO, BM25} & {*self.settings.run.systems}:
            return
        if is_leader() and not (self.contents.views[:1] == [searched] and BM25 in self.contents.systems):
            self.folder.write_contents(views, [system_of(self.settings, BM25)])
        self.index_vectors(views, system_of(self.settings, BM25), searched)

    def index_lexical(self, views: dict[str, Collection]) -> None:
        """BM25 of every view, by whose cost models are steered."""
        for system in (one for one in self.systems() if one.kind == BM25):
            for view in views:
                self.index_vectors(views, system, view)

    def index_grafted(self, views: dict[str, Collection], wanted: Iterable[str]) -> None:
        """What BM25's words gain from documents' vectors, in the views that are wanted; nothing is trained for it."""
        for system in (one for one in self.systems() if one.kind == GRAFTED):
            for view in (view for view in wanted if (GRAFTED, 0) not in self.indexes[view]):
                lexical = self.bm25[view]
                made = ensure_grafted(self.artifacts, system, view, views[view], lexical, self.progress)
                self.index_vectors(views, system, view, made)

    def index_vectors(
        self, views: dict[str, Collection], system: System, view: str, vectors: Manifest | None = None
    ) -> None:
        """Index a system over a view; the `vectors` of BM25, of which None are given, are made first."""
        searched = next(iter(views))
        if vectors is None:
            of_bm25 = system.name == BM25
            made = self.bm25.get(view) if of_bm25 else None
            vectors = made or ensure_lexical_vectors(
                self.artifacts, system.settings, view, views[view], system.name, self.progress
            )
            if of_bm25:
                self.bm25[view] = vectors
        said = (system.name, 0) in self.indexes[view]
        budgets = system.prunings if view == JUDGED else ()
        for keep in dict.fromkeys([0, *(dk for _, dk in budgets)]):
            self.index(view, system.name, keep, vectors)
        if view == searched and not said:
            log.info("searchable now: lexigraft search --run %s --system %s", self.folder.root, system.name)

    def systems(self) -> list[System]:
        """Those of the run, in the order of its settings."""
        return systems_of(self.settings)

    def sparse_systems(self) -> list[System]:
        """Those whose texts are weighted terms."""
        return [system for system in self.systems() if system.is_sparse]

    def index_views(self, views: dict[str, Collection], validated: PruningsOnValidation, peers: PeersOfRun) -> None:
        """Train what learns, and encode and index every view with it: BM25, by whose cost models are steered, is there,
        and teachers come before those that learn from them."""
        for system in in_order_of_training(self.systems()):
            if system.kind == DENSE:
                peers.train(system)
            elif system.name == BLEND:
                choice = self.blend = chosen_blend(validated.run, validated)
                for view in views:
                    self.index_vectors(
                        views, system, view, ensure_blended_vectors(validated.run, view, *choice, self.artifacts)
                    )
            elif system.is_model:
                training = self.training(views[JUDGED], validated.run.split, with_aim(validated.run, validated, system))
                model = training.finetuned()
                for view, collection in views.items():
                    expansions = training.expansions(view, collection)
                    self.index_vectors(views, system, view, self.encode(view, collection, system, model, expansions))

    def steered(self, judged: Collection, split: str | None, own: System) -> System:
        """The run's own model with the cost that its training is steered to: that of BM25, which is indexed first, as
        `run` would have it."""
        settings = replace(self.settings, run=replace(self.settings.run, systems=(BM25, own.name)))
        run = FinishedRun(self.folder, self.source, settings, judged, split)
        validated = PruningsOnValidation(run, self.artifacts, {}, self.progress)
        if own.settings.finetune.aim == AUTO and own.settings.prune.budget == BM25:
            vectors = ensure_lexical_vectors(self.artifacts, settings, JUDGED, judged, BM25, self.progress)
            validated.indexes[BM25, 0] = self.index(JUDGED, BM25, 0, vectors)
        return with_aim(run, validated, own)

    def training(self, collection: Collection, split: str | None, system: System) -> ModelTraining:
        folder, artifacts = self.folder.of(system), self.artifacts.of(system)
        return ModelTraining(collection, split, folder, system.settings, artifacts, self.progress)

    def encode(
        self, view: str, collection: Collection, system: System, model: Manifest, expansions: Expansions | None
    ) -> Manifest:
        return ensure_model_vectors(self.artifacts, system, view, collection, model, expansions, self.progress)

    def index(self, view: str, system: str, keep: DocumentCut, vectors: Manifest) -> Manifest:
        """The index of a system's vectors, made or kept once in a call."""
        made = self.indexes[view]
        if (system, keep) not in made:
            made[system, keep] = ensure_index(self.artifacts, self.settings, view, system, keep, vectors, self.progress)
        return made[system, keep]

    def evaluate(
        self,
        on: MeasuredOn,
        validated: PruningsOnValidation,
        points: dict[str, OperatingPoint],
    ) -> list[Path]:
        """Measure every system at its prunings, the one that it is searched with among them."""

        def index(system: str, keep: DocumentCut) -> Manifest:
            if on.view == JUDGED:
                return validated.index(system, keep)
            vectors = read_manifest(self.folder.vectors(on.view, system))
            assert vectors is not None, "made before"
            return self.index(on.view, system, keep, vectors)

        return [
            ensure_evaluation(
                self.artifacts, self.settings, on, system.name, keep, index(system.name, keep[1]), self.encoded,
                self.progress,
            )
            for system in self.sparse_systems()
            for keep in dict.fromkeys((*system.prunings, (points[system.name].qk, points[system.name].dk)))
        ]  # fmt: skip

    def operating_points(
        self, views: dict[str, Collection], validated: PruningsOnValidation
    ) -> dict[str, OperatingPoint]:
        """Choose what each system is searched with; the view that is searched gets the index it takes."""
        points = choose_operating_points(validated.run, validated)
        searched = next(iter(views))
        for system, point in points.items():
            if searched != JUDGED and point.dk:
                vectors = read_manifest(self.folder.vectors(searched, system))
                assert vectors is not None, "made before"
                self.index(searched, system, point.dk, vectors)
        if is_leader():
            write_operating_points(self.folder, points)
        barrier()  # hybrids read them
        return points

    def advice(self, views: dict[str, Collection]) -> dict[str, Any]:
        """What the report says where texts were all there is."""
        sparse = self.sparse_systems()
        if any(system.learns for system in self.systems()):
            return {}
        n_documents = read_meta(self.folder.vectors(next(iter(views)), sparse[0].name)).n_rows
        return {
            "advice": advice(
                self.source, str(self.folder.root), self.given, self.settings.run.systems, n_documents
            )._asdict()
        }

    def report(
        self,
        views: dict[str, Collection],
        on: MeasuredOn | None,
        evaluations: list[Path],
        points: dict[str, OperatingPoint],
        recommended: Recommendation | None,
        hybrids: Mapping[str, HybridChoice],
    ) -> dict[str, Any]:
        with measured() as usage:
            made = made_for_report(self.folder, self.settings, on)
            name = PYDOCS if self.source == PYDOCS else views[FULL if made else JUDGED].name
            split = MADE if made and made["pairs"]["measured"] else on.split if on is not None else None
            report = assemble_report(
                name,
                split,
                evaluations,
                points,
                self.artifacts.timings(),
                read_of_documents(self.folder, self.systems()),
            )
            report |= with_peers(report, self.folder, hybrids, on.view if on is not None else JUDGED)
            report |= {**worth_of_teachers(self.folder, self.systems()), **made}
            report |= of_graft(self.folder, JUDGED, self.systems())
            report |= self.advice(views) if on is None else {}
            report[MADE_WITH] = settings_checksum(self.source, self.settings)
            if recommended is not None:
                report["recommended"] = recommended._asdict()
            report |= for_report(self.folder, self.time, self.timed) if self.time is not None else {}
            write_report(report, self.folder)
        self.artifacts.labels.append("report")
        self.artifacts.record("report", usage.seconds, usage.peak_rss_mib)
        report["stages"] = self.artifacts.timings()
        write_sealed(self.folder.report("json"), report)
        return report

"""The teacher of a run: negatives by BM25, a cross-encoder trained with them, its scores, and its worth; each kept or
made."""

import hashlib
import logging
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexigraft.core.artifact import Manifest, canonical_json, recipe
from lexigraft.core.progress import Progress
from lexigraft.core.settings import FinetuneSettings, Settings
from lexigraft.data.collection import CORPUS, QUERIES, Collection
from lexigraft.learn.mined_negatives import BM25, MINED, MinedNegatives
from lexigraft.learn.teacher import training as teacher_training
from lexigraft.learn.teacher.quality import DEPTH, Asked, measure_teacher, read_worth
from lexigraft.learn.teacher.scoring import score_to_file, wanted_pairs
from lexigraft.learn.teacher.training import Lesson, teacher_config, train_teacher
from lexigraft.learn.training_data import TRAIN, held_out, queries_apart
from lexigraft.model.backbone import default_device
from lexigraft.model.cross_encoder import CrossEncoder, open_cross_encoder
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.layout import JUDGED, RunFolder

if TYPE_CHECKING:
    from lexigraft.learn.backbone_choice import BackboneChoice

FORMAT_VERSION = 1  # of what is here beside the cross-encoder
STAGE = "teacher"
SCORED = "scores.trec"
VALIDATION_QUERIES = 250  # of those held out, at most, are ranked anew to tell whether the teacher is worth hearing

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TeacherStage:
    """Makes what is missing of a run's teacher."""

    collection: Collection
    measured_split: str | None
    folder: RunFolder
    backbone: "BackboneChoice"  # of the run, as its masked language model left it
    settings: Settings
    artifacts: Ensurer
    progress: Progress

    def taught(self) -> FinetuneSettings:
        """The settings of fine-tuning, with the files that the teacher leaves."""
        by_bm25 = MinedNegatives(STAGE, self.collection, self.folder, self.settings, self.artifacts, self.progress)
        index = by_bm25.index()
        negatives = by_bm25.mined(self.folder.teacher("negatives"), self.settings.teacher.depth)
        teacher = self._teacher(negatives)
        self._scores(teacher, negatives)
        if self.measured_split is not None and self.settings.teacher.measured_queries:
            qrels = self.collection.qrels(self.measured_split)
            asked = Asked(self.measured_split, qrels, self.settings.teacher.measured_queries)
            self._quality("quality", asked, teacher, index)
        else:
            shutil.rmtree(self.folder.teacher("quality"), ignore_errors=True)  # of a former call
        settings = replace(self.settings.finetune, negatives=str(self.folder.teacher("negatives") / MINED))
        if self._is_worse(teacher, index):
            # Its negatives are BM25's and stay; where it alone was to be learned from, judgements are instead.
            return replace(settings, kl=0.0, margin_mse=0.0, in_batch=settings.in_batch or 1.0)
        return replace(settings, teacher=str(self.folder.teacher("scores") / SCORED))

    def _is_worse(self, teacher: Manifest, index: Manifest) -> bool:
        """Whether the teacher ranks worse than BM25 on queries that fine-tuning holds out, which is said."""
        qrels = held_out(self.collection, self.measured_split, self.settings.finetune)
        if not qrels:
            return False
        self._quality("validation", Asked("held out", qrels, VALIDATION_QUERIES), teacher, index)
        worth = read_worth(self.folder.teacher("validation"))
        if worth.is_worse:
            message = (
                "the teacher ranks worse than BM25 on queries that were held out (MRR@10 %.4f and %.4f): nothing is "
                "learned from it; train it longer (teacher.steps)"
            )
            log.warning(message, worth.teacher, worth.bm25)
        return worth.is_worse

    def _teacher(self, negatives: Manifest) -> Manifest:
        from lexigraft.learn.backbone_choice import backbone_name, file_hashes

        settings, seed = self.settings.teacher, self.settings.run.seed
        source, made_of = self.backbone.source, self.backbone.recipe
        if settings.backbone:
            source = backbone_name(settings.backbone)
            made_of = {"backbone": source, **file_hashes(Path(source))}
        apart = queries_apart(self.collection, self.measured_split, self.settings.finetune)
        config = {**made_of, **teacher_config(settings, apart)}
        parents = {"negatives": negatives.fingerprint, **self._data(CORPUS, QUERIES, TRAIN)}
        wanted = Manifest(teacher_training.KIND, teacher_training.FORMAT_VERSION, config, parents, seed)
        lesson = Lesson(self.collection, self.folder.teacher("negatives") / MINED, apart)
        checkpoint = self.folder.teacher("checkpoint")
        if self.artifacts.is_forced(STAGE):
            shutil.rmtree(checkpoint, ignore_errors=True)

        def make(out: Path) -> None:
            train_teacher(source, lesson, settings, seed, recipe(wanted), checkpoint, out, self.progress)

        made = self.artifacts.ensure(STAGE, STAGE, self.folder.teacher("model"), wanted, make, together=True)
        shutil.rmtree(checkpoint, ignore_errors=True)
        return made

    def _scores(self, teacher: Manifest, negatives: Manifest) -> Manifest:
        parents = {"teacher": teacher.fingerprint, "negatives": negatives.fingerprint}
        wanted = Manifest("teacher-scores", FORMAT_VERSION, {}, {**parents, **self._data(CORPUS, QUERIES, TRAIN)})

        def make(out: Path) -> None:
            pairs = wanted_pairs(
                self.folder.teacher("negatives") / MINED, self.collection.qrels(TRAIN), self.collection
            )
            score_to_file(self._model(), self.collection, pairs, out / SCORED, *self._work(wanted), self.progress)

        return self.artifacts.ensure(STAGE, "teacher's scores", self.folder.teacher("scores"), wanted, make)

    def _quality(self, part: str, asked: Asked, teacher: Manifest, index: Manifest) -> Manifest:
        config: dict[str, Any] = {"split": asked.split, "queries": asked.n_queries, "depth": DEPTH}
        parents = {"teacher": teacher.fingerprint, "index": index.fingerprint, **self._data(CORPUS, QUERIES)}
        if asked.split in self.collection.splits:
            parents[asked.split] = self.collection.digest(asked.split)
        else:
            parents["judgements"] = hashlib.sha256(canonical_json(list(asked.qrels)).encode()).hexdigest()
        wanted = Manifest("teacher-quality", FORMAT_VERSION, config, parents)

        def make(out: Path) -> None:
            measure_teacher(
                self._model(), self.collection, asked, self.folder.index(JUDGED, BM25, 0), out, *self._work(wanted),
                self.progress,
            )  # fmt: skip

        label = f"measure the teacher, {asked.split}" if part == "validation" else "measure the teacher"
        return self.artifacts.ensure(STAGE, label, self.folder.teacher(part), wanted, make)

    def _model(self) -> CrossEncoder:
        return open_cross_encoder(str(self.folder.teacher("model"))).to(default_device())

    def _work(self, wanted: Manifest) -> tuple[Path, dict[str, Any]]:
        """Where unfinished scores lie, and what they depend on."""
        return self.folder.teacher("scoring"), recipe(wanted)

    def _data(self, *parts: str) -> dict[str, str]:
        return {part: self.collection.digest(part) for part in parts}

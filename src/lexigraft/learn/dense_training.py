"""The dense encoder of a run: the run's backbone trained on the pairs of fine-tuning, kept or made."""

import json
import logging
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import save_file

from lexigraft.core.artifact import Manifest, hash_file, recipe, write_json
from lexigraft.core.config import settings_config
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import AUTO, FinetuneSettings, Settings
from lexigraft.core.settings.finetune import MINED_BY_BM25, MINED_BY_TEACHERS
from lexigraft.data.collection import Collection
from lexigraft.inference.dense_meta import DENSE_FORMAT, DENSE_KIND
from lexigraft.learn.backbone_choice import SCRATCH, backbone_name
from lexigraft.learn.mined_negatives import MINED, MinedNegatives
from lexigraft.learn.model_training import ModelTraining
from lexigraft.learn.taken_encoder import encoder_as_it_comes
from lexigraft.learn.training_curves import draw as draw_curves
from lexigraft.learn.training_data import DEV, TrainingData, measured_training_queries, scores_file, training_data
from lexigraft.learn.training_job import TrainingJob
from lexigraft.model.backbone import default_device, load_backbone
from lexigraft.model.dense_encoder import DenseEncoder, save_dense
from lexigraft.model.sentence_encoder import why_no_sentence_encoder
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.layout import RunFolder
from lexigraft.train.batches import steps_of_passes
from lexigraft.train.loop import Training
from lexigraft.train.ranking.dense import DenseTrainingPlan, train_dense
from lexigraft.train.ranking.pairs import TrainingPairs
from lexigraft.train.ranking.ranking_validation import ValidationTexts

STAGE, ENCODER = "finetune", "encoder"
NOT_DECIDING = ("trains", "bits", "batch", "steps", "epochs", "query_length", "document_length", "checkpoint_every")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DenseTraining:
    """Makes what is missing of a dense encoder in the home of its system, which `folder` names."""

    collection: Collection
    measured_split: str | None
    folder: RunFolder
    settings: Settings
    artifacts: Ensurer
    progress: Progress = SILENT

    def trained(self) -> Manifest:
        """The encoder's manifest. What it starts from is the run's language model, which is made first."""
        if is_taken_as_it_comes(self.settings):
            return self._as_it_comes()
        finetune, files = self._negatives()
        others = ModelTraining(
            self.collection, self.measured_split, self.folder, self.settings, self.artifacts, self.progress
        )
        backbone, seed = others.language_model(), self.settings.run.seed
        query_length, document_length = lengths(self.settings)
        config = {
            **backbone.recipe, "layers": self.settings.model.layers, "query_length": query_length,
            "document_length": document_length, "measured": self.measured_split, **how_long(self.settings),
            "dense": self._deciding(), "finetune": _of_data(finetune),
        }  # fmt: skip
        parents = {**others.data, **files}
        if measured_training_queries(self.collection, self.measured_split):
            parents["measured"] = self.collection.digest(str(self.measured_split))  # its queries do not train
        if finetune.validate_every and DEV in self.collection.splits:
            parents["dev"] = self.collection.digest(DEV)
        wanted = Manifest(DENSE_KIND, DENSE_FORMAT, config, parents, seed)
        path, checkpoint = self.folder.model(ENCODER), self.folder.model(f"{ENCODER}-checkpoint")
        if self.artifacts.is_forced(STAGE):
            shutil.rmtree(checkpoint, ignore_errors=True)

        def make(out: Path) -> None:
            data = training_data(self.collection, self.measured_split, finetune)
            encoder = DenseEncoder.of(
                load_backbone(backbone.source, self.settings.model.layers, backbone.name), query_length, document_length
            )
            train_encoder(
                encoder, data, self.settings, TrainingJob(seed, recipe(wanted), self.progress, checkpoint, out)
            )

        made = self.artifacts.ensure(STAGE, "train", path, wanted, make, together=True)
        shutil.rmtree(checkpoint, ignore_errors=True)
        return made

    def _as_it_comes(self) -> Manifest:
        """The encoder without any training, whatever the run's models keep of its layers. It is the same one where
        `dense.document_length` is shorter than what it reads: that cuts documents."""
        dense, backbone = self.settings.dense, self.settings.model.backbone
        wanted, make = encoder_as_it_comes(backbone, lengths(self.settings), dense.query_length, dense.document_length)
        return self.artifacts.ensure(STAGE, "take the encoder", self.folder.model(ENCODER), wanted, make)

    def _negatives(self) -> tuple[FinetuneSettings, dict[str, str]]:
        """The settings of fine-tuning as far as they say what to learn from, and the hash of the file of negatives.
        Where those of a model come from a teacher, these are BM25's."""
        given = self.settings.finetune
        by_another = given.negatives == MINED_BY_TEACHERS
        settings = replace(
            given, teacher="", kl=0.0, margin_mse=0.0, in_batch=1.0, tensorboard="", teachers=(),
            negatives=(MINED_BY_BM25 if by_another else given.negatives) if given.n_negatives else "",
        )  # fmt: skip
        if not settings.n_negatives:
            return settings, {}
        if settings.negatives and not settings.miner:
            return settings, {"negatives": hash_file(scores_file("finetune.negatives", settings.negatives))}
        out = self.folder.model("negatives")
        by_bm25 = MinedNegatives(STAGE, self.collection, self.folder, self.settings, self.artifacts, self.progress)
        by_bm25.mined(out, settings.negatives_depth)
        mined = replace(settings, negatives=str(out / MINED))
        return mined, {"negatives": hash_file(out / MINED)}

    def _deciding(self) -> dict[str, Any]:
        """The settings that decide what is learned; those that may be 0 for others are in the recipe as what they
        mean."""
        return {name: value for name, value in settings_config(self.settings.dense).items() if name not in NOT_DECIDING}


def is_taken_as_it_comes(settings: Settings) -> bool:
    """Whether the backbone is the dense encoder without any training: a sentence encoder has learned from pairs that
    people made, of many kinds of texts, and beside pairs that are made it is wanted for that."""
    if settings.dense.trains != AUTO:
        return settings.dense.trains == "off"
    if not settings.data.makes_pairs or settings.dense.steps or settings.dense.epochs:
        return False
    name = backbone_name(settings.model.backbone)
    return name != SCRATCH and not why_no_sentence_encoder(name)


def lengths(settings: Settings) -> tuple[int, int]:
    """How many subwords are read of a query and of a document."""
    dense, model = settings.dense, settings.model
    return dense.query_length or model.query_length, dense.document_length or model.document_length


def how_long(settings: Settings) -> dict[str, float]:
    """How long it trains, and on how many pairs a step; "steps" beside "epochs" come on top of those."""
    dense, finetune, batch = settings.dense, settings.finetune, settings.dense.batch or settings.finetune.batch
    if dense.steps or dense.epochs:
        return {"batch": batch, "steps": dense.steps, "epochs": dense.epochs}
    # As long as the run's own model learns, so that neither has seen more pairs.
    if finetune.epochs:
        return {"batch": batch, "steps": settings.pretrain.steps, "epochs": finetune.epochs}
    return {"batch": batch, "steps": settings.pretrain.steps + finetune.steps, "epochs": 0.0}


def training_plan(settings: Settings, n_pairs: int) -> DenseTrainingPlan:
    """The settings as what they mean for so many pairs."""
    dense, found = settings.dense, how_long(settings)
    batch, epochs = int(found["batch"]), found["epochs"]
    steps = int(found["steps"]) + (steps_of_passes(epochs, n_pairs, batch) if epochs else 0)
    return DenseTrainingPlan(
        max(1, steps), batch, dense.learning_rate, dense.warmup, dense.dropout, dense.temperature, dense.symmetric,
        settings.finetune.n_negatives, dense.checkpoint_every, dense.validate_every, settings.finetune.chunk,
    )  # fmt: skip


def train_encoder(encoder: DenseEncoder, data: TrainingData, settings: Settings, job: TrainingJob) -> None:
    """Train `encoder` on `data` and write it, with how it was trained, into the job's folder."""
    seed, made_of, progress, checkpoint, folder = job
    plan = training_plan(settings, len(data.pairs.query_of))
    message = "dense: %d training pairs, %d steps of %d"
    log.info(message, len(data.pairs.query_of), plan.steps, plan.batch)
    pairs, validation = read_pairs(encoder, data)
    encoder.to(default_device())
    training = train_dense(encoder, pairs, plan, checkpoint, made_of, seed, validation, progress)
    _write(encoder, training, folder)


def read_pairs(encoder: DenseEncoder, data: TrainingData) -> tuple[TrainingPairs, ValidationTexts | None]:
    """The texts that train and validate, as the encoder reads them."""
    reader, meta, (pairs, validating) = encoder.reader(), encoder.meta, data
    read = reader.read(pairs.queries, meta.query_length), reader.read(pairs.documents, meta.document_length)
    rows = np.array(pairs.query_of, np.int64), np.array(pairs.document_of, np.int64)
    training = TrainingPairs(*read, *rows, pairs.negatives)
    if validating is None:
        return training, None
    asked = reader.read(validating.queries, meta.query_length)
    ranked = reader.read(validating.documents, meta.document_length)
    return training, ValidationTexts(asked, ranked, np.array(validating.wanted, np.int64))


def _write(encoder: DenseEncoder, training: Training, folder: Path) -> None:
    save_dense(encoder, folder)
    (folder / "history.json").write_text(json.dumps(training.history))
    draw_curves(training.history, folder / "curves.png")
    write_json(folder / "kept.json", {"step": training.best_step or len(training.history)})
    if training.last is not None:
        save_file(training.last, folder / "last.safetensors")


def _of_data(finetune: FinetuneSettings) -> dict[str, Any]:
    """What of fine-tuning decides what is learned from."""
    names = ["validation_queries", "validation_documents"] if finetune.validate_every else []
    names += ["n_negatives", "negatives_depth"] if finetune.n_negatives else []
    return {"validates": finetune.validate_every > 0} | {name: getattr(finetune, name) for name in names}

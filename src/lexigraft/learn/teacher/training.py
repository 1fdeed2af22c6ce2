"""A cross-encoder trained to rank, as one artifact: the teacher of a run, or one by itself (F1)."""

import hashlib
import json
import logging
from collections.abc import Set
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.artifact import Manifest, hash_file, recipe, write_json
from lexigraft.core.config import settings_config
from lexigraft.core.errors import InputError
from lexigraft.core.processes import n_processes
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.settings import Settings, TeacherSettings
from lexigraft.data.collection import Collection
from lexigraft.learn.backbone_choice import file_hashes
from lexigraft.learn.teacher.lists import require_training, teacher_data
from lexigraft.learn.training_curves import draw
from lexigraft.learn.training_data import queries_apart, scores_file
from lexigraft.model.backbone import default_device
from lexigraft.model.cross_encoder import Lengths, load_cross_encoder
from lexigraft.model.text_pairs import read_subwords
from lexigraft.stages.collect import source_description
from lexigraft.stages.standalone import require_free_for, train_alone
from lexigraft.stages.vocabularies import judged_collection
from lexigraft.train.loop import Training
from lexigraft.train.ranking.cross_encoder import train_cross_encoder
from lexigraft.train.ranking.pair_scores import PairTexts

KIND, FORMAT_VERSION = "cross-encoder", 1
FACTS = "training.json"

log = logging.getLogger(__name__)


class Lesson(NamedTuple):
    """What a teacher learns from: `apart` are the queries it must not see."""

    collection: Collection
    negatives: Path
    apart: Set[str]


def train_teacher(
    backbone: str,
    lesson: Lesson,
    settings: TeacherSettings,
    seed: int,
    recipe: dict[str, Any],
    checkpoint: Path,
    folder: Path,
    progress: Progress = SILENT,
) -> None:
    """Train a cross-encoder of `backbone` and write it into `folder`, with how it was trained."""
    lengths = Lengths(settings.query_length, settings.document_length)
    model = load_cross_encoder(backbone, lengths, settings.layers, seed).to(default_device())
    data = teacher_data(*lesson, settings)
    texts = PairTexts(
        read_subwords(model.tokenizer, data.queries, lengths.query),
        read_subwords(model.tokenizer, data.documents, lengths.document),
    )
    log.info("teacher: %d training pairs, %d documents", len(data.lists.query_of), len(data.documents))
    training = train_cross_encoder(
        model, texts, data.lists, settings, checkpoint, recipe, seed, data.validation, progress
    )
    model.save(folder)
    (folder / "history.json").write_text(json.dumps(training.history))
    draw(training.history, folder / "curves.png")
    n_validating = 0 if data.validation is None else int(data.validation.lists[-1]) + 1
    write_json(
        folder / FACTS, {"pairs": len(data.lists.query_of), "validation_queries": n_validating, **_kept(training)}
    )


def _kept(training: Training) -> dict[str, Any]:
    """What the weights that were kept had. Loss and accuracy are means over the tenth of the steps before them: a
    single batch says little."""
    step = training.best_step or len(training.history)
    last = training.history[max(0, step - max(1, len(training.history) // 10)) : step]
    means = {key: sum(values[key] for values in last) / len(last) for key in ("loss", "accuracy")}
    return {"step": step, "steps": len(training.history), **training.history[step - 1], **means}


def teacher_config(settings: TeacherSettings, apart: Set[str]) -> dict[str, Any]:
    """What decides what a teacher learns, for a recipe; the queries that are kept from it by their hash."""
    decides = {name: value for name, value in settings_config(settings).items() if name not in NOT_DECIDING}
    return {**decides, "apart": hashlib.sha256("\n".join(sorted(apart)).encode("utf-8", "replace")).hexdigest()}


NOT_DECIDING = ("backbone", "measured_queries")  # a backbone counts by its own recipe


def make_teacher(
    backbone: str,
    source: str,
    negatives: Path,
    out: Path,
    wanted_teacher: TeacherSettings,
    settings: Settings,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Train `backbone` on the training pairs of `source`, with the negatives of a TREC run, and write it at `out`,
    replacing a cross-encoder there; returns what there is to say of it. A killed call is continued by the next; what is
    done already is kept."""
    if n_processes() > 1:
        raise InputError("teacher train runs as one process; start it without torchrun")
    require_free_for(out, KIND)
    seed = settings.run.seed
    mined = hash_file(scores_file("--negatives", str(negatives)))
    with judged_collection(source, settings.data, progress) as collection:
        require_training(collection)
        apart = queries_apart(collection, collection.evaluation_split(settings.data.split), settings.finetune)
        config = {"backbone": backbone, **file_hashes(Path(backbone)), **teacher_config(wanted_teacher, apart)}
        config["data"] = source_description(source, settings.data)
        wanted = Manifest(KIND, FORMAT_VERSION, config, {"negatives": mined}, seed)
        lesson = Lesson(collection, negatives, apart)

        def make(aside: Path, folder: Path) -> None:
            checkpoint = aside / "checkpoint"
            train_teacher(backbone, lesson, wanted_teacher, seed, recipe(wanted), checkpoint, folder, progress)

        train_alone(out, wanted, "teacher", make)
    facts: dict[str, Any] = read_sealed(out / FACTS)
    return facts

"""The learned model of a run: vocabulary, pre-training and fine-tuning, each an artifact that is kept or made."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lexigraft.core.artifact import Manifest, hash_file, recipe
from lexigraft.core.errors import InputError
from lexigraft.core.settings import Settings
from lexigraft.data.collection import Collection
from lexigraft.model import encoder as model_store
from lexigraft.pipeline import model_stages
from lexigraft.pipeline.ensure import Ensurer
from lexigraft.pipeline.layout import RunFolder
from lexigraft.pipeline.stages import settings_config

VOCABULARY_FORMAT = 1


def train_model(collection: Collection, folder: RunFolder, settings: Settings, artifacts: Ensurer) -> Manifest:
    """Make what is missing and return the manifest of the fine-tuned model. Checkpoints are removed at the end."""
    data = _training_files(collection)
    model, seed = settings.model, settings.run.seed
    words = {**settings_config(settings.vocab), "backbone": model.backbone}
    vocabulary = artifacts.ensure(
        "vocabulary",
        "vocabulary",
        folder.model("vocabulary"),
        Manifest("vocabulary", VOCABULARY_FORMAT, words, data),
        lambda out: model_stages.learn_vocabulary(collection, model, settings.vocab, out),
    )

    start = {"backbone": model.backbone, "layers": model.layers, "head": model.head, "length": model.document_length}
    config = {**start, "pretrain": settings_config(settings.pretrain)}
    parents = {"vocabulary": vocabulary.fingerprint, **data}
    wanted = Manifest(model_store.KIND, model_store.FORMAT_VERSION, config, parents, seed)
    names = folder.model("vocabulary"), model, settings.pretrain, seed, recipe(wanted)
    pretrained = _train(
        "pretrain", folder, "pretrained", wanted, artifacts, partial(model_stages.pretrain, collection, *names)
    )

    lengths = {"query_length": model.query_length, "document_length": model.document_length}
    config = {**lengths, "alpha": model.alpha, "finetune": settings_config(settings.finetune)}
    parents = {"pretrained": pretrained.fingerprint, **data}
    wanted = Manifest(model_store.KIND, model_store.FORMAT_VERSION, config, parents, seed)
    ranks = folder.model("pretrained"), model, settings.finetune, seed, recipe(wanted)
    finetuned = _train(
        "finetune", folder, "finetuned", wanted, artifacts, partial(model_stages.finetune, collection, *ranks)
    )
    for stage in ("pretrain", "finetune"):
        shutil.rmtree(folder.model(f"{stage}-checkpoint"), ignore_errors=True)
    return finetuned


def _train(
    stage: str, folder: RunFolder, part: str, wanted: Manifest, artifacts: Ensurer, make: Callable[[Path, Path], None]
) -> Manifest:
    """One training stage; a checkpoint has the recipe of the model it is on the way to, so no other is continued."""
    checkpoint = folder.model(f"{stage}-checkpoint")
    if artifacts.is_forced(stage):
        shutil.rmtree(checkpoint, ignore_errors=True)
    return artifacts.ensure(stage, stage, folder.model(part), wanted, lambda out: make(checkpoint, out))


def _training_files(collection: Collection) -> dict[str, str]:
    if model_stages.TRAIN not in collection.qrels_files or collection.queries_file is None:
        raise InputError(
            f"{collection.folder} has no training judgements (qrels/train.tsv) to learn from; leave esplade out "
            "of run.systems"
        )
    files = {
        "corpus": collection.corpus_file,
        "queries": collection.queries_file,
        "train": collection.qrels_files[model_stages.TRAIN],
    }
    return {name: hash_file(path) for name, path in files.items()}

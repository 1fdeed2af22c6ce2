"""The learned model of a run: vocabulary, pre-training and fine-tuning, each an artifact that is kept or made."""

import shutil

from lexigraft.core.artifact import Manifest, hash_file
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
    vocabulary = artifacts.ensure(
        "vocabulary",
        "vocabulary",
        folder.model("vocabulary"),
        Manifest(
            "vocabulary", VOCABULARY_FORMAT, {**settings_config(settings.vocab), "backbone": model.backbone}, data
        ),
        lambda out: model_stages.learn_vocabulary(collection, model, settings.vocab, out),
    )
    start = {"backbone": model.backbone, "layers": model.layers, "head": model.head, "length": model.document_length}
    pretrained = artifacts.ensure(
        "pretrain",
        "pretrain",
        folder.model("pretrained"),
        Manifest(
            model_store.KIND,
            model_store.FORMAT_VERSION,
            {**start, "pretrain": settings_config(settings.pretrain)},
            {"vocabulary": vocabulary.fingerprint, **data},
            seed,
        ),
        lambda out: model_stages.pretrain(
            collection,
            folder.model("vocabulary"),
            model,
            settings.pretrain,
            seed,
            folder.model("pretrain-checkpoint"),
            out,
        ),
    )
    lengths = {"query_length": model.query_length, "document_length": model.document_length}
    finetuned = artifacts.ensure(
        "finetune",
        "finetune",
        folder.model("finetuned"),
        Manifest(
            model_store.KIND,
            model_store.FORMAT_VERSION,
            {**lengths, "alpha": model.alpha, "finetune": settings_config(settings.finetune)},
            {"pretrained": pretrained.fingerprint, **data},
            seed,
        ),
        lambda out: model_stages.finetune(
            collection,
            folder.model("pretrained"),
            model,
            settings.finetune,
            seed,
            folder.model("finetune-checkpoint"),
            out,
        ),
    )
    for checkpoint in ("pretrain-checkpoint", "finetune-checkpoint"):
        shutil.rmtree(folder.model(checkpoint), ignore_errors=True)
    return finetuned


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

"""A TILDE model as one artifact: a masked language model's folder, and tilde.json, which says how it reads."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.artifact import (
    Manifest,
    hash_file,
    open_artifact,
    read_manifest,
    recipe,
    write_json,
)
from lexigraft.core.config import settings_config
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.named_file import named_file
from lexigraft.core.pinned import of_one_version
from lexigraft.core.plain_files import read_plain_file
from lexigraft.core.processes import n_processes
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.core.types import require_same_vocabulary
from lexigraft.data.collection import CORPUS, QUERIES, Collection
from lexigraft.learn.backbone_choice import file_hashes
from lexigraft.learn.tilde.pairs import open_pairs, write_pairs
from lexigraft.learn.token_cache import cached
from lexigraft.learn.training_curves import draw
from lexigraft.learn.training_data import DEV, TRAIN
from lexigraft.model.backbone import default_device
from lexigraft.model.families import n_positions
from lexigraft.model.masked_lm import MaskedLM, load_masked_lm
from lexigraft.stages.standalone import require_free_for, train_alone
from lexigraft.stages.vocabularies import judged_collection
from lexigraft.train.language.tilde import train_tilde
from lexigraft.train.loop import Training
from lexigraft.train.trainable import set_dropout
from lexigraft.vectors.deciding_words import VOCAB, decide_words
from lexigraft.vocab.whole_words import WholeWords, find_whole_words

KIND, FORMAT_VERSION = "tilde", 1
FACTS = "tilde.json"
NOT_LEARNED = ("top", "keep", "positives", "checkpoint_every")  # decide nothing of the weights; files count by content


class Tilde(NamedTuple):
    """An open model, its words, and what tilde.json says of it."""

    model: MaskedLM
    words: WholeWords
    facts: dict[str, Any]
    fingerprint: str


def wanted_tilde(
    collection: Collection, measured_split: str | None, backbone: dict[str, str], settings: Settings
) -> Manifest:
    """The manifest, without files, of the model that these settings make of a backbone with this recipe."""
    how = {key: value for key, value in settings_config(settings.tilde).items() if key not in NOT_LEARNED}
    finetune = settings.finetune
    held_out = {"validate_every": bool(finetune.validate_every), "queries": finetune.validation_queries}
    config = {
        **backbone, "layers": settings.model.layers, "stopwords": settings.vocab.decided().stopwords, "tilde": how,
        "held_out": held_out, "measured": measured_split,
    }  # fmt: skip
    parents = {part: collection.digest(part) for part in (CORPUS, QUERIES, TRAIN) if collection.digest(part)}
    if finetune.validate_every and DEV in collection.splits:
        parents["dev"] = collection.digest(DEV)
    if measured_split is not None:
        parents["measured"] = collection.digest(measured_split)  # its queries do not train
    if settings.tilde.positives:
        parents["positives"] = hash_file(named_file("tilde.positives", settings.tilde.positives))
    return Manifest(KIND, FORMAT_VERSION, config, parents, settings.run.seed)


def make_tilde(
    backbone: str, source: str, out: Path, settings: Settings, progress: Progress = SILENT
) -> dict[str, Any]:
    """Train `backbone`, a masked language model, on the training pairs of `source` and write it at `out`, replacing a
    TILDE model there; returns what there is to say of it. A killed call is continued by the next; what is done already
    is kept."""
    if n_processes() > 1:
        raise InputError("tilde train runs as one process; start it without torchrun")
    if not settings.tilde.trains:
        raise SettingError("tilde.steps and tilde.epochs are 0: nothing would be trained; give --steps or --epochs")
    require_free_for(out, KIND)
    with judged_collection(source, settings.data, progress) as collection:
        split = collection.evaluation_split(settings.data.split)
        settings = decide_words(settings, collection.documents(), [VOCAB])
        wanted = wanted_tilde(collection, split, {"backbone": backbone, **file_hashes(Path(backbone))}, settings)

        def make(aside: Path, folder: Path) -> None:
            checkpoint = aside / "tilde-checkpoint"
            train(collection, split, backbone, backbone, settings, recipe(wanted), progress, checkpoint, folder)

        train_alone(out, wanted, "tilde", make)
    return read_facts(out)


def train(
    collection: Collection,
    measured_split: str | None,
    backbone: str,
    name: str,
    settings: Settings,
    made_by: dict[str, Any],
    progress: Progress,
    checkpoint: Path,
    folder: Path,
) -> None:
    """Write the trained model into `folder`; texts as subwords lie beside `checkpoint` until somebody removes both."""
    tilde, seed = settings.tilde, settings.run.seed
    model = load_masked_lm(backbone, settings.model.layers, seed).to(default_device())
    _require_positions(name, model, max(tilde.query_length, tilde.document_length))
    subwords = model.subwords()
    words = find_whole_words(subwords.terms, model.special_ids, settings.vocab.decided().stopwords)
    texts = cached(
        checkpoint.with_name("tilde-texts"), made_by,
        lambda draft: write_pairs(collection, measured_split, settings.finetune, tilde, model.tokenizer, draft),
    )  # fmt: skip
    pairs, counts = open_pairs(texts)
    set_dropout(model, tilde.dropout)
    training = train_tilde(model, pairs, words.counted, tilde, checkpoint, made_by, seed, progress)
    facts = {
        "backbone": name, "fingerprint": subwords.fingerprint, "terms": len(subwords),
        "valid_terms": int(words.counted.sum()), "stopwords": settings.vocab.decided().stopwords,
        "query_length": tilde.query_length, "document_length": tilde.document_length,
        **counts, **_last_losses(training),
    }  # fmt: skip
    model.save(folder)
    (folder / "history.json").write_text(json.dumps(training.history))
    draw(training.history, folder / "curves.png")
    write_json(folder / FACTS, facts)


def _require_positions(name: str, model: MaskedLM, longest: int) -> None:
    most = n_positions(model.body.model)
    if most is not None and longest > most:
        raise SettingError(
            f"tilde.query_length, tilde.document_length: {name!r} reads at most {most} subwords, not {longest}"
        )


def _last_losses(training: Training) -> dict[str, float]:
    """Means over the last tenth of the steps, and the first step's loss to compare with."""
    last = training.history[-max(1, len(training.history) // 10) :]
    means = {key: sum(values[key] for values in last) / len(last) for key in last[0]}
    return {"steps": len(training.history), "first_loss": training.history[0]["loss"], **means}


def read_facts(path: Path) -> dict[str, Any]:
    """What the model at `path` says of itself."""
    facts: dict[str, Any] = json.loads(read_plain_file(path / FACTS))
    return facts


@of_one_version
def open_tilde(path: Path) -> Tilde:
    """The model at `path`, ready to expand; raises where it is none, or has not the tokenizer it learned with."""
    manifest = read_manifest(path)
    if manifest is None or manifest.kind != KIND:
        found = f"holds a {manifest.kind}" if manifest is not None else "has no readable manifest"
        raise ArtifactError(f"{path} is no TILDE model: it {found}; train one: lexigraft tilde train")
    open_artifact(path, KIND, FORMAT_VERSION)
    facts = read_facts(path)
    model = load_masked_lm(str(path), 0, 0).to(default_device()).eval()
    subwords = model.subwords()
    require_same_vocabulary("the tokenizer", subwords.fingerprint, f"the TILDE model at {path}", facts["fingerprint"])
    words = find_whole_words(subwords.terms, model.special_ids, facts["stopwords"])
    return Tilde(model, words, facts, manifest.fingerprint)

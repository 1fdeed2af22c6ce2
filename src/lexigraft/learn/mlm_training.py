"""A backbone trained on texts as a masked language model: what the stage of a run and the command alone both do."""

import json
import logging
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.artifact import write_json
from lexigraft.core.config import settings_config
from lexigraft.core.errors import InputError
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.settings import MlmSettings, ModelSettings
from lexigraft.learn.token_cache import cached, open_aligned, write_aligned
from lexigraft.learn.training_curves import draw
from lexigraft.learn.training_job import TrainingJob
from lexigraft.model.backbone import default_device
from lexigraft.model.families import n_positions
from lexigraft.model.masked_lm import MaskedLM, load_masked_lm
from lexigraft.train.batches import steps_of_passes, warmup_within
from lexigraft.train.language.mlm import MlmTexts, choose_texts, train_mlm
from lexigraft.train.loop import Training

KIND, FORMAT_VERSION = "masked-lm", 1
FACTS, TEXTS = "mlm.json", "texts"
NOT_DECIDING = ("checkpoint_every", "source", "second", "second_steps", "second_epochs")  # texts count by their content

log = logging.getLogger(__name__)


def deciding(mlm: MlmSettings) -> dict[str, Any]:
    """The settings that decide what is learned on one corpus."""
    return {name: value for name, value in settings_config(mlm).items() if name not in NOT_DECIDING}


def reads_raw(model: ModelSettings) -> bool:
    """Whether the head to come reads raw text, as heads over the backbone's own subwords do: then this reads it too."""
    return model.head not in ("grafted", "random")


def train_masked_lm(
    texts: Iterable[str],
    source: str,
    name: str,
    layers: int,
    raw: bool,
    mlm: MlmSettings,
    job: TrainingJob,
) -> None:
    """Train the backbone loaded from `source`, called `name`, on `texts`, and write it."""
    seed, recipe, progress, checkpoint, folder = job
    model = load_masked_lm(source, layers, seed).to(default_device())
    _require_positions(name, model, mlm.length)
    reader = model.reader(raw, name)

    def read(draft: Path) -> None:
        if not write_aligned(draft, TEXTS, texts, lambda some: reader.read(some, mlm.length)):
            raise InputError("there is no text to train on; give a collection that has some (--texts, mlm.source)")

    aligned = open_aligned(cached(texts_beside(checkpoint), recipe, read), TEXTS)
    corpus = choose_texts(aligned, np.array(model.tokenizer.ordinary_ids, np.int32))
    steps = mlm.steps or steps_of_passes(mlm.epochs, len(corpus.rows), mlm.batch)
    if not mlm.steps:
        mlm = replace(mlm, warmup=warmup_within(mlm.warmup, steps))
    training = train_mlm(model, corpus, steps, mlm, checkpoint, recipe, seed, progress)
    _write(model, training, {"backbone": name, **_facts(model, corpus, training)}, folder)


def texts_beside(checkpoint: Path) -> Path:
    """Where the texts lie that a training reads, while it is not done."""
    return checkpoint.with_name(f"{checkpoint.name.removesuffix('checkpoint')}texts")


def read_facts(folder: Path) -> dict[str, Any]:
    """What there is to say of a masked language model that was trained here."""
    facts: dict[str, Any] = read_sealed(folder / FACTS)
    return facts


def _require_positions(name: str, model: MaskedLM, length: int) -> None:
    most = n_positions(model.body.model)
    if most is not None and length > most:
        raise InputError(f"mlm.length = {length}: {name!r} reads at most {most} subwords; give so many or fewer")


def _facts(model: MaskedLM, corpus: MlmTexts, training: Training) -> dict[str, Any]:
    """Loss and accuracy are means over the last tenth of the steps: a single batch says little."""
    n_dropped = len(corpus.texts) - len(corpus.rows)
    if n_dropped:
        log.info("mlm: %d of %d texts hold no known subword and were left out", n_dropped, len(corpus.texts))
    last = training.history[-max(1, len(training.history) // 10) :]
    kept = ("loss", "accuracy", "sampled_accuracy")
    means = {key: sum(values[key] for values in last) / len(last) for key in last[0] if key in kept}
    counts = {"texts": len(corpus.texts), "without_subwords": n_dropped, "steps": len(training.history)}
    return {"head": model.head, "tied": model.is_tied, "subwords": len(model.weight), **counts, **means}


def _write(model: MaskedLM, training: Training, facts: dict[str, Any], folder: Path) -> None:
    model.save(folder)
    (folder / "history.json").write_text(json.dumps(training.history))
    draw(training.history, folder / "curves.png")
    write_json(folder / FACTS, facts)

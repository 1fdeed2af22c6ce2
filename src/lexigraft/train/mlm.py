"""Plain masked language modelling (T2): 15 % of a text's subwords, asked for as subwords; optionally a FLOPS term.

The FLOPS term (middle-training) presses on the vectors that MAX pooling would make of the masked texts, so that the
model arrives at fine-tuning sparse already.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import require
from lexigraft.model.inputs import padded
from lexigraft.model.masked_lm import MaskedLM
from lexigraft.model.pool import max_over_tokens, saturate
from lexigraft.train.batches import rows_of_step
from lexigraft.train.linear_cross_entropy import linear_cross_entropy
from lexigraft.train.loop import Loop, Schedule, Training
from lexigraft.train.masking import NO_LABEL, is_among, mask_subwords
from lexigraft.train.regularizers import flops
from lexigraft.vocab.aligned import AlignedTexts, take


@dataclass(frozen=True)
class MlmSettings:
    """`horizon` is where the learning rate reaches 0 (0: at the last step), `flops` the weight of the FLOPS term."""

    steps: int = 1000
    batch: int = 64
    learning_rate: float = 2e-4
    warmup: int = 100
    horizon: int = 0
    length: int = 64  # subwords, the two special ones included
    layers: int = 0  # of the backbone, from below; 0: all
    flops: float = 0.0
    checkpoint_every: int = 250
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (
            ("steps", 1), ("batch", 1), ("warmup", 0), ("horizon", 0), ("length", 3), ("layers", 0), ("flops", 0),
            ("checkpoint_every", 1), ("seed", 0),
        ):  # fmt: skip
            value = getattr(self, name)
            require(value >= least, f"--{name.replace('_', '-')}", value, f"{least} or more")
        require(self.learning_rate > 0, "--learning-rate", self.learning_rate, "more than 0")


class MlmTexts(NamedTuple):
    """The texts, and the rows of those with a subword to ask for."""

    texts: AlignedTexts
    rows: NDArray[np.int64]


def choose_texts(texts: AlignedTexts, ordinary: NDArray[np.int32]) -> MlmTexts:
    """Texts without an `ordinary` subword cannot be masked, and are left out."""
    known = np.add.reduceat(is_among(texts.subwords, ordinary).astype(np.int64), texts.indptr[:-1])
    if not known.any():
        raise InputError("no text holds a word that the backbone's tokenizer knows: there is nothing to train on")
    return MlmTexts(texts, np.flatnonzero(known))


def train_mlm(
    model: MaskedLM,
    corpus: MlmTexts,
    settings: MlmSettings,
    checkpoint: Path,
    recipe: dict[str, Any],
    progress: Progress = SILENT,
) -> Training:
    """Train `model` in place to name masked subwords; its history has loss and accuracy by step, and with a FLOPS term
    `mlm`, the loss without it, and `pressure`, the term with its weight."""
    device, seed = model.weight.device, settings.seed
    special, ordinary = model.tokenizer.special, np.array(model.tokenizer.ordinary_ids, np.int32)

    def step_losses(step: int) -> dict[str, Tensor]:
        batch = take(corpus.texts, corpus.rows[rows_of_step(step, len(corpus.rows), settings.batch, seed)])
        masked = mask_subwords(batch, special.mask, ordinary, np.random.default_rng((seed, 1, step)))
        subwords, mask = padded(batch, masked.subwords, special.pad, device)
        labels, _ = padded(batch, masked.labels, NO_LABEL, device)
        hidden, chosen = model(subwords, mask), labels != NO_LABEL
        named = linear_cross_entropy(hidden[chosen], labels[chosen], model.weight, model.bias)
        if not settings.flops:
            return {"loss": named.loss, "accuracy": named.accuracy}
        pressure = settings.flops * flops(saturate(max_over_tokens(hidden, mask, model.weight, model.bias)))
        return {"loss": named.loss + pressure, "accuracy": named.accuracy, "mlm": named.loss, "pressure": pressure}

    schedule = Schedule(settings.steps, settings.horizon, settings.warmup, settings.learning_rate)
    loop = Loop("mlm", schedule, checkpoint, settings.checkpoint_every, recipe, seed, progress=progress)
    return loop.run(model, step_losses)

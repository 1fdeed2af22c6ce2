"""Plain masked language modelling (T2): 15 % of a text's subwords, asked for as subwords; optionally a FLOPS term.

The FLOPS term (middle-training) presses on the vectors that MAX pooling would make of the masked texts, so that the
model arrives at fine-tuning sparse already.
"""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.core.errors import InputError
from lexigraft.core.processes import n_processes
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import MlmSettings
from lexigraft.model.body_graphs import replayed
from lexigraft.model.families import n_positions
from lexigraft.model.inputs import padded
from lexigraft.model.masked_lm import MaskedLM
from lexigraft.model.pool import max_over_tokens, saturate
from lexigraft.train.batches import rows_of_step
from lexigraft.train.language.linear_cross_entropy import linear_cross_entropy
from lexigraft.train.language.masked_batches import MaskedBatch, Naming, masked_batch, name_masked
from lexigraft.train.language.masking import NO_LABEL, MaskedTexts, is_among, mask_subwords
from lexigraft.train.language.sampled_classes import ClassSampler
from lexigraft.train.language.sampled_cross_entropy import sampled_cross_entropy
from lexigraft.train.loop import Loop, Schedule, Training
from lexigraft.train.prefetch import Prefetch
from lexigraft.train.ranking.regularizers import flops
from lexigraft.vocab.aligned import AlignedTexts, take

COUNTED_AT_ONCE, ROWS_AT_ONCE = 1 << 24, 1 << 18  # subwords, texts


class MlmTexts(NamedTuple):
    """The texts, and the rows of those with a subword to ask for."""

    texts: AlignedTexts
    rows: NDArray[np.int64]


def choose_texts(texts: AlignedTexts, ordinary: NDArray[np.int32]) -> MlmTexts:
    """Texts without an `ordinary` subword cannot be masked, and are left out."""
    rows = [np.zeros(0, np.int64)]
    for start in range(0, len(texts), ROWS_AT_ONCE):
        bounds = texts.indptr[start : start + ROWS_AT_ONCE + 1]
        known = is_among(texts.subwords[bounds[0] : bounds[-1]], ordinary).astype(np.int64)
        rows.append(start + np.flatnonzero(np.add.reduceat(known, bounds[:-1] - bounds[0])))
    chosen = np.concatenate(rows)
    if not len(chosen):
        raise InputError("no text holds a word that the backbone's tokenizer knows: there is nothing to train on")
    return MlmTexts(texts, chosen)


def train_mlm(
    model: MaskedLM,
    corpus: MlmTexts,
    steps: int,
    settings: MlmSettings,
    checkpoint: Path,
    recipe: dict[str, Any],
    seed: int,
    progress: Progress = SILENT,
) -> Training:
    """Train `model` in place to name masked subwords, for so many steps. Its history has loss and accuracy by step, and
    with a FLOPS term `mlm`, the loss without it, and `pressure`, the term with its weight. By sampled softmax the loss
    is an estimate, and `sampled_accuracy`, among the drawn subwords, stands in the place of `accuracy`."""
    if settings.flops and n_processes() > 1:
        raise InputError(
            "mlm.flops needs all texts of a batch in one process; start it without torchrun, or set it to 0"
        )
    device, special = model.weight.device, model.tokenizer.special
    ordinary = np.array(model.tokenizer.ordinary_ids, np.int32)
    sampler = _sampler(corpus, ordinary, len(model.weight), settings.sampled, seed)
    accuracy = "accuracy" if sampler is None else "sampled_accuracy"

    def prepare(step: int) -> tuple[AlignedTexts, MaskedTexts, MaskedBatch | None, Naming]:
        batch = take(corpus.texts, corpus.rows[rows_of_step(step, len(corpus.rows), settings.batch, seed)])
        masked = mask_subwords(batch, special.mask, ordinary, np.random.default_rng((seed, 1, step)))
        naming: Naming = linear_cross_entropy
        if sampler is not None:
            naming = partial(sampled_cross_entropy, drawn=sampler.draw(step))
        # With a FLOPS term the batch is one rectangle: its pressure is of all texts together.
        cut = None if settings.flops else masked_batch(batch, masked, special.pad, device.type == "cuda")
        return batch, masked, cut, naming

    prefetch = Prefetch(prepare, steps)

    def step_losses(step: int) -> dict[str, Tensor]:
        begin_step()
        batch, masked, cut, naming = prefetch(step)
        if cut is not None:
            named = name_masked(model, cut, model.weight, model.bias, naming)
            return {"loss": named.loss, accuracy: named.accuracy}
        subwords, mask = padded(batch, masked.subwords, special.pad, device)
        labels, _ = padded(batch, masked.labels, NO_LABEL, device)
        hidden, chosen = model(subwords, mask), labels != NO_LABEL
        named = naming(hidden[chosen], labels[chosen], model.weight, model.bias)
        pressure = settings.flops * flops(saturate(max_over_tokens(hidden, mask, model.weight, model.bias)))
        return {"loss": named.loss + pressure, accuracy: named.accuracy, "mlm": named.loss, "pressure": pressure}

    schedule = Schedule(steps, settings.horizon, settings.warmup, settings.learning_rate)
    loop = Loop("mlm", schedule, checkpoint, settings.checkpoint_every, recipe, seed, progress=progress)
    with replayed(model.body, n_positions(model.body.model), device) as begin_step:
        return loop.run(model, step_losses)


def _sampler(
    corpus: MlmTexts, ordinary: NDArray[np.int32], n_classes: int, n_drawn: int, seed: int
) -> ClassSampler | None:
    """Draws from all rows of the head, by how often the texts hold each; what is never asked for counts as unseen."""
    if not n_drawn:
        return None
    counts, subwords = np.zeros(n_classes, np.int64), corpus.texts.subwords
    for start in range(0, len(subwords), COUNTED_AT_ONCE):
        counts += np.bincount(subwords[start : start + COUNTED_AT_ONCE], minlength=n_classes)
    never = np.ones(n_classes, bool)
    never[ordinary] = False
    counts[never] = 0
    return ClassSampler(counts, n_drawn, seed)

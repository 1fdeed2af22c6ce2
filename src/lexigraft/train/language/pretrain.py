"""EMLM pre-training (T1, T3, T5): the head learns its terms before it learns to rank."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import PretrainSettings
from lexigraft.model.body_graphs import replayed
from lexigraft.model.encoder import SparseEncoder
from lexigraft.train.batches import rows_of_step
from lexigraft.train.language.masked_batches import MaskedBatch, masked_batch, name_masked
from lexigraft.train.language.masking import mask_terms
from lexigraft.train.language.pretraining_texts import PretrainingTexts
from lexigraft.train.language.subword_validation import mask_by_subword, measure
from lexigraft.train.loop import Loop, Observer, Schedule, Training
from lexigraft.train.phases import Phases
from lexigraft.train.prefetch import Prefetch
from lexigraft.vocab.aligned import take

log = logging.getLogger(__name__)


def pretrain(
    encoder: SparseEncoder,
    corpus: PretrainingTexts,
    settings: PretrainSettings,
    checkpoint: Path,
    recipe: dict[str, Any],
    seed: int,
    progress: Progress = SILENT,
) -> Training:
    """Train `encoder` in place to name masked terms. The history has loss and accuracy by step and, every
    `validate_every` steps and at the last, what `subword_validation.measure` finds; the last weights are kept."""
    device = next(encoder.parameters()).device
    special, ordinary = encoder.tokenizer.special, np.array(encoder.tokenizer.ordinary_ids, np.int32)

    def prepare(step: int) -> MaskedBatch:
        batch = take(corpus.texts, corpus.training[rows_of_step(step, len(corpus.training), settings.batch, seed)])
        masked = mask_terms(batch, special.mask, ordinary, np.random.default_rng((seed, 1, step)))
        return masked_batch(batch, masked, special.pad, device.type == "cuda")

    prefetch, phases = Prefetch(prepare, settings.steps), Phases(device)

    def step_losses(step: int) -> dict[str, Tensor]:
        begin_step()
        batch = prefetch(step)
        phases.mark("inputs")
        named = name_masked(encoder.body, batch, encoder.head.weight, encoder.head.bias)
        return {"loss": named.loss, "accuracy": named.accuracy}

    schedule = Schedule(settings.steps, settings.horizon, settings.warmup, settings.learning_rate)
    loop = Loop("pretrain", schedule, checkpoint, settings.checkpoint_every, recipe, seed, progress=progress)
    observe = _observer(encoder, corpus, settings, seed)
    with replayed(encoder.body, encoder.backbone.longest_text, device) as begin_step:
        return loop.run(encoder, step_losses, observe=observe, phases=phases)


def _observer(
    encoder: SparseEncoder, corpus: PretrainingTexts, settings: PretrainSettings, seed: int
) -> Observer | None:
    if not len(corpus.validation):
        return None
    sets = mask_by_subword(take(corpus.texts, corpus.validation), encoder.tokenizer.special.mask, seed)

    def observe(step: int) -> dict[str, float]:
        if step % settings.validate_every and step != settings.steps:
            return {}
        found = measure(encoder, sets)
        shown = ", ".join(f"{key} {value:.4g}" for key, value in found.items())
        log.info("pretrain %d/%d: validation %s", step, settings.steps, shown)
        return found

    return observe

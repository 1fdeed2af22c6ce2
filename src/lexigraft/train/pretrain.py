"""EMLM pre-training (T1, T3): the head learns its terms before it learns to rank."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import PretrainSettings
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.families import layers_of
from lexigraft.model.inputs import padded
from lexigraft.train.batches import rows_of_step
from lexigraft.train.loop import Loop, Schedule, Training
from lexigraft.train.masking import NO_LABEL, mask_terms
from lexigraft.vocab.aligned import AlignedTexts, take


def pretrain(
    encoder: SparseEncoder,
    texts: AlignedTexts,
    settings: PretrainSettings,
    checkpoint: Path,
    recipe: dict[str, Any],
    seed: int,
    progress: Progress = SILENT,
) -> Training:
    """Train `encoder` in place to name masked terms; its history has loss and accuracy by step."""
    device = next(encoder.parameters()).device
    special, ordinary = encoder.tokenizer.special, np.array(encoder.tokenizer.ordinary_ids, np.int32)
    with_terms = texts_with_terms(texts)
    if not len(with_terms):
        raise InputError("no text holds a term of the vocabulary; it was made from another corpus")

    def step_losses(step: int) -> dict[str, Tensor]:
        batch = take(texts, with_terms[rows_of_step(step, len(with_terms), settings.batch, seed)])
        masked = mask_terms(batch, special.mask, ordinary, np.random.default_rng((seed, 1, step)))
        subwords, mask = padded(batch, masked.subwords, special.pad, device)
        labels, _ = padded(batch, masked.labels, NO_LABEL, device)
        hidden = encoder.body(subwords, mask)
        chosen = labels != NO_LABEL  # logits over the vocabulary exist for masked positions alone
        logits = hidden[chosen] @ encoder.head.weight.T.to(hidden.dtype) + encoder.head.bias.to(hidden.dtype)
        loss = nn.functional.cross_entropy(logits.float(), labels[chosen])
        accuracy = (logits.detach().argmax(1) == labels[chosen]).float().mean()
        return {"loss": loss, "accuracy": accuracy}

    schedule = Schedule(settings.steps, settings.horizon, settings.warmup, settings.learning_rate)
    loop = Loop("pretrain", schedule, checkpoint, settings.checkpoint_every, recipe, seed, progress=progress)
    return loop.run(encoder, step_losses)


def texts_with_terms(texts: AlignedTexts) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Rows with at least one term; the others cannot be masked, and are left out."""
    has_term = np.add.reduceat((texts.terms >= 0).astype(np.int64), texts.indptr[:-1]) > 0
    return np.flatnonzero(has_term)


def set_dropout(module: nn.Module, share: float) -> None:
    """Give every dropout of the backbone the same share; backbones differ in where they keep it, and ModernBERT's
    attention keeps a number instead of a module."""
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = share
        elif isinstance(getattr(part, "attention_dropout", None), float):
            part.attention_dropout = share  # type: ignore[assignment]


def freeze(encoder: SparseEncoder, layers: int = 0) -> None:
    """Keep the input embeddings as they are (half of a small model's weights, of which a batch touches few), and the
    lowest `layers` of the backbone. Embeddings that are the head too train: a head must, and they are one."""
    model: Any = encoder.body.model
    for part in (model.get_input_embeddings(), *layers_of(model)[:layers]):
        part.requires_grad_(False)
    encoder.head.requires_grad_(True)


def mean_terms(vectors: Tensor) -> Tensor:
    """L0: the mean number of terms with a weight."""
    return torch.count_nonzero(vectors.detach(), dim=1).float().mean()

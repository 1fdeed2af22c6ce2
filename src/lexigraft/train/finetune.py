"""Fine-tuning for ranking (F1, F2, F3): in-batch negatives, FLOPS regularisers, top-k masks in training."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lexigraft.core.settings import FinetuneSettings
from lexigraft.model.encoder import SparseEncoder
from lexigraft.train.batches import padded, rows_of_step
from lexigraft.train.loop import Loop, Schedule, TrainingError
from lexigraft.train.losses import in_batch_loss, keep_heaviest
from lexigraft.train.pretrain import mean_terms
from lexigraft.train.regularizers import flops, joint_flops, quadratic_ramp
from lexigraft.vocab.aligned import AlignedTexts, take

COLLAPSED_TERMS = 1.0


def finetune(
    encoder: SparseEncoder,
    queries: AlignedTexts,
    documents: AlignedTexts,
    document_ids: Sequence[int],
    settings: FinetuneSettings,
    checkpoint: Path,
    recipe: dict[str, Any],
    seed: int,
) -> list[dict[str, float]]:
    """Train `encoder` in place on pairs: query row i and document row i; equal `document_ids` are the same document.

    Returns every loss, L0_q, L0_d and the head's mean norm by step.
    """
    device = next(encoder.parameters()).device
    pad_id = encoder.tokenizer.special.pad
    identity = np.asarray(document_ids, np.int64)

    def encode(texts: AlignedTexts, rows: np.ndarray[Any, np.dtype[np.int64]]) -> Tensor:
        batch = take(texts, rows)
        vectors: Tensor = encoder(*padded(batch, batch.subwords, pad_id, device))
        return vectors

    def step_losses(step: int) -> dict[str, Tensor]:
        rows = rows_of_step(step, len(identity), settings.batch, seed)
        query_vectors, document_vectors = encode(queries, rows), encode(documents, rows)
        terms_q, terms_d = mean_terms(query_vectors), mean_terms(document_vectors)
        _require_terms(step, float(terms_q), float(terms_d), checkpoint)
        kept_q, kept_d = keep_heaviest(query_vectors, settings.qk), keep_heaviest(document_vectors, settings.dk)
        same = torch.from_numpy(identity[rows][:, None] == identity[rows][None, :]).to(device)
        rank = in_batch_loss(kept_q @ kept_d.T, same, settings.temperature)
        pressure = settings.joint_flops * joint_flops(kept_q, kept_d)
        pressure = pressure + settings.flops_q * flops(kept_q) + settings.flops_d * flops(kept_d)
        loss = rank + quadratic_ramp(step, settings.ramp) * pressure
        norm = encoder.head.weight.detach().norm(dim=1).mean()
        return {"loss": loss, "rank": rank, "pressure": pressure, "L0_q": terms_q, "L0_d": terms_d, "head_norm": norm}

    schedule = Schedule(settings.steps, settings.horizon, settings.warmup, settings.learning_rate)
    loop = Loop("finetune", schedule, checkpoint, settings.checkpoint_every, recipe, seed)
    return loop.run(encoder, step_losses)


def _require_terms(step: int, terms_q: float, terms_d: float, checkpoint: Path) -> None:
    if min(terms_q, terms_d) < COLLAPSED_TERMS:
        raise TrainingError(
            f"finetune: activated terms collapsed at step {step + 1} (L0_q {terms_q:.2f}, L0_d {terms_d:.2f}): texts "
            f"have no terms left to match by. The last checkpoint, if one was due, is in {checkpoint}. Lower the "
            "regulariser (finetune.joint_flops, flops_q, flops_d), ramp it longer, or set a smaller model.alpha"
        )

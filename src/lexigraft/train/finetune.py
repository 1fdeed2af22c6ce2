"""Fine-tuning for ranking (F1, F2, F3): in-batch negatives, FLOPS regularisers, top-k masks in training."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import FinetuneSettings
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.inputs import ReadTexts, inputs_of
from lexigraft.train.batches import rows_of_step
from lexigraft.train.loop import Loop, Schedule, Training, TrainingError, Validation
from lexigraft.train.losses import in_batch_loss, keep_heaviest
from lexigraft.train.pretrain import mean_terms
from lexigraft.train.regularizers import flops, joint_flops, quadratic_ramp

COLLAPSED_TERMS = 1.0
VALIDATION_BATCH = 128


class ValidationTexts(NamedTuple):
    """Queries, documents to rank for them, and the row of the one document that each query wants."""

    queries: ReadTexts
    documents: ReadTexts
    wanted: NDArray[np.int64]


def finetune(
    encoder: SparseEncoder,
    queries: ReadTexts,
    documents: ReadTexts,
    query_ids: Sequence[int],
    document_ids: Sequence[int],
    settings: FinetuneSettings,
    checkpoint: Path,
    recipe: dict[str, Any],
    seed: int,
    validation: ValidationTexts | None = None,
    progress: Progress = SILENT,
) -> Training:
    """Train `encoder` in place on pairs: query row i and document row i. Where two rows have the same query or the same
    document, by their ids, neither is a negative of the other.

    The history has every loss, L0_q, L0_d and the head's mean norm by step, and R@10 where validation texts are given.
    """
    device = next(encoder.parameters()).device
    pad_id = encoder.tokenizer.special.pad
    query_of, document_of = np.asarray(query_ids, np.int64), np.asarray(document_ids, np.int64)

    def encode(texts: ReadTexts, rows: NDArray[np.int64]) -> Tensor:
        vectors: Tensor = encoder(*inputs_of(texts, rows, pad_id, device))
        return vectors

    def step_losses(step: int) -> dict[str, Tensor]:
        rows = rows_of_step(step, len(document_of), settings.batch, seed)
        query_vectors, document_vectors = encode(queries, rows), encode(documents, rows)
        terms_q, terms_d = mean_terms(query_vectors), mean_terms(document_vectors)
        _require_terms(step, float(terms_q), float(terms_d), checkpoint)
        kept_q, kept_d = keep_heaviest(query_vectors, settings.qk), keep_heaviest(document_vectors, settings.dk)
        same = torch.from_numpy(no_negatives(query_of[rows], document_of[rows])).to(device)
        with torch.autocast(device.type, enabled=False):  # scores in full precision, as search will add them up
            rank = in_batch_loss(kept_q @ kept_d.T, same, settings.temperature, settings.symmetric)
            pressure = settings.joint_flops * joint_flops(kept_q, kept_d)
            pressure = pressure + settings.flops_q * flops(kept_q) + settings.flops_d * flops(kept_d)
        loss = rank + quadratic_ramp(step, settings.ramp) * pressure
        norm = encoder.head.weight.detach().norm(dim=1).mean()
        return {"loss": loss, "rank": rank, "pressure": pressure, "L0_q": terms_q, "L0_d": terms_d, "head_norm": norm}

    def recall_at_10() -> float:
        assert validation is not None
        scores = torch.zeros(len(validation.queries), len(validation.documents), device=device)
        with torch.inference_mode():
            asked = keep_heaviest(encode(validation.queries, np.arange(len(validation.queries))), settings.qk)
            for start in range(0, len(validation.documents), VALIDATION_BATCH):
                rows = np.arange(start, min(start + VALIDATION_BATCH, len(validation.documents)))
                scores[:, rows] = asked @ keep_heaviest(encode(validation.documents, rows), settings.dk).T
        return recall(scores, torch.from_numpy(validation.wanted).to(device), 10)

    schedule = Schedule(settings.steps, settings.horizon, settings.warmup, settings.learning_rate)
    rates = {"head.weight": settings.head_rate}
    loop = Loop("finetune", schedule, checkpoint, settings.checkpoint_every, recipe, seed, rates, progress=progress)
    measured = None
    if validation is not None and settings.validate_every > 0:
        measured = Validation(recall_at_10, settings.validate_every, "R@10", len(validation.queries))
    return loop.run(encoder, step_losses, measured)


def no_negatives(queries: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[rows, rows]: whether the document of one pair is relevant to the query of another, because they have the same
    query or the same document."""
    same: NDArray[np.bool_] = (queries[:, None] == queries[None, :]) | (documents[:, None] == documents[None, :])
    return same


def recall(scores: Tensor, wanted: Tensor, k: int) -> float:
    """The share of rows whose wanted column is among the k highest scores; of equal scores the wanted one is last."""
    own = scores.gather(1, wanted.unsqueeze(1))
    return float(((scores >= own).sum(1) <= k).float().mean())


def _require_terms(step: int, terms_q: float, terms_d: float, checkpoint: Path) -> None:
    if min(terms_q, terms_d) < COLLAPSED_TERMS:
        raise TrainingError(
            f"finetune: activated terms collapsed at step {step + 1} (L0_q {terms_q:.2f}, L0_d {terms_d:.2f}): texts "
            f"have no terms left to match by. The last checkpoint, if one was due, is in {checkpoint}. Lower the "
            "regulariser (finetune.joint_flops, flops_q, flops_d), ramp it longer, or set a smaller model.alpha"
        )

"""A dense encoder trained to rank: in-batch softmax over cosines, hard negatives included; validated by R@10."""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.core.progress import SILENT, Progress
from lexigraft.inference.reading import ReadTexts
from lexigraft.model.dense_encoder import DenseEncoder
from lexigraft.model.inputs import sent
from lexigraft.train.batches import warmup_within
from lexigraft.train.distributed import gather_rows, own_share
from lexigraft.train.loop import Loop, Schedule, Training, Validation
from lexigraft.train.phases import Phases
from lexigraft.train.prefetch import Prefetch
from lexigraft.train.ranking.buckets import Bucket, bucketed, encode_buckets
from lexigraft.train.ranking.losses import in_batch_loss
from lexigraft.train.ranking.pairs import Judged, PairBatch, TrainingPairs, batch_of_step
from lexigraft.train.ranking.ranking_validation import ValidationTexts, recall
from lexigraft.train.trainable import set_dropout

DOCUMENTS_AT_ONCE = 512


class DenseTrainingPlan(NamedTuple):
    """How it trains: the settings of `dense`, where nothing stands for something else any more."""

    steps: int
    batch: int
    learning_rate: float
    warmup: int
    dropout: float
    temperature: float
    symmetric: bool
    n_negatives: int
    checkpoint_every: int
    validate_every: int
    chunk: int = 0  # texts encoded at once (0: all of the batch); the result is the same

    @property
    def warmup_steps(self) -> int:
        return self.warmup or warmup_within(self.steps, self.steps)


def train_dense(
    encoder: DenseEncoder,
    pairs: TrainingPairs,
    plan: DenseTrainingPlan,
    checkpoint: Path,
    recipe: dict[str, Any],
    seed: int,
    validation: ValidationTexts | None = None,
    progress: Progress = SILENT,
) -> Training:
    """Train `encoder` in place on pairs of a query and a document that it wants; documents known to be relevant to a
    query are no negatives of it. The history has the loss by step, and R@10 where validation texts are given."""
    device, judged = next(encoder.parameters()).device, Judged(pairs)
    shape = encoder.pad_id, plan.chunk, device.type == "cuda"
    set_dropout(encoder, plan.dropout)

    def prepare(step: int) -> tuple[PairBatch, list[Bucket], list[Bucket]]:
        batch = batch_of_step(pairs, judged, step, plan.batch, seed, plan.n_negatives)
        queries = bucketed(pairs.queries, own_share(batch.queries), *shape)
        return batch, queries, bucketed(pairs.documents, own_share(batch.documents), *shape)

    prefetch, phases = Prefetch(prepare, plan.steps), Phases(device)

    def step_losses(step: int) -> dict[str, Tensor]:
        batch, some_queries, some_documents = prefetch(step)
        phases.mark("inputs")
        own_queries = encode_buckets(encoder, some_queries, device, plan.chunk > 0)
        own_documents = encode_buckets(encoder, some_documents, device, plan.chunk > 0)
        queries = gather_rows(own_queries, len(batch.queries))
        documents = gather_rows(own_documents, len(batch.documents))
        phases.mark("forward")
        relevant = sent(torch.from_numpy(batch.relevant), device)
        with torch.autocast(device.type, enabled=False):  # cosines in float32, as they are searched
            return {"loss": in_batch_loss(queries @ documents.T, relevant, plan.temperature, plan.symmetric)}

    measured = None
    if validation is not None and plan.validate_every:
        measure = partial(recall_at_10, encoder, validation)
        measured = Validation(measure, plan.validate_every, "R@10", len(validation.queries))
    schedule = Schedule(plan.steps, 0, plan.warmup_steps, plan.learning_rate)
    loop = Loop("dense", schedule, checkpoint, plan.checkpoint_every, recipe, seed, progress=progress)
    return loop.run(encoder, step_losses, measured, phases=phases)


@torch.inference_mode()
def recall_at_10(encoder: DenseEncoder, validation: ValidationTexts) -> float:
    """R@10 of cosines, among the documents of `validation`."""
    device = next(encoder.parameters()).device

    def embed(texts: ReadTexts, rows: NDArray[np.int64]) -> Tensor:
        return encode_buckets(encoder, bucketed(texts, rows, encoder.pad_id), device)

    asked, parts = embed(validation.queries, np.arange(len(validation.queries))), []
    for start in range(0, len(validation.documents), DOCUMENTS_AT_ONCE):
        rows = np.arange(start, min(start + DOCUMENTS_AT_ONCE, len(validation.documents)))
        parts.append(asked @ embed(validation.documents, rows).T)
    return recall(torch.cat(parts, dim=1), torch.from_numpy(validation.wanted).to(device), 10)

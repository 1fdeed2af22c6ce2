"""Fine-tuning for ranking: batches of pairs through the encoder, to the objective; validated by R@10 (F1, F4)."""

from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import FinetuneSettings
from lexigraft.model.body_graphs import replayed
from lexigraft.model.encoder import SparseEncoder
from lexigraft.train.distributed import gather_rows, own_share
from lexigraft.train.loop import Loop, Schedule, Training, TrainingError, Validation
from lexigraft.train.phases import Phases
from lexigraft.train.prefetch import Prefetch
from lexigraft.train.ranking.buckets import Bucket, bucketed, encode_buckets
from lexigraft.train.ranking.chance import ChanceWatch, chance_loss
from lexigraft.train.ranking.lessons import Lessons
from lexigraft.train.ranking.objective import Objective, mean_terms
from lexigraft.train.ranking.pairs import Judged, PairBatch, TrainingPairs, batch_of_step
from lexigraft.train.ranking.ranking_validation import ValidationTexts, recall_at_10
from lexigraft.train.tensorboard import scalars_to

COLLAPSED_TERMS = 1.0


def finetune(
    encoder: SparseEncoder,
    pairs: TrainingPairs,
    settings: FinetuneSettings,
    checkpoint: Path,
    recipe: dict[str, Any],
    seed: int,
    validation: ValidationTexts | None = None,
    progress: Progress = SILENT,
    lessons: Lessons | None = None,
) -> Training:
    """Train `encoder` in place on pairs of a query and a document that it wants; documents known to be relevant to a
    query are no negatives of it. `lessons`: what teachers say of the same texts.

    The history has every loss, L0_q, L0_d and the head's mean norm by step, and R@10 where validation texts are given.
    """
    device = next(encoder.parameters()).device
    pad_id = encoder.tokenizer.special.pad
    objective, judged = Objective(settings, len(encoder.vocabulary), device, lessons), Judged(pairs)
    watch = ChanceWatch(settings, checkpoint)

    def prepare(step: int) -> tuple[PairBatch, list[Bucket], list[Bucket], float]:
        batch = batch_of_step(pairs, judged, step, settings.batch, seed, settings.n_negatives)
        shape = pad_id, settings.chunk, device.type == "cuda"
        queries = bucketed(pairs.queries, own_share(batch.queries), *shape)
        documents = bucketed(pairs.documents, own_share(batch.documents), *shape)
        chance = chance_loss(batch.relevant, settings.temperature, settings.symmetric, settings.margin)
        return batch, queries, documents, chance

    prefetch, phases = Prefetch(prepare, settings.steps), Phases(device)

    chance = 0.0  # of the step's batch

    def step_losses(step: int) -> dict[str, Tensor]:
        nonlocal chance
        begin_step()
        batch, some_queries, some_documents, chance = prefetch(step)
        phases.mark("inputs")
        again = settings.chunk > 0
        own_queries = encode_buckets(encoder.queries, some_queries, device, again)
        own_documents = encode_buckets(encoder, some_documents, device, again)
        queries = gather_rows(own_queries, len(batch.queries))
        documents = gather_rows(own_documents, len(batch.documents))
        phases.mark("forward")
        with torch.autocast(device.type, enabled=False):  # scores are float32, as search will add them up
            losses = objective.losses(queries, documents, batch, step)
        norm = encoder.head.weight.detach().norm(dim=1).mean()
        return {**losses, "L0_q": mean_terms(queries), "L0_d": mean_terms(documents), "head_norm": norm}

    def require_life(step: int, values: dict[str, float]) -> None:
        _require_terms(step, values["L0_q"], values["L0_d"], checkpoint)
        watch.see(step, values, chance)

    schedule = Schedule(settings.steps, settings.horizon, settings.warmup, settings.learning_rate)
    rates = {"head.weight": settings.head_rate, "table.log_weights": settings.table_rate}
    measured = None
    if validation is not None and settings.validate_every > 0:
        measure = partial(recall_at_10, encoder, validation, settings.qk, settings.dk)
        n_cases = len(validation.queries)
        measured = Validation(measure, settings.validate_every, "R@10", n_cases, settings.patience)
    state = {**objective.state(), **watch.state()}
    bodies = None if settings.chunk else encoder.body  # what is encoded again in the backward pass is not replayed
    longest = encoder.backbone.longest_text
    with scalars_to(settings.tensorboard) as listeners, replayed(bodies, longest, device) as begin_step:
        loop = Loop(
            "finetune", schedule, checkpoint, settings.checkpoint_every, recipe, seed, rates,
            progress=progress, check=require_life, listeners=listeners,
        )  # fmt: skip
        return loop.run(encoder, step_losses, measured, state=state, phases=phases)


def _require_terms(step: int, terms_q: float, terms_d: float, checkpoint: Path) -> None:
    if min(terms_q, terms_d) < COLLAPSED_TERMS:
        raise TrainingError(
            f"finetune: activated terms collapsed at step {step + 1} (L0_q {terms_q:.2f}, L0_d {terms_d:.2f}): texts "
            f"have no terms left to match by. The last checkpoint, if one was due, is in {checkpoint}. Lower the "
            "regularisers (finetune.joint_flops, flops_q, flops_d, l1_q, l1_d, df_flops), ramp them longer, or set a "
            "smaller model.alpha"
        )

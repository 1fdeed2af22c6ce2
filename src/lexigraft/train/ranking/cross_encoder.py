"""A cross-encoder trained to put a query's own document before its hard negatives (F1)."""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import TeacherSettings
from lexigraft.model.cross_encoder import CrossEncoder
from lexigraft.train.batches import rows_of_step, steps_of_passes, warmup_within
from lexigraft.train.distributed import gather_rows, own_share
from lexigraft.train.loop import Loop, Schedule, Training, Validation
from lexigraft.train.prefetch import Prefetch
from lexigraft.train.ranking.negatives import HardNegatives, draw
from lexigraft.train.ranking.pair_scores import PairBucket, PairTexts, bucketed_pairs, score_buckets, score_pairs
from lexigraft.train.trainable import set_dropout

NEGATIVES_STREAM = 3  # of the random numbers: apart from those of batches and of the model's own negatives
MEASURED = "MRR@10"


class RankingLists(NamedTuple):
    """Pair i is row query_of[i] of the queries and row document_of[i] of the documents, the query's own; `negatives`
    are those of every query's row."""

    query_of: NDArray[np.int64]
    document_of: NDArray[np.int64]
    negatives: HardNegatives


class Reranking(NamedTuple):
    """What is ranked anew: candidate j is the document documents[j] of query queries[j], in the list lists[j], and is
    relevant[j] or not. Lists are numbered from 0, and each has a relevant candidate."""

    lists: NDArray[np.int64]
    queries: NDArray[np.int64]
    documents: NDArray[np.int64]
    relevant: NDArray[np.bool_]


def train_cross_encoder(
    model: CrossEncoder,
    texts: PairTexts,
    lists: RankingLists,
    settings: TeacherSettings,
    checkpoint: Path,
    recipe: dict[str, Any],
    seed: int,
    validation: Reranking | None = None,
    progress: Progress = SILENT,
) -> Training:
    """Train `model` in place. The history has the loss and `accuracy`, the share of queries whose own document comes
    first, by step, and MRR@10 where there is something to validate on."""
    steps = n_steps(settings, len(lists.query_of))
    set_dropout(model, settings.dropout)

    def prepare(step: int) -> tuple[list[PairBucket], NDArray[np.bool_]]:
        queries, documents = lists_of_step(lists, step, settings, seed)
        known = documents >= 0
        share = own_share(np.arange(known.sum()))
        asked = np.broadcast_to(queries[:, None], known.shape)[known][share]
        return bucketed_pairs(model, texts, asked, documents[known][share]), known

    prefetch = Prefetch(prepare, steps)

    def step_losses(step: int) -> dict[str, Tensor]:
        buckets, known = prefetch(step)
        scores = gather_rows(score_buckets(model, buckets), int(known.sum()))
        found = torch.from_numpy(known).to(scores.device)
        table = torch.full(found.shape, float("-inf"), device=scores.device).masked_scatter(found, scores)
        return {"loss": listwise_loss(table), "accuracy": own_is_first(table)}

    measured = None
    if validation is not None and settings.validate_every:
        measure = partial(mrr_at_10, model, texts, validation)
        measured = Validation(measure, settings.validate_every, MEASURED, int(validation.lists[-1]) + 1)
    warmup = settings.warmup if settings.steps else warmup_within(settings.warmup, steps)
    schedule = Schedule(steps, 0, warmup, settings.learning_rate)
    loop = Loop("teacher", schedule, checkpoint, settings.checkpoint_every, recipe, seed, progress=progress)
    return loop.run(model, step_losses, measured)


def n_steps(settings: TeacherSettings, n_pairs: int) -> int:
    """How long it trains, where `n_pairs` are one epoch."""
    return settings.steps or steps_of_passes(settings.epochs, n_pairs, settings.batch)


def lists_of_step(
    lists: RankingLists, step: int, settings: TeacherSettings, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(rows of queries [lists], rows of documents [lists, 1 + negatives]) of a step: the own document first, -1 where a
    query has no more negatives."""
    rows = rows_of_step(step, len(lists.query_of), settings.batch, seed)
    queries = lists.query_of[rows]
    rng = np.random.default_rng((seed, NEGATIVES_STREAM, step))
    drawn, _ = draw(lists.negatives, queries, settings.n_negatives, rng)
    return queries, np.concatenate((lists.document_of[rows, None], drawn), axis=1)


def listwise_loss(scores: Tensor) -> Tensor:
    """Mean over queries of -log softmax(scores) at the own document, the first column; `scores` [lists, documents],
    minus infinity where there is none."""
    own = torch.zeros(len(scores), dtype=torch.int64, device=scores.device)
    return nn.functional.cross_entropy(scores, own)


def own_is_first(scores: Tensor) -> Tensor:
    """The share of lists whose first column is higher than all others."""
    return (scores[:, :1] > scores[:, 1:]).all(1).float().mean()


def mrr_at_10(model: CrossEncoder, texts: PairTexts, validation: Reranking) -> float:
    """MRR@10 of the candidates in the order of the model's scores."""
    return mrr(score_pairs(model, texts, validation.queries, validation.documents), validation, 10)


def mrr(scores: NDArray[np.float32], validation: Reranking, k: int) -> float:
    """Mean over lists of 1 / the place of the best relevant candidate, 0 where that is beyond k. Of equal scores the
    relevant one is last, so that a model which scores all alike gains nothing by it."""
    n_lists = int(validation.lists[-1]) + 1
    best = np.full(n_lists, -np.inf, np.float32)
    np.maximum.at(best, validation.lists[validation.relevant], scores[validation.relevant])
    ahead = ~validation.relevant & (scores >= best[validation.lists])
    places = 1 + np.bincount(validation.lists[ahead], minlength=n_lists)
    return float(np.where(places <= k, 1 / places, 0.0).mean())

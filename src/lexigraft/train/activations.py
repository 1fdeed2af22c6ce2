"""What a model does before it is trained to rank: how many terms its texts get, how heavy, and their loss (H3)."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.core.settings import FinetuneSettings
from lexigraft.inference.reading import ReadTexts
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.inputs import inputs_of
from lexigraft.train.ranking.buckets import Encode
from lexigraft.train.ranking.losses import in_batch_loss, keep_heaviest
from lexigraft.train.ranking.objective import mean_terms
from lexigraft.train.ranking.pairs import Judged, TrainingPairs, batch_of_step

AT_ONCE = 64
MOST_PAIRS = 256


@dataclass(frozen=True)
class Activations:
    """Of `n_pairs` queries and their documents, before top-k masks: the share of all logits (after pooling) that are
    positive, mean and maximum of the weights they become, terms a query and a document.

    `first_loss` is what fine-tuning would begin with, masks and temperature as set; `chance_loss` = log(n_pairs) is
    that of equal scores.
    """

    n_pairs: int
    positive_share: float
    mean_weight: float
    max_weight: float
    l0_q: float
    l0_d: float
    first_loss: float
    chance_loss: float


def measure_activations(
    queries: Tensor, documents: Tensor, relevant: NDArray[np.bool_], settings: FinetuneSettings
) -> Activations:
    """`queries`, `documents` [pairs, vocabulary]: unmasked vectors, the own document of query i being document i;
    `relevant` [pairs, pairs]: documents that are no negatives of a query."""
    weights = torch.cat([queries, documents])
    positive = weights[weights > 0]
    scores = keep_heaviest(queries, settings.qk) @ keep_heaviest(documents, settings.dk).T
    same = torch.from_numpy(np.ascontiguousarray(relevant)).to(scores.device)
    return Activations(
        n_pairs=len(queries),
        positive_share=len(positive) / weights.numel(),
        mean_weight=float(positive.mean()) if len(positive) else 0.0,
        max_weight=float(positive.max()) if len(positive) else 0.0,
        l0_q=float(mean_terms(queries)),
        l0_d=float(mean_terms(documents)),
        first_loss=float(in_batch_loss(scores, same, settings.temperature, settings.symmetric)),
        chance_loss=math.log(len(queries)),
    )


@torch.inference_mode()
def first_activations(
    encoder: SparseEncoder, pairs: TrainingPairs, settings: FinetuneSettings, seed: int
) -> Activations:
    """The activations of the first batch of fine-tuning, or of `MOST_PAIRS` of it where it is larger."""
    batch = batch_of_step(pairs, Judged(pairs), 0, min(settings.batch, MOST_PAIRS), seed)
    queries = encode_rows(encoder, pairs.queries, batch.queries, encoder.queries)
    documents = encode_rows(encoder, pairs.documents, batch.documents)
    return measure_activations(queries, documents, batch.relevant, settings)


@torch.inference_mode()
def encode_rows(
    encoder: SparseEncoder, texts: ReadTexts, rows: NDArray[np.int64], encode: Encode | None = None
) -> Tensor:
    """Vectors [rows, vocabulary] of some texts, a few at a time; `encode`: by the encoder's `queries`, say."""
    encode = encode or encoder
    device, pad_id = next(encoder.parameters()).device, encoder.tokenizer.special.pad
    parts = [rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE)]
    return torch.cat([encode(*inputs_of(texts, part, pad_id, device)) for part in parts])

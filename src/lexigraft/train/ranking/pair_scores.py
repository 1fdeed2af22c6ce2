"""Many pairs through a cross-encoder, in rectangles of like length: as a step of training does it, and to score."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.model.cross_encoder import CrossEncoder
from lexigraft.model.precision import fast_precision
from lexigraft.model.text_pairs import PairInputs, SubwordTexts, pair_inputs
from lexigraft.train.batches import GPU_PADDING, MOST_PADDING, length_buckets

SORTED_TOGETHER = 8192  # pairs: enough to find many of like length, few enough to be shown as they go
CPU_RECTANGLE, GPU_RECTANGLE = 32, 512  # pairs: a CPU gains nothing from more, a GPU waits for launches


class PairTexts(NamedTuple):
    queries: SubwordTexts
    documents: SubwordTexts


class PairBucket(NamedTuple):
    """Pairs of like length, on the CPU, and their places in the batch."""

    places: NDArray[np.int64]
    inputs: PairInputs


def bucketed_pairs(
    model: CrossEncoder, texts: PairTexts, queries: NDArray[np.int64], documents: NDArray[np.int64], most: int = 0
) -> list[PairBucket]:
    """Pairs of rows as rectangles, at most `most` pairs each (0: any number)."""
    is_gpu = next(model.parameters()).device.type == "cuda"
    lengths = texts.queries.lengths(queries) + texts.documents.lengths(documents) + model.template.n_special
    groups = length_buckets(lengths, most, GPU_PADDING if is_gpu else MOST_PADDING)
    return [
        PairBucket(places, pair_inputs(model.template, *texts, queries[places], documents[places], model.pad_id))
        for places in groups
    ]


def score_buckets(model: CrossEncoder, buckets: list[PairBucket]) -> Tensor:
    """Scores [pairs] in the batch's order, differentiable."""
    device = next(model.parameters()).device
    parts = [model(PairInputs(*(tensor.to(device) for tensor in bucket.inputs))) for bucket in buckets]
    places = np.concatenate([bucket.places for bucket in buckets])
    return torch.cat(parts)[torch.from_numpy(np.argsort(places)).to(device)]


@torch.inference_mode()
def score_pairs(
    model: CrossEncoder, texts: PairTexts, queries: NDArray[np.int64], documents: NDArray[np.int64]
) -> NDArray[np.float32]:
    """The scores of any number of pairs of rows, [pairs]; the model stays in its mode, training or evaluation."""
    device = next(model.parameters()).device
    most = GPU_RECTANGLE if device.type == "cuda" else CPU_RECTANGLE
    scores = np.empty(len(queries), np.float32)
    for start in range(0, len(queries), SORTED_TOGETHER):
        some = slice(start, start + SORTED_TOGETHER)
        buckets = bucketed_pairs(model, texts, queries[some], documents[some], most)
        with fast_precision(device):
            scores[some] = score_buckets(model, buckets).float().cpu().numpy()
    return scores

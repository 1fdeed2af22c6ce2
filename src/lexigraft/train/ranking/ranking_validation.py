"""R@10 of a model in training, on queries and documents kept apart (F4): computed here, so that training needs nothing
else."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.inference.reading import ReadTexts
from lexigraft.model.encoder import SparseEncoder
from lexigraft.train.ranking.buckets import Encode, bucketed, encode_buckets
from lexigraft.train.ranking.losses import keep_heaviest

DOCUMENTS_AT_ONCE = 128


class ValidationTexts(NamedTuple):
    """Queries, documents to rank for them, and the row of the one document that each query wants."""

    queries: ReadTexts
    documents: ReadTexts
    wanted: NDArray[np.int64]


@torch.inference_mode()
def recall_at_10(encoder: SparseEncoder, validation: ValidationTexts, qk: int, dk: int) -> float:
    """R@10 of the vectors as they will be searched: cut to the `qk` and `dk` heaviest terms (0: all)."""

    device, pad_id = next(encoder.parameters()).device, encoder.tokenizer.special.pad

    def encode(by: Encode, texts: ReadTexts, rows: NDArray[np.int64], keep: int) -> Tensor:
        return keep_heaviest(encode_buckets(by, bucketed(texts, rows, pad_id), device), keep)

    asked, parts = encode(encoder.queries, validation.queries, np.arange(len(validation.queries)), qk), []
    for start in range(0, len(validation.documents), DOCUMENTS_AT_ONCE):
        rows = np.arange(start, min(start + DOCUMENTS_AT_ONCE, len(validation.documents)))
        parts.append(asked @ encode(encoder, validation.documents, rows, dk).T)
    return recall(torch.cat(parts, dim=1), torch.from_numpy(validation.wanted).to(asked.device), 10)


def recall(scores: Tensor, wanted: Tensor, k: int) -> float:
    """R@k: the share of rows whose one wanted column is among the k highest scores. Of equal scores the wanted one is
    last, so that a model which scores all documents alike finds nothing."""
    own = scores.gather(1, wanted.unsqueeze(1))
    return float(((scores >= own).sum(1) <= k).float().mean())

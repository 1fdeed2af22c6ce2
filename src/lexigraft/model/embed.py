"""Dense vectors of short texts from any backbone: the mean of its last hidden states."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.core.progress import SILENT, Progress
from lexigraft.model.backbone import Backbone, default_device

BATCH, LENGTH = 256, 64  # texts at once; subwords of a text, the two special ones included


def embed(
    backbone: Backbone, texts: Sequence[str], progress: Progress = SILENT, label: str = "embedding queries"
) -> NDArray[np.float32]:
    """[texts, width]: the mean over a text's subwords, special ones included, of unit length.

    Hidden states are those before any masked-language-model head. Texts of equal length are read together.
    """
    special, device = backbone.tokenizer.special, default_device()
    # The bare encoder, whichever head stands on it.
    encoder: Any = backbone.body.model.base_model
    encoder.to(device).eval()  # not in inference mode: what is moved there can never be trained
    length = min(LENGTH, backbone.longest_text or LENGTH)
    subwords = [
        [special.begin, *ids[: length - 2], special.end]
        for start in range(0, len(texts), BATCH)
        for ids in backbone.tokenizer.spell(texts[start : start + BATCH])
    ]
    order = sorted(range(len(texts)), key=lambda place: -len(subwords[place]))
    found = np.zeros((len(texts), backbone.width), np.float32)
    batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    for rows in progress.track(batches, label, len(batches)):
        longest = len(subwords[rows[0]])
        ids = torch.full((len(rows), longest), special.pad)
        mask = torch.zeros((len(rows), longest), dtype=torch.long)
        for at, row in enumerate(rows):
            ids[at, : len(subwords[row])] = torch.tensor(subwords[row])
            mask[at, : len(subwords[row])] = 1
        found[rows] = _means(encoder, ids.to(device), mask.to(device)).cpu().numpy()
    return found


@torch.inference_mode()
def _means(encoder: Any, ids: Tensor, mask: Tensor) -> Tensor:
    hidden = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    weight = mask[..., None].to(hidden.dtype)
    return torch.nn.functional.normalize((hidden * weight).sum(1) / weight.sum(1), dim=1)

"""TILDE (X1; Zhuang and Zuccon, 2021): a masked language model whose logits at the first token are those of independent
probabilities, one a subword: how likely a text that belongs to this one holds it."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.model.inputs import padded
from lexigraft.model.masked_lm import MaskedLM
from lexigraft.model.precision import fast_precision
from lexigraft.vocab.aligned import AlignedTexts, take

CPU_LOGITS, GPU_LOGITS = 1 << 22, 1 << 27  # computed at once


def first_states(model: MaskedLM, subwords: Tensor, mask: Tensor) -> Tensor:
    """[texts, width]: the transformed hidden state of each text's first token."""
    states: Tensor = model(subwords, mask)[:, 0]
    return states


@torch.inference_mode()
def likeliest_terms(model: MaskedLM, texts: AlignedTexts, top: int) -> NDArray[np.int64]:
    """[texts, top]: the subwords of each text's highest logits, the highest first; all of them where there are fewer.

    Computed in order of length, at most some million logits at a time.
    """
    device, n_terms = model.weight.device, len(model.weight)
    found = np.zeros((len(texts), min(top, n_terms)), np.int64)
    order = np.argsort(np.diff(texts.indptr), kind="stable")
    at_once = max(1, (CPU_LOGITS if device.type == "cpu" else GPU_LOGITS) // n_terms)
    for start in range(0, len(order), at_once):
        places = order[start : start + at_once]
        some = take(texts, places)
        with fast_precision(device):
            states = first_states(model, *padded(some, some.subwords, model.tokenizer.special.pad, device))
            logits = (states @ model.weight.T.to(states.dtype)).float() + model.bias.float()
        found[places] = logits.topk(found.shape[1], dim=1).indices.cpu().numpy()
    return found

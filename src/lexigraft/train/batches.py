"""Which rows a step sees: a function of the seed and the step alone, which is what makes resuming exact."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.vocab.aligned import AlignedTexts, pad


def rows_of_step(step: int, n_rows: int, batch: int, seed: int) -> NDArray[np.int64]:
    """The rows of a step: every pass goes through all rows once, in an order of its own; a batch never spans passes."""
    per_pass = max(1, n_rows // batch)
    order = np.random.default_rng((seed, step // per_pass)).permutation(n_rows)
    start = (step % per_pass) * batch
    return np.sort(order[start : start + batch])


def padded(texts: AlignedTexts, values: NDArray[np.int32], fill: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """(values, mask) of ragged rows as rectangles on `device`."""
    rectangle, mask = pad(texts.indptr, values, fill)
    return torch.from_numpy(rectangle).to(device), torch.from_numpy(mask).to(device)

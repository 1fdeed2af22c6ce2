"""Texts that were read, as torch takes them: rectangles on a device."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.inference.reading import ReadTexts, pooled_tokens
from lexigraft.model.head import Bags
from lexigraft.vocab.aligned import AlignedTexts, pad, take
from lexigraft.vocab.bags import take_bags

Rectangles = tuple[Tensor, Tensor, Tensor]  # subwords, mask, pooled tokens: each [batch, length]


class Inputs(NamedTuple):
    """What `SparseEncoder` takes: [batch, length] three times, and the own words of each text."""

    subwords: Tensor
    mask: Tensor
    pooled: Tensor
    bags: Bags


def inputs_of(texts: ReadTexts, rows: NDArray[np.int64], pad_id: int, device: torch.device) -> Inputs:
    """Some texts on `device`."""
    bags = take_bags(texts.bags, rows)
    row = np.repeat(np.arange(len(rows)), np.diff(bags.indptr))
    own = (torch.from_numpy(part).to(device) for part in (row, bags.terms.astype(np.int64), bags.weights))
    return Inputs(*rectangles_of(texts, rows, pad_id, device), Bags(*own))


def rectangles_of(texts: ReadTexts, rows: NDArray[np.int64], pad_id: int, device: torch.device) -> Rectangles:
    """The same without own words."""
    batch = take(texts.aligned, rows)
    subwords, mask = padded(batch, batch.subwords, pad_id, device)
    pooled, _ = padded(batch, pooled_tokens(batch, "words").astype(np.int32), 0, device)
    return subwords, mask, pooled


def to_device(inputs: Inputs, device: torch.device) -> Inputs:
    """Inputs made on the CPU, copied while the device works on."""
    subwords, mask, pooled = (sent(part, device) for part in (inputs.subwords, inputs.mask, inputs.pooled))
    return Inputs(subwords, mask, pooled, Bags(*(sent(part, device) for part in inputs.bags)))


def sent(tensor: Tensor, device: torch.device) -> Tensor:
    """Numbers that lie on the CPU and that numpy knows, on `device`; a GPU is not waited for. numpy copies them to
    where a GPU can read: torch would by all cores at once, and wait there for those on which other processes read."""
    if device.type == "cpu":
        return tensor
    waiting = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    np.copyto(waiting.numpy(), tensor.numpy())
    return waiting.to(device, non_blocking=True)


def padded(texts: AlignedTexts, values: NDArray[np.int32], fill: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """(values, mask) of ragged rows as rectangles on `device`."""
    rectangle, mask = pad(texts.indptr, values, fill)
    return torch.from_numpy(rectangle).to(device), torch.from_numpy(mask).to(device)

"""Texts as a model takes them: the beginning of each as subwords, and the terms of the whole of it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.head import Bags
from lexigraft.vocab.aligned import NOT_POOLED, AlignedTexts, Extent, ordinary_subwords, pad, take
from lexigraft.vocab.bags import WeightedBags, document_weights, query_weights, take_bags
from lexigraft.vocab.expansions import read_expanded
from lexigraft.vocab.reader import TextReader


class Inputs(NamedTuple):
    """What `SparseEncoder` takes: [batch, length] three times, and the own words of each text."""

    subwords: Tensor
    mask: Tensor
    pooled: Tensor
    bags: Bags


class ReadTexts(NamedTuple):
    """Texts as they were read; of documents that were read just now, `extent` says how much of them that is."""

    aligned: AlignedTexts
    bags: WeightedBags
    extent: Extent | None = None

    def __len__(self) -> int:
        return len(self.aligned)


def read_documents(encoder: SparseEncoder, reader: TextReader, texts: Sequence[str], length: int) -> ReadTexts:
    """The beginnings of documents and, where the model reads expansions, of their expansions (`vocab.expansions`)."""
    if most := encoder.meta.expansion_length:
        aligned, bags, extent = read_expanded(reader, texts, length, most)
    else:
        aligned, bags, whole = reader.read_measured(texts, length)
        extent = Extent(ordinary_subwords(aligned), whole)
    return ReadTexts(aligned, document_weights(bags, encoder.meta.mean_words), extent)


def read_queries(reader: TextReader, texts: Sequence[str], length: int) -> ReadTexts:
    aligned, bags = reader.read_both(texts, length)
    return ReadTexts(aligned, query_weights(bags))


def inputs_of(texts: ReadTexts, rows: NDArray[np.int64], pad_id: int, device: torch.device) -> Inputs:
    """Some texts on `device`. Stop-words and special tokens are not pooled, unless a text has no other word; of a text
    without words nothing is, and its vector is empty."""
    batch, bags = take(texts.aligned, rows), take_bags(texts.bags, rows)
    row = np.repeat(np.arange(len(rows)), np.diff(bags.indptr))
    own = (torch.from_numpy(part).to(device) for part in (row, bags.terms.astype(np.int64), bags.weights))
    subwords, mask = padded(batch, batch.subwords, pad_id, device)
    said, _ = padded(batch, (batch.terms != NOT_POOLED).astype(np.int32), 0, device)
    words, _ = padded(batch, (batch.words >= 0).astype(np.int32), 0, device)
    pooled = torch.where(said.any(dim=1, keepdim=True), said, mask) * words.any(dim=1, keepdim=True)
    return Inputs(subwords, mask, pooled, Bags(*own))


def to_device(inputs: Inputs, device: torch.device) -> Inputs:
    """Inputs made on the CPU, copied while the device works on."""
    if device.type == "cpu":
        return inputs

    def move(tensor: Tensor) -> Tensor:
        return tensor.pin_memory().to(device, non_blocking=True)

    return Inputs(move(inputs.subwords), move(inputs.mask), move(inputs.pooled), Bags(*map(move, inputs.bags)))


def padded(texts: AlignedTexts, values: NDArray[np.int32], fill: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """(values, mask) of ragged rows as rectangles on `device`."""
    rectangle, mask = pad(texts.indptr, values, fill)
    return torch.from_numpy(rectangle).to(device), torch.from_numpy(mask).to(device)

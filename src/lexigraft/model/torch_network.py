"""A trained model in torch, as whoever encodes texts knows it: on a GPU, or where there is no inference form."""

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np
import torch
from numpy.typing import NDArray

from lexigraft.inference.meta import EncoderMeta
from lexigraft.inference.network import SMALLEST_WEIGHT, Rows
from lexigraft.inference.reading import ReadTexts
from lexigraft.inference.threads import usable_threads
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.inputs import inputs_of, rectangles_of, sent
from lexigraft.model.listed_weights import ROOM, list_vectors, lists_weights, on_its_way, own_words_of
from lexigraft.model.precision import fast_precision
from lexigraft.model.trace import trace_terms
from lexigraft.vocab.bags import take_bags
from lexigraft.vocab.reader import TextReader
from lexigraft.vocab.subwords import SpecialTokens

CPU_BATCH, GPU_BATCH = 64, 512
MOST_READERS = 4  # with eight, 64,920 abstracts took a tenth longer: all begin when the GPU does
CPU = torch.device("cpu")

Batch = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]  # how many terms each text has; terms, weights

NO_TEXT: Batch = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)


class TorchNetwork:
    """`encoder` on the device where it is; `exact`: in its full precision on every machine."""

    def __init__(self, encoder: SparseEncoder, exact: bool = False) -> None:
        self.encoder, self._exact = encoder, exact

    @property
    def meta(self) -> EncoderMeta:
        return self.encoder.meta

    @cached_property
    def reader(self) -> TextReader:
        return self.encoder.reader()

    @property
    def n_readers(self) -> int:
        """A GPU that writes leaves to readers the cores that this process may use."""
        return 0 if self._device.type == "cpu" else min(MOST_READERS, usable_threads() - 1)

    def write(self, read: ReadTexts, are_queries: bool) -> Rows:
        return self.begin(read, are_queries)()

    @torch.inference_mode()
    def begin(self, read: ReadTexts, are_queries: bool) -> Callable[[], Rows]:
        """In order; computed in order of length. While a GPU works on one batch the next is prepared, and on the last
        it still works when this returns."""
        order = np.argsort(np.diff(read.aligned.indptr), kind="stable")
        at_once = CPU_BATCH if self._device.type == "cpu" else GPU_BATCH
        start_one = self._begin_list if lists_weights(self.encoder, are_queries) else partial(self._whole, are_queries)
        parts: list[Batch] = [NO_TEXT]
        travelling: list[Callable[[], Batch]] = []
        for start in range(0, len(order), at_once):
            travelling.append(start_one(read, order[start : start + at_once]))
            if len(travelling) > 1:
                parts.append(travelling.pop(0)())
        return lambda: _in_order([*parts, *(last() for last in travelling)], order)

    def _whole(self, are_queries: bool, read: ReadTexts, places: NDArray[np.int64]) -> Callable[[], Batch]:
        """Some texts by whole vectors over the vocabulary."""
        weigh = self.encoder.queries if are_queries else self.encoder
        with fast_precision(self._device, enabled=not self._exact):
            dense = weigh(*inputs_of(read, places, self.special.pad, self._device)).float()
        rows, columns = (dense > SMALLEST_WEIGHT).nonzero(as_tuple=True)  # there: only these leave a GPU
        counts = torch.bincount(rows, minlength=len(places))
        found = counts.cpu().numpy(), columns.int().cpu().numpy(), dense[rows, columns].cpu().numpy()
        return lambda: found

    def _begin_list(self, read: ReadTexts, places: NDArray[np.int64]) -> Callable[[], Batch]:
        """Some texts by lists of terms; those with more terms, or own words, than a list holds by whole vectors."""
        subwords, mask, pooled = (
            sent(part, self._device) for part in rectangles_of(read, places, self.special.pad, CPU)
        )
        own = own_words_of(take_bags(read.bags, places))
        own = own._replace(terms=sent(own.terms, self._device), amounts=sent(own.amounts, self._device))
        with fast_precision(self._device, enabled=not self._exact):
            arriving = on_its_way(list_vectors(self.encoder, (subwords, mask, pooled), own, SMALLEST_WEIGHT))

        def arrived() -> Batch:
            counts, terms, weights, n_found = (part.numpy() for part in arriving())
            n = int(counts.sum())
            found: Batch = counts, terms[:n].copy(), weights[:n].copy()  # the rest is room that a GPU copied to
            cut = np.flatnonzero((n_found > ROOM) | own.are_too_many)
            return self._with_whole(found, cut, read, places) if len(cut) else found

        return arrived

    @torch.inference_mode()
    def _with_whole(self, found: Batch, cut: NDArray[np.int64], read: ReadTexts, places: NDArray[np.int64]) -> Batch:
        """`found`, with the texts at `cut` encoded once more."""
        whole = self._whole(False, read, places[cut])()
        rows = np.repeat(np.arange(len(places)), found[0])
        kept = ~np.isin(rows, cut)
        row = np.concatenate((rows[kept], np.repeat(cut, whole[0])))
        terms, weights = (np.concatenate((one[kept], other)) for one, other in zip(found[1:], whole[1:], strict=True))
        order = np.argsort(row, kind="stable")
        return np.bincount(row, minlength=len(places)), terms[order], weights[order]

    @property
    def _device(self) -> torch.device:
        return self.encoder.head.weight.device

    def positions(self, read: ReadTexts, terms: NDArray[np.int32]) -> NDArray[np.int32]:
        device = next(self.encoder.parameters()).device
        inputs = inputs_of(read, np.zeros(1, np.int64), self.encoder.tokenizer.special.pad, device)
        return trace_terms(self.encoder, inputs, terms, self._exact).positions

    @property
    def special(self) -> SpecialTokens:
        return self.encoder.tokenizer.special

    @property
    def not_terms(self) -> frozenset[int]:
        return frozenset(int(number) for number in self.encoder.backbone.hf_tokenizer.all_special_ids)

    def subword(self, number: int) -> str:
        return str(self.encoder.backbone.hf_tokenizer.convert_ids_to_tokens(number))


def _in_order(parts: list[Batch], order: NDArray[np.int64]) -> Rows:
    """The rows of batches, whose texts are those of `order`, one after the other, as the texts were given."""
    counts, terms, weights = (np.concatenate(some) for some in zip(*parts, strict=True))
    lengths, starts = np.empty_like(counts), np.empty_like(counts)
    lengths[order], starts[order] = counts, np.cumsum(counts) - counts
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    at = np.repeat(starts - indptr[:-1], lengths) + np.arange(indptr[-1])
    return Rows(indptr, terms[at], weights[at])

"""A trained model in torch, as whoever encodes texts knows it: on a GPU, or where there is no inference form."""

from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from lexigraft.inference.meta import EncoderMeta
from lexigraft.inference.network import SMALLEST_WEIGHT, Rows
from lexigraft.inference.reading import ReadTexts
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.inputs import inputs_of
from lexigraft.model.precision import fast_precision
from lexigraft.model.trace import trace_terms
from lexigraft.vocab.reader import TextReader
from lexigraft.vocab.subwords import SpecialTokens

CPU_BATCH, GPU_BATCH = 64, 512


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

    @torch.inference_mode()
    def write(self, read: ReadTexts, are_queries: bool) -> Rows:
        """In order; computed in order of length."""
        device, pad_id = next(self.encoder.parameters()).device, self.encoder.tokenizer.special.pad
        weigh = self.encoder.queries if are_queries else self.encoder
        order = np.argsort(np.diff(read.aligned.indptr), kind="stable")
        at_once = CPU_BATCH if device.type == "cpu" else GPU_BATCH
        texts, terms, weights = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)], [np.zeros(0, np.float32)]
        for start in range(0, len(order), at_once):
            places = order[start : start + at_once]
            with fast_precision(device, enabled=not self._exact):
                dense = weigh(*inputs_of(read, places, pad_id, device)).float()
            rows, columns = (dense > SMALLEST_WEIGHT).nonzero(as_tuple=True)  # there: only these leave a GPU
            texts.append(places[rows.cpu().numpy()])
            terms.append(columns.int().cpu().numpy())
            weights.append(dense[rows, columns].cpu().numpy())
        of_text = np.concatenate(texts)
        in_order = np.argsort(of_text, kind="stable")
        counts = np.bincount(of_text, minlength=len(read))
        indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))
        return Rows(indptr, np.concatenate(terms)[in_order], np.concatenate(weights)[in_order])

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

"""Statistics of raw logits (T6; pre-training study, 4.1.1, appendix E, tables 6 and 7).

Every subword of a document, special tokens and padding apart, has a vector of logits z = W h + b over the vocabulary,
here without masks, ReLU, logarithm, pooling or own words. Standard deviations are those of a population.

    logit-score-std     for each term, the std of its logit over all tokens; the mean of these over the terms
    doc-score-avg @k    for each token, the mean of its k highest logits; the mean over a document's tokens, then over
                        the documents; k is 10, 100 and all
    doc-score-std @k    as doc-score-avg, with the std of a token's k highest logits
    non-neg-terms       the mean and the std over all tokens of how many of a token's logits are 0 or more

Logits exist for a bounded number of tokens at a time. What stays is a mean and a sum of squares for each term, and a
few numbers for each token of the documents at hand.
"""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from lexigraft.core.errors import InputError
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.impact import ImpactHead
from lexigraft.model.inputs import padded
from lexigraft.model.precision import fast_precision
from lexigraft.train.language.linear_cross_entropy import logits_at_once
from lexigraft.vocab.aligned import AlignedTexts, take
from lexigraft.vocab.batching import batches

TOP = (10, 100)
ALL = "all"
TEXTS_AT_ONCE = 64


class LogitStatistics:
    """Adds documents up, some at a time; `result` may be asked at any time after the first token."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        self.weight, self.bias = weight, bias
        self.n_tokens, self.n_documents = 0, 0
        self._mean, self._squares = (torch.zeros(len(bias), dtype=torch.float64, device=bias.device) for _ in range(2))
        self._documents = torch.zeros(2 * (len(TOP) + 1), dtype=torch.float64, device=bias.device)
        self._counts = torch.zeros(2, dtype=torch.float64, device=bias.device)  # of logits >= 0: sum, sum of squares

    @torch.no_grad()
    def add(self, hidden: Tensor, document_of: Tensor) -> None:
        """Whole documents: `hidden` [tokens, width], and for each token the number of its document here, from 0 on
        without gaps."""
        at_once = max(1, logits_at_once(hidden.device) // len(self.bias))
        of_tokens = torch.cat([self._add_tokens(some) for some in torch.split(hidden, at_once)])
        n_documents = int(document_of[-1]) + 1
        sums = of_tokens.new_zeros((n_documents, of_tokens.shape[1])).index_add_(0, document_of, of_tokens)
        self._documents += (sums / torch.bincount(document_of)[:, None]).sum(dim=0)
        self.n_documents += n_documents

    def _add_tokens(self, hidden: Tensor) -> Tensor:
        """[tokens, 2 x tops]: mean and std of each token's highest logits; adds to the sums by term and of counts."""
        exact = torch.promote_types(self.bias.dtype, torch.float32)
        logits = (hidden @ self.weight.T.to(hidden.dtype)).to(exact).add_(self.bias)
        n_positive = (logits >= 0).sum(dim=1).double()
        self._counts += torch.stack([n_positive.sum(), n_positive.square().sum()])
        self._add_terms(logits)
        highest = logits.topk(min(max(TOP), logits.shape[1]), dim=1).values
        parts = [*(highest[:, :k] for k in TOP), logits]
        pairs = (torch.var_mean(part, dim=1, correction=0) for part in parts)
        return torch.stack([value for variance, mean in pairs for value in (mean, variance.sqrt())], dim=1).double()

    def _add_terms(self, logits: Tensor) -> None:
        """Mean and sum of squared distances from it, of what was there and what comes (Chan, Golub and LeVeque)."""
        variance, mean = (part.double() for part in torch.var_mean(logits, dim=0, correction=0))
        n_before, n_new = self.n_tokens, len(logits)
        self.n_tokens += n_new
        distance = mean - self._mean
        self._mean += distance * (n_new / self.n_tokens)
        self._squares += variance * n_new + distance.square() * (n_before * n_new / self.n_tokens)

    def result(self) -> dict[str, float]:
        by_document = (self._documents / self.n_documents).tolist()
        found = {"logit-score-std": float((self._squares / self.n_tokens).sqrt().mean())}
        for place, top in enumerate((*TOP, ALL)):
            found[f"doc-score-avg@{top}"], found[f"doc-score-std@{top}"] = by_document[2 * place : 2 * place + 2]
        mean, of_squares = (self._counts / self.n_tokens).tolist()
        return found | {"non-neg-terms-avg": mean, "non-neg-terms-std": max(0.0, of_squares - mean**2) ** 0.5}


def measure_logits(encoder: SparseEncoder, texts: Iterable[str], length: int) -> LogitStatistics:
    """Statistics of the logits that `encoder` has for `texts`, each read up to `length` subwords; one without words has
    no tokens and is not a document."""
    if isinstance(encoder.head, ImpactHead):
        raise InputError("a uniCOIL model has one impact a token and no logits of terms; there is nothing to measure")
    reader, statistics = encoder.reader(), LogitStatistics(encoder.head.weight, encoder.head.bias)
    for some in batches(texts, len):
        aligned = reader.read(some, length)
        rows = np.flatnonzero(np.diff(aligned.indptr) > 2)  # more than the two special tokens
        for start in range(0, len(rows), TEXTS_AT_ONCE):
            _measure_some(encoder, statistics, take(aligned, rows[start : start + TEXTS_AT_ONCE]))
    return statistics


@torch.inference_mode()
def _measure_some(encoder: SparseEncoder, statistics: LogitStatistics, texts: AlignedTexts) -> None:
    device = encoder.head.weight.device
    subwords, mask = padded(texts, texts.subwords, encoder.tokenizer.special.pad, device)
    is_word, _ = padded(texts, (texts.words >= 0).astype(np.int32), 0, device)
    with fast_precision(device):
        hidden = encoder.body(subwords, mask)
        document_of, place = is_word.nonzero(as_tuple=True)
        statistics.add(hidden[document_of, place], document_of)

"""Biases before fine-tuning, term by term (`model.calibrate` = terms).

One amount for all biases (`quieten`) leaves terms whose rows and biases are large in every document, and terms that are
silent in all of them and so learn nothing. Here every term gets a bias of its own first, so that it is added to the
same share of the documents that do not hold it, p = `first_terms` over the size of the vocabulary:

    b_t <- b_t - a_t,   a_t the (k + 1)-th largest logit of t over n documents without it,   k = ceil(p * n)

Documents that hold a term are left out: how often a word stands in texts is no matter of its bias, and own words are
added to its logit anyway. The aim, neither dead terms nor terms of every document, is that of Activation Potential
Calibration (Geng and Yang, 2026, arXiv 2607.00004), which shifts the biases of a masked language model's head to a rate
of activation; that each term has a shift of its own, and its formula, are ours.
"""

import math

import torch
from torch import Tensor

from lexigraft.core.progress import SILENT, Progress
from lexigraft.inference.reading import ReadTexts
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.head import Bags, SparseHead
from lexigraft.train.quieten import sampled
from lexigraft.train.ranking.buckets import bucketed, encode_buckets

ADDED_TO = 5  # documents of the sample, at least, that a term is added to: fewer say little of how often it will be
FEWEST, MOST = 256, 2048  # documents of the sample
BLOCK = 256  # documents whose logits are held at once


@torch.inference_mode()
def level(encoder: SparseEncoder, documents: ReadTexts, terms: int, progress: Progress = SILENT) -> None:
    """Set each term's bias so that it is added to as many sampled documents as any other, and documents have `terms`
    added terms, or a few more, on average. Nothing is done to sums and impacts, which have no logits."""
    if not isinstance(encoder.head, SparseHead) or encoder.meta.pooling == "sum":
        return
    head = encoder.head
    rows = sampled(len(documents), min(MOST, max(FEWEST, math.ceil(ADDED_TO * len(head.bias) / terms))))
    if not len(rows):
        return
    wanted = min(math.ceil(terms * len(rows) / len(head.bias)), len(rows) - 1)
    largest = head.bias.new_empty((0, len(head.bias)))
    starts = range(0, len(rows), BLOCK)
    for start in progress.track(starts, "levelling biases", len(starts)):
        buckets = bucketed(documents, rows[start : start + BLOCK], encoder.tokenizer.special.pad)
        logits = encode_buckets(lambda *inputs: _of_others(encoder, *inputs), buckets, head.bias.device)
        largest = torch.cat([largest, logits])
        largest = largest.topk(min(wanted + 1, len(largest)), dim=0).values
    head.bias.sub_(amounts(largest))


def amounts(largest: Tensor) -> Tensor:
    """What is taken from each bias: the least of a column of `largest` [documents, terms]. -inf is no document; a term
    without any keeps its bias."""
    least = largest.masked_fill(largest == -torch.inf, torch.inf).amin(0)
    return least.masked_fill(least == torch.inf, 0)


def _of_others(encoder: SparseEncoder, subwords: Tensor, mask: Tensor, pooled: Tensor, bags: Bags) -> Tensor:
    """The logits of a batch [batch, vocabulary], -inf where a document holds the term itself."""
    logits = encoder.logits(subwords, mask, pooled)
    logits[bags.rows, bags.terms] = -torch.inf
    return logits

"""TILDE's training (X1): each side of a relevant pair names the distinct subwords of the other from its first token.

For a pair of a query and a passage the loss is

    mean over valid terms of BCE(term in the query | passage)  +  the same of BCE(term in the passage | query)

Valid terms are all subwords of the vocabulary but special ones and stop-words: those that the other side holds are the
ones, all others the zeros. What is minimised is this times the number of valid terms, a constant: AdamW steps alike,
but the gradient of one word in a large batch stays above the 1e-8 that it adds to what it divides by.

The zeros are nearly everything, so without more the first steps would only teach the bias that words are rare. It
begins where that is known: at the log odds of a term's share of the pairs' texts, less what the untrained head makes of
texts on average. Terms that are not valid begin at those of a term that no text holds, and stay out of the way.
"""

import logging
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.core.processes import n_processes, process_rank
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import TildeSettings
from lexigraft.model.inputs import padded
from lexigraft.model.masked_lm import MaskedLM
from lexigraft.model.tilde import first_states
from lexigraft.train.batches import (
    GPU_PADDING,
    MOST_PADDING,
    length_buckets,
    rows_of_step,
    steps_of_passes,
    warmup_within,
)
from lexigraft.train.distributed import total
from lexigraft.train.language.linear_binary_cross_entropy import Ones, linear_binary_cross_entropy
from lexigraft.train.loop import Loop, Schedule, Training
from lexigraft.vocab.aligned import AlignedTexts, take

SAMPLED_PAIRS, SAMPLED_AT_ONCE = 256, 32  # by which the untrained head is known
TEXTS_AT_ONCE = 1 << 14

log = logging.getLogger(__name__)


class TildePairs(NamedTuple):
    """Pair i is row query_of[i] of the queries and row document_of[i] of the documents."""

    queries: AlignedTexts
    documents: AlignedTexts
    query_of: NDArray[np.int64]
    document_of: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.query_of)


def train_tilde(
    model: MaskedLM,
    pairs: TildePairs,
    counted: NDArray[np.bool_],
    settings: TildeSettings,
    checkpoint: Path,
    recipe: dict[str, Any],
    seed: int,
    progress: Progress = SILENT,
) -> Training:
    """Train `model` in place; `counted` says which subwords are valid terms. The history has by step `loss`, what is
    minimised; `term_loss`, the mean over valid terms; `query_loss` and `document_loss`, which add up to `loss`."""
    begin_at_frequencies(model, pairs, counted)
    n_terms, valid = int(counted.sum()), torch.from_numpy(counted).to(model.weight.device, torch.float32)

    def step_losses(step: int) -> dict[str, Tensor]:
        rows = rows_of_step(step, len(pairs), settings.batch, seed)
        share = np.array_split(rows, n_processes())[process_rank()]
        queries = take(pairs.queries, pairs.query_of[share])
        documents = take(pairs.documents, pairs.document_of[share])
        query = naming_loss(model, documents, queries, counted, valid) / len(rows)
        document = naming_loss(model, queries, documents, counted, valid) / len(rows)
        own, parts = query + document, (total(query), total(document))
        whole = parts[0] + parts[1]
        return {
            "loss": own + (whole - own.detach()), "term_loss": whole / n_terms,
            "query_loss": parts[0], "document_loss": parts[1],
        }  # fmt: skip

    steps = n_steps(settings, len(pairs))
    warmup = warmup_within(settings.warmup, steps) if settings.epochs else settings.warmup
    schedule = Schedule(steps, settings.horizon, warmup, settings.learning_rate)
    loop = Loop("tilde", schedule, checkpoint, settings.checkpoint_every, recipe, seed, progress=progress)
    return loop.run(model, step_losses)


def n_steps(settings: TildeSettings, n_pairs: int) -> int:
    """The steps there will be: those of so many passes over the pairs, where `epochs` says so."""
    return steps_of_passes(settings.epochs, n_pairs, settings.batch) if settings.epochs else settings.steps


def naming_loss(
    model: MaskedLM, given: AlignedTexts, asked: AlignedTexts, counted: NDArray[np.bool_], valid: Tensor
) -> Tensor:
    """The loss of naming the subwords of each text of `asked` from that of `given`, summed over texts and terms;
    `valid` is `counted` as numbers on the model's device."""
    if not len(given):  # more processes than pairs
        return (model.weight.sum() + model.bias.sum()) * 0
    device, pad_id = model.weight.device, model.tokenizer.special.pad
    padding = GPU_PADDING if device.type == "cuda" else MOST_PADDING
    groups = length_buckets(np.diff(given.indptr), padding=padding)
    states = []
    for group in groups:
        some = take(given, group)
        states.append(first_states(model, *padded(some, some.subwords, pad_id, device)))
    indptr, terms = distinct_terms(take(asked, np.concatenate(groups)), counted)
    ones = Ones(torch.from_numpy(indptr), torch.from_numpy(terms).to(device))
    return linear_binary_cross_entropy(torch.cat(states), ones, valid, model.weight, model.bias)


def distinct_terms(texts: AlignedTexts, counted: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(indptr, terms): the subwords of each text that count, ascending, each once."""
    rows, n_terms = np.repeat(np.arange(len(texts)), np.diff(texts.indptr)), len(counted)
    keys = np.unique((rows * n_terms + texts.subwords)[counted[texts.subwords]])
    return np.searchsorted(keys, np.arange(len(texts) + 1) * n_terms).astype(np.int64), keys % n_terms


@torch.no_grad()
def begin_at_frequencies(model: MaskedLM, pairs: TildePairs, counted: NDArray[np.bool_]) -> None:
    """Set the decoder's bias so that an average text gives every term the log odds of its share of the pairs' texts."""
    if model.decoder.bias is None:
        log.info("tilde: the backbone's head has no bias to begin with; it learns first that words are rare")
        return
    n_texts = np.zeros(len(counted), np.int64)
    for texts, rows in ((pairs.queries, pairs.query_of), (pairs.documents, pairs.document_of)):
        n_texts += count_texts(texts, rows, counted)
    share = (n_texts + 0.5) / (2 * len(pairs) + 1)
    odds = torch.from_numpy(np.log(share) - np.log1p(-share)).to(model.weight)
    some = np.linspace(0, len(pairs) - 1, min(len(pairs), SAMPLED_PAIRS)).astype(np.int64)
    sums, was_training = torch.zeros(model.weight.shape[1]).to(model.weight), model.training
    model.eval()
    for texts, rows in ((pairs.queries, pairs.query_of), (pairs.documents, pairs.document_of)):
        for places in np.array_split(some, -(-len(some) // SAMPLED_AT_ONCE)):
            read = take(texts, rows[places])
            sums += first_states(model, *padded(read, read.subwords, model.tokenizer.special.pad, sums.device)).sum(0)
    model.train(was_training)
    model.decoder.bias.copy_(odds - model.weight @ (sums / (2 * len(some))))


def count_texts(texts: AlignedTexts, rows: NDArray[np.int64], counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For every subword that counts, how many of the texts at `rows` hold it; a row counts as often as it comes."""
    times, found = np.bincount(rows, minlength=len(texts)), np.zeros(len(counted), np.int64)
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        some = np.arange(start, min(start + TEXTS_AT_ONCE, len(texts)))
        indptr, terms = distinct_terms(take(texts, some), counted)
        found += np.bincount(terms, np.repeat(times[some], np.diff(indptr)), len(counted)).astype(np.int64)
    return found

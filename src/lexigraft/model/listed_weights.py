"""A model's vectors on a GPU as lists of terms, without any [texts, vocabulary]: how texts are encoded there.

The kernel lists what weighs something without own words. A text's own words are weighed by themselves, some at a time,
and take the place of what the list says of the same term. They are those of the whole document, which may be long: of
one with more than `MOST_OWN`, none is listed here.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.inference.meta import BY_MODEL, LOG1P_TWICE, SUM
from lexigraft.model.activation import activate
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.head import SparseHead
from lexigraft.model.inputs import Rectangles, sent
from lexigraft.model.kernels import kernels_for
from lexigraft.vocab.bags import WeightedBags

ROOM = 2048  # terms a text
MOST_OWN, OWN_AT_ONCE = 4096, 128  # own words of a text; whose rows of the head are gathered together


class OwnWords(NamedTuple):
    """`terms` [texts, most], -1 where a text has no more, and how much `own` of each counts. `counts` [texts], how many
    there are; none of a text with too many, which `are_too_many` says."""

    terms: Tensor
    amounts: Tensor
    counts: NDArray[np.int64]
    are_too_many: NDArray[np.bool_]


class ListedVectors(NamedTuple):
    """`counts` [texts]: how many terms each text has. `terms` [texts * room], ascending in each, and their `weights`:
    one text after the other, and nothing that means something behind the last. `found` [texts]: how many terms the
    kernel found, which may be more than it had room for."""

    counts: Tensor
    terms: Tensor
    weights: Tensor
    found: Tensor


def lists_weights(encoder: SparseEncoder, are_queries: bool) -> bool:
    """Whether this model's vectors of such texts can be listed where it is."""
    by_model = not are_queries or encoder.meta.queries == BY_MODEL
    is_pooled = isinstance(encoder.head, SparseHead) and encoder.meta.pooling != SUM
    return by_model and is_pooled and kernels_for(encoder.head.weight) is not None


def own_words_of(bags: WeightedBags) -> OwnWords:
    """The own words of some texts as rectangles, on the CPU."""
    said = np.diff(bags.indptr)
    are_too_many = said > MOST_OWN
    counts, is_listed = np.where(are_too_many, 0, said), np.repeat(~are_too_many, said)
    most = int(counts.max(initial=0))
    terms, amounts = np.full((len(counts), most), -1, np.int32), np.zeros((len(counts), most), np.float32)
    is_there: NDArray[np.bool_] = np.arange(most) < counts[:, None]
    terms[is_there], amounts[is_there] = bags.terms[is_listed], bags.weights[is_listed]
    return OwnWords(torch.from_numpy(terms), torch.from_numpy(amounts), counts, are_too_many)


def list_vectors(encoder: SparseEncoder, texts: Rectangles, own: OwnWords, above: float) -> ListedVectors:
    """What of each text weighs more than `above`; nothing here waits for the device."""
    head, meta = encoder.head, encoder.meta
    assert isinstance(head, SparseHead), "a head of terms"
    hidden, pooled = encoder.pooled_states(*texts)
    found = kernels_for(hidden).list_weights(
        hidden, pooled, head.weight, head.bias, above, meta.activation == LOG1P_TWICE, ROOM
    )
    n_terms = len(head.bias)
    is_listed = torch.arange(ROOM, device=hidden.device) < found.counts[:, None]
    keys, weights = torch.where(is_listed, found.terms, n_terms) * 2 + 1, found.weights
    if head.own is not None and own.terms.shape[1]:
        of_own = _largest_of(own, hidden, pooled, head) + head.own[own.terms.clamp_min(0)] * own.amounts
        of_own = activate(of_own, meta.activation)
        keys = torch.cat([torch.where(own.terms >= 0, own.terms, n_terms) * 2, keys], dim=1)
        weights = torch.cat([of_own, weights], dim=1)
    keys, order = keys.sort(dim=1)
    terms, weights = keys >> 1, weights.gather(1, order)
    is_kept = (terms < n_terms) & (weights > above)
    is_kept[:, 1:] &= terms[:, 1:] != terms[:, :-1]  # an own word stands before what is listed of the same term
    terms, weights = _in_front(is_kept, terms.int(), weights)
    return ListedVectors(is_kept.sum(1), terms, weights, found.counts)


def _in_front(is_chosen: Tensor, *parts: Tensor) -> list[Tensor]:
    """Of each part what is chosen, in order and in front of as much room as all of it takes: choosing alone would wait
    for the device, to know how much there is."""
    chosen = is_chosen.flatten()
    n = len(chosen)
    at = torch.where(chosen, chosen.cumsum(0) - 1, n)  # what is not chosen ends in one place behind all others
    return [part.new_empty(n + 1).scatter_(0, at, part.flatten())[:n] for part in parts]


def on_its_way(found: ListedVectors) -> Callable[[], ListedVectors]:
    """Begin to copy what a GPU will have found; what is returned waits for it."""
    if not found.terms.is_cuda:
        return lambda: found
    copies = ListedVectors(*(torch.empty(part.shape, dtype=part.dtype, pin_memory=True) for part in found))
    for copy, part in zip(copies, found, strict=True):
        copy.copy_(part, non_blocking=True)
    is_there = torch.cuda.Event()  # type: ignore[no-untyped-call]
    is_there.record()

    def arrived() -> ListedVectors:
        is_there.synchronize()
        return copies

    return arrived


def _largest_of(own: OwnWords, hidden: Tensor, pooled: Tensor, head: SparseHead) -> Tensor:
    """The largest logits of each text's own words [texts, most], multiplied in the precision of `hidden`."""
    found = torch.zeros(own.terms.shape, device=hidden.device)
    with torch.autocast(hidden.device.type, enabled=False):
        for start in range(0, own.terms.shape[1], OWN_AT_ONCE):
            some, columns = np.flatnonzero(own.counts > start), slice(start, start + OWN_AT_ONCE)
            texts = slice(None) if len(some) == len(own.counts) else sent(torch.from_numpy(some), hidden.device)
            chosen = own.terms[texts, columns].clamp_min(0).long()
            rows = head.weight[chosen].to(hidden.dtype).float()
            logits = hidden[texts].float() @ rows.transpose(1, 2)  # [texts, length, some]
            best = logits.masked_fill(~pooled[texts].bool().unsqueeze(2), float("-inf")).amax(1)
            found[texts, columns] = best + head.bias[chosen]
    return found

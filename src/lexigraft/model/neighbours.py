"""A head whose composed terms start from their neighbours (`model.graft` = neighbours).

A term that is one subword of the backbone is an *anchor*: the row that pre-training gave it is its own. The mean of the
rows of a term's subwords, which any other term would get, says little of its meaning ("def", "##ib", "##rill"). Here it
gets a combination of the rows of those anchors that lie nearest to it in a space where every term has a vector:

    row_t = n_t * unit(sum_a w_ta row_a),   w_t = sparsemax(cosines of t with all anchors),   n_t = sum_a w_ta |row_a|

and the bias sum_a w_ta bias_a. Sparsemax (Martins and Astudillo, 2016) is the point of the simplex nearest to the
cosines: it gives all but a few anchors exactly 0 and needs no temperature.

This follows the semantic initialisation of Vocabulary Transfer (Geng and Yang, 2026, arXiv 2607.00004), and of FOCUS
(Dobler and de Melo, 2023) before it, as far as their abstracts and summaries tell. Ours are the space, which is that of
the backbone's own vectors of the terms' texts, their mean taken away, and the norm of a row: that of a combination of
rows would be shorter than theirs.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lexigraft.core.errors import SettingError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.model.backbone import Backbone, default_device
from lexigraft.model.embed import embed
from lexigraft.model.head import SparseHead
from lexigraft.vocab.lexicon import Lexicon

CANDIDATES = 128  # nearest anchors that are looked at: sparsemax gives weight to fewer
BLOCK_NUMBERS = 1 << 26  # cosines at once: 256 MiB


def usual_forms(lexicon: Lexicon) -> list[str]:
    """Of each term its most frequent form, the first of equals."""
    found = []
    for start, end in zip(lexicon.forms_indptr[:-1], lexicon.forms_indptr[1:], strict=True):
        found.append(lexicon.forms[int(start + np.argmax(lexicon.form_counts[start:end]))])
    return found


def is_anchor(backbone: Backbone, words: list[str]) -> NDArray[np.bool_]:
    """Which words are one known subword of the backbone."""
    unknown = backbone.tokenizer.special.unknown
    return np.array([len(ids) == 1 and ids[0] != unknown for ids in backbone.tokenizer.spell(words)], bool)


def from_neighbours(backbone: Backbone, lexicon: Lexicon, head: SparseHead, progress: Progress = SILENT) -> SparseHead:
    """`head`, grafted by means, with other rows and biases for the terms that are not anchors."""
    words = usual_forms(lexicon)
    anchors = is_anchor(backbone, words)
    if not anchors.any():
        raise SettingError(
            f"model.graft = 'neighbours' needs terms that are one subword of {backbone.name!r}, and none of the "
            f"{len(words)} is; take model.graft = 'mean', or a backbone that knows words of this language"
        )
    vectors = embed(backbone, words, progress, "embedding terms")
    weight, bias = combined(head.weight.detach(), head.bias.detach(), torch.from_numpy(vectors), anchors)
    return SparseHead(weight, bias)


@torch.no_grad()  # and not inference mode: these rows are going to be trained
def combined(weight: Tensor, bias: Tensor, vectors: Tensor, anchors: NDArray[np.bool_]) -> tuple[Tensor, Tensor]:
    """Rows and biases: an anchor's as they are, another term's from the anchors near it.

    `weight` [terms, width], `bias` [terms]; `vectors` [terms, any] are the terms in the space of their neighbourhood.
    """
    device = default_device()
    known, others = (torch.from_numpy(np.flatnonzero(which)).to(device) for which in (anchors, ~anchors))
    space, rows, biases = (part.to(device).float() for part in (vectors, weight, bias))
    space = nn.functional.normalize(space - space.mean(0), dim=1)
    near, rows_of, biases_of = space[known], rows[known], biases[known]
    norms = rows_of.norm(dim=1)
    found, shifted = rows.clone(), biases.clone()
    for some in torch.split(others, max(1, BLOCK_NUMBERS // len(near))):
        best = (space[some] @ near.T).topk(min(CANDIDATES, len(near)), dim=1)
        shares = sparsemax(best.values)
        mixed = nn.functional.embedding_bag(best.indices, rows_of, mode="sum", per_sample_weights=shares)
        length = (shares * norms[best.indices]).sum(1, keepdim=True)
        found[some] = nn.functional.normalize(mixed, dim=1) * length
        shifted[some] = (shares * biases_of[best.indices]).sum(1)
    return found.to(weight), shifted.to(bias)


def sparsemax(scores: Tensor) -> Tensor:
    """Of each row of `scores`, which descends, the nearest point of the simplex: max(score - tau, 0), with the tau that
    makes them sum to 1. With z_1 >= z_2 >= ... it keeps the first k with 1 + k z_k > z_1 + ... + z_k."""
    counts = torch.arange(1, scores.shape[1] + 1, device=scores.device, dtype=scores.dtype)
    sums = scores.cumsum(1)
    kept = (1 + counts * scores > sums).sum(1, keepdim=True)
    tau = (sums.gather(1, kept - 1) - 1) / kept
    return (scores - tau).clamp_min(0)

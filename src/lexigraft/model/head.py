"""The head from hidden states to the output vocabulary (H1, H2, H3).

*Grafted*: a term's row and bias are the means over its subwords' rows and biases in the masked-language-model head, so
that the head starts where pre-training left it. *Random*: the same shape, drawn. Dividing the rows by a constant before
fine-tuning keeps first scores, and with them the first loss, small (rescaling study, 3.2); the bias is left as it is.

*Plain*: the backbone's own head over its own subwords. Where that head is tied to the word embeddings it stays tied:
both are one parameter, which trains, is divided and is saved as one, as the rescaling study has it (3.2). The layers
above see the inputs through a normalisation that divides the constant out again, but for positions and segments, which
are added before it and are not divided.

*Own words*, which no paper has: a term that the text itself holds gets a learned amount added to its logit, which
begins in proportion to the term's IDF. The model starts from what BM25 knows and learns what to add; a word it has
never seen in training, of a package or product of tomorrow, still counts.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lexigraft.inference.meta import LOG1P_TWICE
from lexigraft.model.activation import activate
from lexigraft.model.kernels import kernels_for


class SparseHead(nn.Module):
    """One row and one bias per term and, where `own` is given, how much is added for the text's own words."""

    def __init__(self, weight: Tensor, bias: Tensor, own: Tensor | None = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.clone().contiguous())
        self.bias = nn.Parameter(bias.clone().contiguous())
        self.own = None if own is None else nn.Parameter(own.clone().contiguous())

    def tie(self, weight: nn.Parameter) -> None:
        """Make `weight`, another module's, the rows: what trains one trains the other."""
        self.weight = weight

    @torch.no_grad()
    def rescale(self, alpha: float) -> None:
        """W <- W / alpha, wherever else W may be used."""
        self.weight.div_(alpha)


class HasRows(Protocol):
    """Any head: its rows, and how they are divided."""

    weight: nn.Parameter

    def rescale(self, alpha: float) -> None:
        """W <- W / alpha."""
        ...


class Bags(NamedTuple):
    """The own words of a batch of texts: `weights[i]` of term `terms[i]` in text `rows[i]`, each pair once."""

    rows: Tensor
    terms: Tensor
    weights: Tensor


def add_own_words(logits: Tensor, own: Tensor, bags: Bags) -> Tensor:
    """`logits` [batch, vocabulary] with own[t] * weight added where a text holds term t."""
    return logits.index_put((bags.rows, bags.terms), own[bags.terms] * bags.weights, accumulate=True)


def weigh(logits: Tensor, own: Tensor | None, bags: Bags | None, activation: str) -> Tensor:
    """Term weights of the largest logits [batch, vocabulary], which may be overwritten: own words are added where
    `own` and `bags` are given, then the activation is applied."""
    kernels = kernels_for(logits)
    if kernels is None:
        return activate(logits if bags is None or own is None else add_own_words(logits, own, bags), activation)
    nothing = torch.zeros(0, dtype=torch.int64, device=logits.device)
    parts = (own, *bags) if bags is not None and own is not None else (None, nothing, nothing, nothing)
    weights: Tensor = kernels.term_weights(logits, *parts, activation == LOG1P_TWICE)
    return weights


def add_own_token(weights: Tensor, own: Tensor, bags: Bags, activation: str) -> Tensor:
    """`weights` [batch, vocabulary], which are sums over tokens, with the own words of a text as one token more:
    f(own[t] * weight) is added where a text holds term t."""
    said = activate(own[bags.terms] * bags.weights, activation)
    return weights.index_put((bags.rows, bags.terms), said.to(weights.dtype), accumulate=True)


def own_words(idf: NDArray[np.float64], strength: float) -> Tensor:
    """Where own words begin: `strength` for a term of mean IDF, in proportion for the others."""
    return torch.from_numpy(strength * idf / idf.mean()).float()


def graft(
    weight: Tensor,
    bias: Tensor,
    indptr: NDArray[np.int64],
    subwords: NDArray[np.int32],
    shares: NDArray[np.float32] | None = None,
) -> SparseHead:
    """A head whose row t is the mean of `weight`'s rows subwords[indptr[t]:indptr[t + 1]] (vocabulary study, 3.1.1).

    `weight` [subwords, width] and `bias` [subwords] are those of the backbone's masked-language-model head. `shares`,
    as long as `subwords` and summing to 1 for each term, make it a weighted mean.
    """
    offsets = torch.from_numpy(np.asarray(indptr[:-1], np.int64))
    ids = torch.from_numpy(np.asarray(subwords, np.int64))
    if shares is None:
        lengths = np.diff(indptr)
        shares = np.repeat(1 / lengths, lengths)
    weights = torch.from_numpy(np.asarray(shares, np.float32))

    def mean(table: Tensor) -> Tensor:
        table = table.detach().float()
        return nn.functional.embedding_bag(ids, table, offsets, mode="sum", per_sample_weights=weights)

    return SparseHead(mean(weight), mean(bias.unsqueeze(1)).squeeze(1))


def random_head(n_terms: int, width: int, seed: int, std: float = 0.02) -> SparseHead:
    """Rows from a normal distribution, biases 0."""
    generator = torch.Generator().manual_seed(seed)
    return SparseHead(torch.empty(n_terms, width).normal_(0, std, generator=generator), torch.zeros(n_terms))


@dataclass(frozen=True)
class HeadDiagnostics:
    """`anisotropy`: the mean cosine of two different rows, exactly: (|sum of unit rows|^2 - V) / (V (V - 1))."""

    mean_norm: float
    max_norm: float
    anisotropy: float


@torch.no_grad()
def diagnose(head: HasRows) -> HeadDiagnostics:
    weight = head.weight.double()
    norms = weight.norm(dim=1)
    n_terms = len(norms)
    total = (weight / norms.clamp_min(1e-30).unsqueeze(1)).sum(0).square().sum().item()
    anisotropy = (total - n_terms) / (n_terms * (n_terms - 1)) if n_terms > 1 else 1.0
    return HeadDiagnostics(norms.mean().item(), norms.max().item(), anisotropy)


def is_tied(head: HasRows, embeddings: Tensor) -> bool:
    """Whether the head's rows are the word embeddings `embeddings` [subwords, width], the same or a copy."""
    weight = head.weight
    return weight.shape == embeddings.shape and torch.equal(weight.detach(), embeddings.detach().to(weight))

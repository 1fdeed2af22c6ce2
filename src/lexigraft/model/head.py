"""The head from hidden states to the output vocabulary (H1, H2, H3).

*Grafted*: a term's row and bias are the means over its subwords' rows and biases in the masked-language-model head, so
that the head starts where pre-training left it. *Random*: the same shape, drawn. Dividing the rows by a constant before
fine-tuning keeps first scores, and with them the first loss, small (rescaling study, 3.2); the bias is left as it is.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


class SparseHead(nn.Module):
    """One row and one bias per term."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.clone().contiguous())
        self.bias = nn.Parameter(bias.clone().contiguous())

    @torch.no_grad()
    def rescale(self, alpha: float) -> None:
        """W <- W / alpha."""
        self.weight.div_(alpha)


def graft(weight: Tensor, bias: Tensor, indptr: NDArray[np.int64], subwords: NDArray[np.int32]) -> SparseHead:
    """A head whose row t is the mean of `weight`'s rows subwords[indptr[t]:indptr[t + 1]] (vocabulary study, 3.1.1).

    `weight` [subwords, width] and `bias` [subwords] are those of the backbone's masked-language-model head.
    """
    offsets = torch.from_numpy(np.asarray(indptr[:-1], np.int64))
    ids = torch.from_numpy(np.asarray(subwords, np.int64))
    rows = nn.functional.embedding_bag(ids, weight.detach().float(), offsets, mode="mean")
    biases = nn.functional.embedding_bag(ids, bias.detach().float().unsqueeze(1), offsets, mode="mean").squeeze(1)
    return SparseHead(rows, biases)


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
def diagnose(head: SparseHead) -> HeadDiagnostics:
    weight = head.weight.double()
    norms = weight.norm(dim=1)
    n_terms = len(norms)
    total = (weight / norms.clamp_min(1e-30).unsqueeze(1)).sum(0).square().sum().item()
    anisotropy = (total - n_terms) / (n_terms * (n_terms - 1)) if n_terms > 1 else 1.0
    return HeadDiagnostics(norms.mean().item(), norms.max().item(), anisotropy)

"""uniCOIL's head (H6; corpus vocabulary study, 3.3): one impact for each token of a text, and no expansion.

A linear layer and ReLU make one number of each hidden state. It is the weight of the term that stands there; of a term
that stands in several places, the largest counts. Terms are the backbone's subwords. What a text does not say has no
weight, so a model of this kind reads texts that something else has expanded.
"""

import torch
from torch import Tensor, nn

FIRST_IMPACT = 1.0  # of every token: the model begins by counting common terms, and no ReLU begins dead
FIRST_SPREAD = 0.02


class ImpactHead(nn.Module):
    """`weight` [1, width], `bias` [1]; `is_term` [subwords] says which of them can be terms: none that is special."""

    own = None  # what is added for a text's own words: here there are no others

    def __init__(self, weight: Tensor, bias: Tensor, is_term: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.clone().contiguous())
        self.bias = nn.Parameter(bias.clone().contiguous())
        self.register_buffer("is_term", is_term.clone(), persistent=False)

    def forward(self, hidden: Tensor) -> Tensor:
        """Hidden states [batch, length, width] to impacts [batch, length], in full precision."""
        with torch.autocast(hidden.device.type, enabled=False):
            return torch.relu(hidden.float() @ self.weight[0].float() + self.bias.float())

    @torch.no_grad()
    def rescale(self, alpha: float) -> None:
        self.weight.div_(alpha)

    def terms_at(self, subwords: Tensor, mask: Tensor) -> Tensor:
        """Where in [batch, length] a term stands."""
        is_term: Tensor = self.is_term  # type: ignore[assignment]
        return mask.bool() & is_term[subwords]


def impact_head(width: int, is_term: Tensor, seed: int) -> ImpactHead:
    """A new head: rows from a normal distribution, every impact about 1."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.empty(1, width).normal_(0, FIRST_SPREAD, generator=generator)
    return ImpactHead(weight, torch.full((1,), FIRST_IMPACT), is_term)


def weigh_terms(impacts: Tensor, terms: Tensor, is_there: Tensor, n_terms: int) -> Tensor:
    """Term weights [batch, n_terms]: of each term the largest impact [batch, length] of the places where it is.

    `is_there` marks the places that count. The gradient goes to the one place that won, of equal ones the first.
    """
    wins = first_largest(impacts.detach(), terms, is_there)
    rows, places = wins.nonzero(as_tuple=True)
    weights = impacts.new_zeros(len(impacts), n_terms)
    return weights.index_put((rows, terms[rows, places]), impacts[rows, places])


def first_largest(impacts: Tensor, terms: Tensor, is_there: Tensor) -> Tensor:
    """[batch, length]: the places whose impact no other place of the same term in the text exceeds, nor an earlier one
    equals."""
    same = (terms.unsqueeze(2) == terms.unsqueeze(1)) & is_there.unsqueeze(1)
    place = torch.arange(terms.shape[1], device=terms.device)
    earlier = place.unsqueeze(0) < place.unsqueeze(1)  # [this, other]
    ours, theirs = impacts.unsqueeze(2), impacts.unsqueeze(1)
    beaten = same & ((theirs > ours) | ((theirs == ours) & earlier))
    return is_there & ~beaten.any(dim=2)

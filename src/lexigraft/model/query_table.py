"""The table of a model that no query needs (`vocab.lookup`), as something that learns together with the documents.

Its weights are kept as logarithms: a weight is never negative, and what matters of it is its ratio to others.
"""

import numpy as np
import torch
from torch import Tensor, nn

from lexigraft.model.head import Bags
from lexigraft.vocab.lookup import SMALLEST_WEIGHT, TableRows


class QueryTable(nn.Module):
    """Own words of queries to term weights [queries, vocabulary]."""

    indptr: Tensor
    terms: Tensor

    def __init__(self, rows: TableRows) -> None:
        super().__init__()
        self.n_terms = rows.n_terms
        self.register_buffer("indptr", torch.from_numpy(np.array(rows.indptr, np.int64)), persistent=False)
        self.register_buffer("terms", torch.from_numpy(np.array(rows.terms, np.int64)), persistent=False)
        logarithms = np.log(np.maximum(np.asarray(rows.weights, np.float64), SMALLEST_WEIGHT))
        self.log_weights = nn.Parameter(torch.from_numpy(logarithms.astype(np.float32)))

    def forward(self, bags: Bags, n_queries: int) -> Tensor:
        """The rows of each query's terms, added up."""
        starts = self.indptr[bags.terms]
        lengths = self.indptr[bags.terms + 1] - starts
        firsts = lengths.cumsum(0) - lengths
        at = torch.repeat_interleave(starts - firsts, lengths)
        at = at + torch.arange(len(at), device=at.device)
        rows = torch.repeat_interleave(bags.rows, lengths)
        empty = self.log_weights.new_zeros(n_queries, self.n_terms)
        return empty.index_put((rows, self.terms[at]), self.log_weights[at].exp(), accumulate=True)

    def rows(self) -> TableRows:
        """The table as arrays."""
        weights = self.log_weights.detach().float().exp().cpu().numpy()
        return TableRows(self.indptr.cpu().numpy(), self.terms.cpu().numpy().astype(np.int32), weights)

"""The backward pass of MAX pooling where few terms of a text have a gradient, as with sparse vectors nearly all steps.

A gradient reaches one token for each text and term that has one. Written as a sparse matrix of tokens by terms, the
gradient of the hidden states is that matrix times the head's rows, and that of the rows its transpose times the hidden
states. Both are sums of weighted rows, added up in a fixed order: no atomics, and nothing of the size of all logits.
"""

import torch
from torch import Tensor, nn


def sparse_gradients(
    grad: Tensor, hidden: Tensor, pooled: Tensor, weight: Tensor, tile_numbers: int
) -> tuple[Tensor, Tensor]:
    """(gradient of `hidden`, gradient of `weight`) for that of the largest logits [texts, vocabulary].
    `tile_numbers`: of the rows and logits that are looked at together to find tokens."""
    n_texts, length, width = hidden.shape
    texts, terms = grad.nonzero(as_tuple=True)  # a text's terms stand together
    values = grad[texts, terms]
    token = texts * length + _tokens(texts, terms, hidden, pooled, weight, tile_numbers)
    grad_hidden = _sums_of_rows(token, terms, values, weight, n_texts * length)
    grad_weight = _sums_of_rows(terms, token, values, hidden.reshape(-1, width), len(weight))
    return grad_hidden.view(hidden.shape), grad_weight


def _tokens(texts: Tensor, terms: Tensor, hidden: Tensor, pooled: Tensor, weight: Tensor, tile_numbers: int) -> Tensor:
    """The pooled token of each text and term that the largest logit came from: a place in the text."""
    n_texts, length, width = hidden.shape
    counts = torch.bincount(texts, minlength=n_texts)
    place = torch.arange(len(texts), device=texts.device) - (counts.cumsum(0) - counts)[texts]
    most = int(counts.max()) if len(texts) else 0
    padded = terms.new_zeros(n_texts, most)
    padded[texts, place] = terms
    found = torch.empty_like(padded)
    at_once = max(1, tile_numbers // max(1, most * (length + width)))
    for start in range(0, n_texts, at_once):
        here = slice(start, start + at_once)
        rows = weight[padded[here]].to(hidden.dtype)  # [texts, terms, width]
        logits = torch.bmm(hidden[here], rows.transpose(1, 2))  # [texts, length, terms]
        found[here] = logits.masked_fill_(~pooled[here].unsqueeze(-1), float("-inf")).argmax(1)
    return found[texts, place]


def _sums_of_rows(rows: Tensor, columns: Tensor, values: Tensor, table: Tensor, n_rows: int) -> Tensor:
    """The sparse matrix with `values` at `rows` and `columns` times `table` [columns, width]."""
    in_order = rows.argsort(stable=True)
    counts = torch.bincount(rows, minlength=n_rows)
    return nn.functional.embedding_bag(
        columns[in_order],
        table.to(values.dtype),
        counts.cumsum(0) - counts,
        mode="sum",
        per_sample_weights=values[in_order],
    )

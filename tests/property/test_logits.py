"""Logit statistics, added up block by block, against their definitions on all logits."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.train.language import linear_cross_entropy
from lexigraft.train.language.logits import ALL, TOP, LogitStatistics


def statistics_naive(logits, document_of):
    """The definitions as they are written, from all logits [tokens, vocabulary]."""
    found = {"logit-score-std": float(logits.std(dim=0, correction=0).mean())}
    documents = [[row for row, owner in zip(logits, document_of, strict=True) if owner == d] for d in set(document_of)]
    for top in (*TOP, ALL):
        kept = [[row.sort(descending=True).values[: top if top != ALL else None] for row in rows] for rows in documents]
        means = [torch.stack([row.mean() for row in rows]).mean() for rows in kept]
        stds = [torch.stack([row.std(correction=0) for row in rows]).mean() for rows in kept]
        found[f"doc-score-avg@{top}"] = float(torch.stack(means).mean())
        found[f"doc-score-std@{top}"] = float(torch.stack(stds).mean())
    counts = (logits >= 0).sum(dim=1).double()
    return found | {
        "non-neg-terms-avg": float(counts.mean()),
        "non-neg-terms-std": float(counts.std(correction=0)),
    }


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=4), min_size=1, max_size=3), st.integers(1, 130),
    st.integers(1, 400), st.integers(0, 99), st.sampled_from([0.0, 1e4]),
)  # fmt: skip
def test_as_the_definitions_whatever_the_blocks(batches, n_terms, budget, seed, shift):
    """`batches` of documents, each a number of tokens; far from 0, sums of squares would lose all digits."""
    torch.manual_seed(seed)
    weight, bias = torch.randn(n_terms, 3).double(), torch.randn(n_terms).double() + shift
    statistics, all_hidden, owners = LogitStatistics(weight, bias), [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear_cross_entropy, "CPU_LOGITS", budget)
        for number, documents in enumerate(batches):
            document_of = torch.repeat_interleave(torch.arange(len(documents)), torch.tensor(documents))
            hidden = torch.randn(len(document_of), 3).double()
            statistics.add(hidden, document_of)
            all_hidden.append(hidden)
            owners += [(number, int(document)) for document in document_of]
    expected = statistics_naive(torch.cat(all_hidden) @ weight.T + bias, owners)
    assert statistics.result() == pytest.approx(expected, rel=1e-7, abs=1e-7)
    assert (statistics.n_tokens, statistics.n_documents) == (len(owners), len(set(owners)))


def test_never_more_logits_than_allowed(monkeypatch):
    seen = []
    monkeypatch.setattr(linear_cross_entropy, "CPU_LOGITS", 30)
    statistics = LogitStatistics(torch.randn(10, 2), torch.zeros(10))
    add_tokens = statistics._add_tokens
    monkeypatch.setattr(statistics, "_add_tokens", lambda hidden: seen.append(len(hidden)) or add_tokens(hidden))
    statistics.add(torch.randn(8, 2), torch.zeros(8, dtype=torch.int64))
    assert seen == [3, 3, 2]

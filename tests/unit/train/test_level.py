"""Biases term by term: every term is added to as many documents, whatever it began with."""

import numpy as np
import pytest
import torch

from lexigraft.inference.reading import read_documents
from lexigraft.model.encoder import open_encoder
from lexigraft.model.inputs import inputs_of
from lexigraft.train import level as levels
from lexigraft.train.level import amounts, level
from lexigraft.train.quieten import quieten
from tests.unit.learn.test_query_expansions import QUERIES, WORDS, write_model

TEXTS = [text for text in QUERIES if text]


@pytest.fixture
def encoder(tmp_path):
    opened = open_encoder(write_model(tmp_path))
    with torch.no_grad():
        opened.head.bias[0] -= 50  # a dead term
        opened.head.bias[1] += 50  # and one of every document
    return opened


def read(encoder):
    return read_documents(encoder.meta, encoder.reader(), TEXTS, 14)


@torch.no_grad()
def slow_biases(encoder, texts, k):
    """Document by document, term by term."""
    found = encoder.head.bias.detach().clone()
    for term in range(len(WORDS)):
        logits = []
        for row in range(len(texts)):
            subwords, mask, pooled, bags = inputs_of(texts, np.array([row]), 0, torch.device("cpu"))
            if term not in bags.terms.tolist():
                logits.append(float(encoder.logits(subwords, mask, pooled)[0, term]))
        finite = sorted((value for value in logits if value > -np.inf), reverse=True)
        if finite:
            found[term] -= finite[min(k, len(finite) - 1)]
    return found


@pytest.mark.parametrize(("terms", "block"), [(1, 256), (3, 256), (3, 2), (9, 3)])
def test_it_equals_the_slow_way(encoder, terms, block, monkeypatch):
    monkeypatch.setattr(levels, "BLOCK", block)
    texts = read(encoder)
    k = min(-(-terms * len(texts) // len(WORDS)), len(texts) - 1)
    expected = slow_biases(encoder, texts, k)
    level(encoder, texts, terms)
    torch.testing.assert_close(encoder.head.bias.detach(), expected, atol=1e-4, rtol=0)


def test_no_term_is_dead_and_none_in_every_document(encoder):
    texts = read(encoder)
    level(encoder, texts, 3)
    encoder.head.own = None  # what is added, without the texts' own words
    vectors = encoder(*inputs_of(texts, np.arange(len(texts)), 0, torch.device("cpu")))
    active = (vectors > 1e-4).sum(0)
    assert active.min() > 0
    assert active[0] < len(texts)
    assert active[1] < len(texts)


def test_then_documents_have_so_many_terms_on_average(encoder):
    texts = read(encoder)
    level(encoder, texts, 3)
    quieten(encoder, texts, 3)
    vectors = encoder(*inputs_of(texts, np.arange(len(texts)), 0, torch.device("cpu")))
    assert float((vectors > 0).sum(1).float().mean()) == pytest.approx(3, abs=1.5 / len(texts))


def test_the_amounts_by_hand():
    none = -torch.inf
    largest = torch.tensor([[5.0, 7.0, none], [4.0, none, none], [-2.0, none, none]])
    assert amounts(largest).tolist() == [-2.0, 7.0, 0.0]  # the third largest; the only one; there is none


def test_sums_are_left_as_they_are(tmp_path):
    summing = open_encoder(write_model(tmp_path, pooling="sum"))
    before = summing.head.bias.detach().clone()
    level(summing, read(summing), 3)
    assert torch.equal(summing.head.bias.detach(), before)

"""Biases before fine-tuning: documents begin with as many terms as are asked for."""

import numpy as np
import pytest
import torch

from lexigraft.inference.reading import read_documents
from lexigraft.model.encoder import open_encoder
from lexigraft.model.inputs import inputs_of
from lexigraft.train.quieten import quieten
from tests.unit.learn.test_query_expansions import QUERIES, WORDS, write_model


@pytest.fixture
def encoder(tmp_path):
    opened = open_encoder(write_model(tmp_path))
    with torch.no_grad():
        opened.head.bias += 5  # as a new head does, it gives every term some weight
    return opened


def mean_terms(encoder, texts):
    vectors = encoder(*inputs_of(texts, np.arange(len(texts)), encoder.tokenizer.special.pad, torch.device("cpu")))
    return float((vectors > 0).sum(1).float().mean())


@pytest.mark.parametrize("terms", [1, 3, 6])
def test_documents_have_so_many_terms_on_average(encoder, terms):
    texts = read_documents(encoder.meta, encoder.reader(), [text for text in QUERIES if text], 14)
    before = encoder.head.bias.detach().clone()
    assert mean_terms(encoder, texts) > 6
    amount = quieten(encoder, texts, terms)
    assert amount > 0
    torch.testing.assert_close(encoder.head.bias.detach(), before - amount)  # all by one amount
    assert mean_terms(encoder, texts) == pytest.approx(terms, abs=1.5 / len(texts))  # rounding may count one more


def test_nothing_is_raised_or_lowered_where_there_are_no_more(encoder):
    texts = read_documents(encoder.meta, encoder.reader(), [text for text in QUERIES if text], 14)
    before = encoder.head.bias.detach().clone()
    assert quieten(encoder, texts, len(WORDS)) >= 0
    encoder.head.bias.data = before - 100
    assert quieten(encoder, texts, 3) == 0
    assert torch.equal(encoder.head.bias.detach(), before - 100)


def test_sums_have_no_such_amount(tmp_path):
    summing = open_encoder(write_model(tmp_path, pooling="sum"))
    texts = read_documents(summing.meta, summing.reader(), QUERIES[:3], 14)
    assert quieten(summing, texts, 1) == 0

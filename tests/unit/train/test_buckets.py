"""Gradient caching: chunks that are encoded again have the gradient of the whole batch, whatever is pooled (F5)."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lexigraft.core.types import Vocabulary
from lexigraft.inference.reading import read_documents
from lexigraft.model.backbone import load_backbone
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.head import SparseHead
from lexigraft.model.plain import plain_head
from lexigraft.train.ranking.buckets import CPU, bucketed, encode_buckets
from lexigraft.train.trainable import set_dropout
from tests.families import write_backbone

TEXTS = ["kura mele tosi", "", "bru", "kura kura zane vipa fodi", "mele", "?!", "tosi bru gixa"]
TERMS = ["kura", "mele", "tosi", "bru", "zane", "vipa", "gixa"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_backbone("bert", tmp_path_factory.mktemp("bert"), loud=5.0)


def tiny_encoder(folder, head, pooling):
    backbone = load_backbone(str(folder))
    torch.manual_seed(1)
    if head == "plain":
        encoder = SparseEncoder(backbone, plain_head(backbone), backbone.subwords(), "plain")
    else:
        rows = torch.randn(len(TERMS), backbone.width), torch.randn(len(TERMS)), torch.rand(len(TERMS))
        encoder = SparseEncoder(backbone, SparseHead(*rows), Vocabulary(TERMS), head, mean_words=3.0)
    encoder.meta = replace(encoder.meta, pooling=pooling)
    return encoder.double().train()


def gradients(encoder, texts, chunk, half=False):
    encoder.zero_grad()
    torch.manual_seed(0)
    rows = np.arange(len(texts))
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
        vectors = encode_buckets(encoder, bucketed(texts, rows, encoder.tokenizer.special.pad, chunk), CPU, chunk > 0)
    loss = (vectors @ vectors.T).logsumexp(1).mean() + vectors.mean(0).square().sum()
    loss.backward()
    found = {name: value.grad for name, value in encoder.named_parameters() if value.grad is not None}
    return vectors.detach(), found


@pytest.mark.parametrize("head", ["own words", "plain"])
@pytest.mark.parametrize("pooling", ["max", "sum", "cls"])
def test_chunks_have_the_gradient_of_the_whole_batch(head, pooling, folder):
    encoder = tiny_encoder(folder, head, pooling)
    set_dropout(encoder, 0.0)
    texts = read_documents(encoder.meta, encoder.reader(), TEXTS, 12)
    whole, expected = gradients(encoder, texts, 0)
    chunked, found = gradients(encoder, texts, 2)
    assert whole[0].sum() > 0 and whole[1].sum() == 0  # a text without words has no terms
    torch.testing.assert_close(chunked, whole)
    assert found.keys() == expected.keys() and "head.weight" in found
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, msg=name)


def test_what_is_encoded_again_has_the_same_dropout(folder):
    """The gradient of chunks is that of the vectors they gave, not of others: along it, they change as it says."""
    encoder = tiny_encoder(folder, "own words", "max")
    set_dropout(encoder, 0.3)
    texts = read_documents(encoder.meta, encoder.reader(), TEXTS, 12)
    _, again = gradients(encoder, texts, 2)
    encoder.zero_grad()
    torch.manual_seed(0)
    parts = bucketed(texts, np.arange(len(texts)), encoder.tokenizer.special.pad, 2)
    vectors = encode_buckets(encoder, parts, CPU)  # the same chunks, kept
    ((vectors @ vectors.T).logsumexp(1).mean() + vectors.mean(0).square().sum()).backward()
    for name, value in encoder.named_parameters():
        if value.grad is not None:
            torch.testing.assert_close(again[name], value.grad, msg=name)


@pytest.mark.parametrize("pooling", ["max", "sum", "cls"])
def test_half_the_bits_train_too(pooling, folder):
    """Under autocast, with texts of no words among them: finite gradients, near those of full precision."""
    encoder = tiny_encoder(folder, "own words", pooling).float()
    set_dropout(encoder, 0.0)
    texts = read_documents(encoder.meta, encoder.reader(), TEXTS, 12)
    _, exact = gradients(encoder, texts, 2)
    _, half = gradients(encoder, texts, 2, half=True)
    assert half.keys() == exact.keys() and all(value.isfinite().all() for value in half.values())
    near = torch.nn.functional.cosine_similarity(half["head.weight"].flatten(), exact["head.weight"].flatten(), dim=0)
    assert near > 0.98

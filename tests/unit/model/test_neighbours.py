"""Rows from neighbours: sparsemax and combinations worked out by hand, and against the slow way."""

import math

import numpy as np
import pytest
import torch
import transformers

from lexigraft.core.errors import SettingError
from lexigraft.core.settings import ModelSettings
from lexigraft.core.types import Vocabulary
from lexigraft.core.word_rule import WordRule
from lexigraft.learn.new_model import grafted_head, new_encoder
from lexigraft.model import neighbours
from lexigraft.model.backbone import load_backbone
from lexigraft.model.embed import embed
from lexigraft.model.neighbours import combined, is_anchor, sparsemax, usual_forms
from lexigraft.vocab.lexicon import Lexicon

FORMS = ["ab", "abs", "a", "b", "cab", "d", "dd"]  # terms: ab (ab, abs), a, b, cab, d (d, dd)
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcds", *(f"##{letter}" for letter in "abcds")]


def lexicon(forms=FORMS, indptr=(0, 2, 3, 4, 5, 7), counts=(1, 4, 2, 2, 2, 3, 3)):
    names, n = Vocabulary([forms[start] for start in indptr[:-1]]), len(indptr) - 1
    arrays = np.array(indptr), np.array(counts), np.ones(n, np.int64)
    return Lexicon(names, "none", "none", WordRule(), list(forms), *arrays, 9, 3.0)


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("bert"))
    transformers.BertTokenizerFast(vocab={piece: n for n, piece in enumerate(PIECES)}).save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=15, **sizes)).save_pretrained(folder)
    return load_backbone(folder)


def test_sparsemax_by_hand():
    # 1 + 2 * .7 > .9 + .7, and 1 + 3 * .2 < .9 + .7 + .2: two are kept, tau = (1.6 - 1) / 2 = .3
    torch.testing.assert_close(sparsemax(torch.tensor([[0.9, 0.7, 0.2]])), torch.tensor([[0.6, 0.4, 0.0]]))
    torch.testing.assert_close(sparsemax(torch.tensor([[0.5, 0.5]])), torch.tensor([[0.5, 0.5]]))
    torch.testing.assert_close(sparsemax(torch.tensor([[3.0, 1.0]])), torch.tensor([[1.0, 0.0]]))


def test_sparsemax_is_the_nearest_point_of_the_simplex():
    scores = torch.randn(20, 9, generator=torch.Generator().manual_seed(1)).sort(dim=1, descending=True).values
    found = sparsemax(scores)
    torch.testing.assert_close(found.sum(1), torch.ones(20))
    for row, shares in zip(scores, found, strict=True):
        tau = next(  # the slow way: the tau that fits, by trying how many are kept
            tau for kept in range(9, 0, -1) if (tau := (row[:kept].sum() - 1) / kept) < row[kept - 1]
        )
        torch.testing.assert_close(shares, (row - tau).clamp_min(0))


def test_a_combination_by_hand():
    # The mean of the vectors is 0. With (3, 4) / 5, cosines are .8 with (0, 1) and .6 with (1, 0): shares .6 and .4.
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.6, -1.8], [0.6, 0.8]])
    weight = torch.tensor([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0], [9.0, 9.0]])
    bias = torch.tensor([1.0, 2.0, 3.0, 9.0])
    rows, biases = combined(weight, bias, vectors, np.array([True, True, True, False]))
    mixed, length = np.array([0.4 * 2, 0.6 * 3]), 0.4 * 2 + 0.6 * 3
    expected = mixed / math.hypot(*mixed) * length
    torch.testing.assert_close(rows[3], torch.tensor(expected, dtype=torch.float32))
    assert biases.tolist() == pytest.approx([1, 2, 3, 0.4 * 1 + 0.6 * 2])
    assert torch.equal(rows[:3], weight[:3])  # anchors keep theirs


def test_blocks_and_candidates_change_nothing(monkeypatch):
    generator = torch.Generator().manual_seed(2)
    vectors, weight, bias = (torch.randn(*shape, generator=generator) for shape in ((60, 5), (60, 7), (60,)))
    anchors = np.arange(60) % 3 > 0
    whole = combined(weight, bias, vectors, anchors)
    monkeypatch.setattr(neighbours, "BLOCK_NUMBERS", 100)
    monkeypatch.setattr(neighbours, "CANDIDATES", 30)
    for one, other in zip(combined(weight, bias, vectors, anchors), whole, strict=True):
        torch.testing.assert_close(one, other)


def test_anchors_are_terms_of_which_the_usual_form_is_one_subword(backbone):
    assert usual_forms(lexicon()) == ["abs", "a", "b", "cab", "d"]  # d is as frequent as dd, and first
    assert is_anchor(backbone, usual_forms(lexicon())).tolist() == [False, True, True, False, True]
    assert not is_anchor(backbone, ["z"])[0]  # an unknown one is one subword, too


def test_a_new_model_starts_from_neighbours(backbone):
    words = lexicon()
    by_mean, before = grafted_head(backbone, words), ModelSettings(own_words=0)
    head = new_encoder(backbone, words, ModelSettings(own_words=0, graft="neighbours"), 0).head
    assert torch.equal(new_encoder(backbone, words, before, 0).head.weight, by_mean.weight)
    for anchor in (1, 2, 4):
        assert torch.equal(head.weight[anchor], by_mean.weight[anchor])
    anchors = is_anchor(backbone, usual_forms(words))
    vectors = torch.from_numpy(embed(backbone, usual_forms(words)))
    expected, _ = combined(by_mean.weight, by_mean.bias, vectors, anchors)
    torch.testing.assert_close(head.weight.detach(), expected.detach())
    assert not torch.equal(head.weight[0], by_mean.weight[0])
    norms = by_mean.weight[[1, 2, 4]].norm(dim=1)
    assert norms.min() <= head.weight[0].norm() <= norms.max()


def test_without_an_anchor_it_says_so(backbone):
    none = lexicon(["ab", "cab"], (0, 1, 2), (1, 1))
    with pytest.raises(SettingError, match=r"none of the 2 is; take model\.graft = 'mean'"):
        new_encoder(backbone, none, ModelSettings(graft="neighbours"), 0)

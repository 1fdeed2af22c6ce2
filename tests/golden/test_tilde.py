"""TILDE's loss, its beginning and its choice of words, worked out by hand."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from lexigraft.core.settings import TildeSettings
from lexigraft.expand.tilde import ExpansionCounts, choose_words
from lexigraft.train.language.tilde import (
    TildePairs,
    begin_at_frequencies,
    count_texts,
    distinct_terms,
    n_steps,
    naming_loss,
    train_tilde,
)
from lexigraft.vocab.aligned import AlignedTexts
from lexigraft.vocab.subwords import SpecialTokens
from lexigraft.vocab.whole_words import find_whole_words

# Subwords: 0 padding, 1 begin, 2 end, 3 a stop-word, 4 "red", 5 "fox".
COUNTED = np.array([False, False, False, False, True, True])
VALID = torch.from_numpy(COUNTED.astype(np.float32))


class FirstTokenSums(nn.Module):
    """Stands for a model: the state of a text's first token is (how many times it holds 4, how many times 5)."""

    def __init__(self):
        super().__init__()
        self.decoder = nn.Linear(2, len(COUNTED))
        with torch.no_grad():
            self.decoder.weight.zero_()
            self.decoder.weight[4] = torch.tensor([1.0, 0.0])  # "red" by red
            self.decoder.weight[5] = torch.tensor([0.0, 2.0])  # "fox" by fox
            self.decoder.bias.zero_()
        self.weight, self.bias = self.decoder.weight, self.decoder.bias
        self.tokenizer = type("Tokenizer", (), {"special": SpecialTokens(1, 2, 0, 0, 0)})

    def forward(self, subwords, mask):
        counts = torch.stack([((subwords == term) * mask).sum(1) for term in (4, 5)], 1).float()
        return counts[:, None, :].expand(-1, subwords.shape[1], -1)


def texts(*rows):
    whole = [[1, *row, 2] for row in rows]
    flat = np.array([subword for row in whole for subword in row], np.int32)
    return AlignedTexts(np.cumsum([0, *map(len, whole)], dtype=np.int64), flat, flat * 0, flat * 0)


QUERY, PASSAGE = texts([3, 4]), texts([4, 5, 5])
PAIRS = TildePairs(QUERY, PASSAGE, np.array([0]), np.array([0]))


def bce(logit, label):
    probability = 1 / (1 + math.exp(-logit))
    return -math.log(probability if label else 1 - probability)


def test_the_loss_of_a_pair(tmp_path):
    # The passage holds red once and fox twice: logits 1 and 4. The query holds red, and not fox.
    query = bce(1, True) + bce(4, False)
    # The query holds red once: logits 1 and 0. The passage holds both. The stop-word is not counted.
    passage = bce(1, True) + bce(0, True)
    model = FirstTokenSums()
    assert naming_loss(model, PASSAGE, QUERY, COUNTED, VALID).item() == pytest.approx(query, rel=1e-6)
    assert naming_loss(model, QUERY, PASSAGE, COUNTED, VALID).item() == pytest.approx(passage, rel=1e-6)
    assert query == pytest.approx(4.3314117, abs=1e-6)
    assert passage == pytest.approx(1.0064089, abs=1e-6)


def test_the_mean_over_valid_terms_is_recorded(tmp_path):
    settings = TildeSettings(steps=1, batch=1)
    first = train_tilde(FirstTokenSums(), PAIRS, COUNTED, settings, tmp_path / "checkpoint", {}, 0).history[0]
    # It begins at frequencies: red is in both texts of the pair, (2 + .5) / 3, and fox in one, (1 + .5) / 3; the mean
    # text holds red once and fox once, so biases are log odds - 1 and log odds - 2.
    red, fox = math.log(2.5 / 0.5) - 1, math.log(1.5 / 1.5) - 2
    query = bce(1 + red, True) + bce(4 + fox, False)
    document = bce(1 + red, True) + bce(0 + fox, True)
    assert first["query_loss"] == pytest.approx(query, rel=1e-5)
    assert first["document_loss"] == pytest.approx(document, rel=1e-5)
    assert first["loss"] == pytest.approx(query + document, rel=1e-5)
    assert first["term_loss"] == pytest.approx((query + document) / 2, rel=1e-5)


def test_terms_that_are_not_valid_begin_as_those_that_no_text_holds():
    model = FirstTokenSums()
    begin_at_frequencies(model, PAIRS, COUNTED)
    assert model.bias[3].item() == pytest.approx(math.log(0.5 / 2.5))
    assert model.bias[:4].tolist() == pytest.approx([math.log(0.5 / 2.5)] * 4)


def test_distinct_terms_and_in_how_many_texts_they_are():
    indptr, terms = distinct_terms(texts([5, 4, 5], [3], [4]), COUNTED)
    assert (indptr.tolist(), terms.tolist()) == ([0, 2, 2, 3], [4, 5, 4])
    # The first text comes twice among the pairs, the second never.
    assert count_texts(texts([5, 4, 5], [5], [4]), np.array([0, 0, 2]), COUNTED).tolist() == [0, 0, 0, 0, 3, 2]


def test_words_are_chosen_after_the_cut_to_the_top():
    # Words by number; -1: a stop-word, a piece or a special token. Document 0 holds 2 and 7, document 1 nothing.
    named = np.array([[7, -1, 3, 2, 3, 5], [-1, -1, -1, -1, -1, -1], [6, 5, 4, 3, 2, 1]])
    own = np.array([0, 2, 2, 3]), np.array([2, 7, 5])
    cut = choose_words(named, *own, keep=2, n_words=8)
    assert (cut.indptr.tolist(), cut.words.tolist(), cut.n_new.tolist()) == ([0, 2, 2, 4], [3, 5, 6, 4], [2, 0, 5])
    whole = choose_words(named, *own, keep=0, n_words=8)
    assert whole.words.tolist() == [3, 5, 6, 4, 3, 2, 1]
    counts = ExpansionCounts()
    counts.add(cut)
    assert counts.facts() == {"documents": 3, "unexpanded": 1, "new_words": 7 / 3, "kept_words": 4 / 3}


def test_which_pieces_are_words():
    pieces = ["[PAD]", "[CLS]", "[unused1]", "the", "Fox", "fox", "##es", ".", "naïve", "don't", "c++"]
    found = find_whole_words(pieces, frozenset({0, 1}), "english")
    assert list(found.words.terms) == ["fox", "naïve", "don't"]
    assert found.word_of.tolist() == [-1, -1, -1, -1, 0, 0, -1, -1, 1, 2, -1]
    assert found.counted.tolist() == [False, False, False, False, *[True] * 7]
    assert find_whole_words(pieces, frozenset(), "none").word_of[3] == 0


def test_pieces_that_mark_what_begins_a_word():
    pieces = ["<s>", "Ġfox", "es", "Ġthe", "ĠF", "Ġ.", "Ġ"]
    found = find_whole_words(pieces, frozenset({0}), "english")
    assert list(found.words.terms) == ["fox", "f"]
    assert found.word_of.tolist() == [-1, 0, -1, -1, 1, -1, -1]


def test_passes_are_steps():
    assert n_steps(TildeSettings(epochs=5, batch=10), 29) == 10  # two whole batches a pass
    assert n_steps(TildeSettings(epochs=0.01, batch=10), 29) == 1
    assert n_steps(TildeSettings(steps=7), 29) == 7
    assert n_steps(TildeSettings(steps=7, epochs=1, batch=10), 29) == 2

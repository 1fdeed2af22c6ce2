"""Words, subwords and terms side by side, against the slow way."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.errors import InputError
from lexigraft.core.types import Vocabulary
from lexigraft.vocab import aligned
from lexigraft.vocab.aligned import NOT_POOLED, AlignedReader, joined, ordinary_subwords
from lexigraft.vocab.bags import document_weights, query_weights, take_bags
from lexigraft.vocab.counting import count_words
from lexigraft.vocab.subwords import SpecialTokens, SubwordTokenizer
from lexigraft.vocab.unigrams import build_unigrams
from lexigraft.vocab.words import split_words


class _Encoding:
    def __init__(self, ids):
        self.ids = ids


class LetterTokenizer:
    """Spells a word by letters; "q" is unknown to it."""

    def encode_batch(self, words, add_special_tokens):
        assert not add_special_tokens
        return [_Encoding([1 if letter == "q" else ord(letter) + 10 for letter in word]) for word in words]

    def get_vocab_size(self):
        return 200


TOKENIZER = SubwordTokenizer(
    LetterTokenizer(), SpecialTokens(begin=2, end=3, pad=0, mask=4, unknown=1), needs_space=False
)


def slowly(text, vocabulary, length):
    rows = [(2, NOT_POOLED, -1)]
    for place, word in enumerate(split_words(text)):
        subwords = TOKENIZER.spell([word])[0]
        if place == 0:
            subwords = subwords[: length - 2]
        if len(rows) + len(subwords) > length - 1:
            break
        term = vocabulary.id_of.get(word, -1)
        rows += [(subword, term, place) for subword in subwords]
    return [*rows, (3, NOT_POOLED, -1)]


@given(st.lists(st.text("ab cq'.", max_size=25), max_size=5), st.integers(3, 15))
def test_alignment_equals_the_slow_way(texts, length):
    vocabulary = Vocabulary(["a", "ab", "b", "abc"])
    reader = AlignedReader(TOKENIZER, vocabulary)
    for _ in range(2):  # the second time every word is known
        found = reader.read(texts, length)
        for number, text in enumerate(texts):
            span = slice(found.indptr[number], found.indptr[number + 1])
            columns = (found.subwords[span].tolist(), found.terms[span].tolist(), found.words[span].tolist())
            assert list(zip(*columns, strict=True)) == slowly(text, vocabulary, length)


@given(st.lists(st.text("ab c'.é한", max_size=25), max_size=10))
def test_counts_equal_the_slow_way(texts):
    assert count_words(texts) == Counter(word for text in texts for word in split_words(text))


def test_terms_are_the_most_frequent_spellable_words():
    counts = Counter({"b": 5, "a": 5, "quiet": 9, "c": 3, "d": 1})
    found = build_unigrams(counts, 3, TOKENIZER, min_count=2)
    assert list(found.vocabulary.terms) == ["a", "b", "c"]  # equal counts in alphabetical order
    assert found.counts.tolist() == [5, 5, 3]
    assert (found.n_distinct_words, found.n_unspellable) == (5, 1)
    assert list(build_unigrams(counts, 1, TOKENIZER).vocabulary.terms) == ["a"]
    with pytest.raises(InputError, match="no word of the corpus can be a term"):
        build_unigrams(Counter({"quiet": 9}), 3, TOKENIZER)


def test_words_of_one_stem_are_one_term_named_by_the_most_frequent():
    counts = Counter(
        {"returns": 5, "return": 4, "returned": 1, "sort": 6, "the": 90, "sorting": 2, "quiet": 7, "quietly": 3}
    )
    found = build_unigrams(counts, 9, TOKENIZER, 2, "english", "english")
    assert list(found.vocabulary.terms) == ["returns", "sort"]  # ten and eight occurrences; a stop-word is no term
    assert found.forms == [{"returns": 5, "return": 4, "returned": 1}, {"sort": 6, "sorting": 2}]
    assert (found.counts.tolist(), found.n_unspellable) == ([10, 8], 1)  # quiet and quietly are one term that is not


def test_a_reader_finds_the_term_of_any_form():
    reader = AlignedReader(TOKENIZER, Vocabulary(["returns", "sort"]), "english", "english")
    found = reader.read(["the returning sorts x"], 60)
    by_word = dict(zip(found.words.tolist(), found.terms.tolist(), strict=True))
    assert by_word == {-1: NOT_POOLED, 0: NOT_POOLED, 1: 0, 2: 1, 3: -1}


@given(st.lists(st.text("ab c'.", max_size=40), min_size=1, max_size=6), st.data())
def test_bags_equal_the_slow_way(texts, data):
    vocabulary = Vocabulary(["a", "ab", "b", "abc"])
    reader = AlignedReader(TOKENIZER, vocabulary)
    aligned, bags = reader.read_both(texts, 12)
    assert aligned.subwords.tolist() == reader.read(texts, 12).subwords.tolist()
    rows = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=8)))
    some = take_bags(query_weights(bags), rows)
    for place, row in enumerate(rows):
        words = split_words(texts[row])
        counts = Counter(vocabulary.id_of[word] for word in words if word in vocabulary.id_of)
        span = slice(bags.indptr[row], bags.indptr[row + 1])
        assert dict(zip(bags.terms[span].tolist(), bags.counts[span].tolist(), strict=True)) == counts
        assert some.terms[some.indptr[place] : some.indptr[place + 1]].tolist() == sorted(counts)
        assert bags.n_words[row] == len(words)
    assert (some.weights == 1).all()


def test_document_weights_by_hand():
    reader = AlignedReader(TOKENIZER, Vocabulary(["a", "b"]))
    bags = reader.read_bags(["a x", "a a b x"])
    found = document_weights(bags, mean_words=2.0)
    # One a in a text of mean length: 2.2 / (1 + 1.2). Twice the length: 1.2 (.25 + .75 * 2) = 2.1 beside the count.
    assert found.weights.tolist() == pytest.approx([1.0, 2 * 2.2 / 4.1, 2.2 / 3.1])


def test_joined_texts_are_those_of_one_reading():
    texts, reader = ["a ab", "", "b c abc"], AlignedReader(TOKENIZER, Vocabulary(["a", "b"]))
    whole, parts = reader.read(texts, 9), joined([reader.read(texts[:2], 9), reader.read(texts[2:], 9)])
    assert [column.tolist() for column in whole] == [column.tolist() for column in parts]


def test_forgetting_what_was_spelt_changes_nothing(monkeypatch):
    texts = ["sort ab", "ab sorts the", "other words ab sort"]
    whole, forgetful = (AlignedReader(TOKENIZER, Vocabulary(["ab", "sort"])) for _ in range(2))
    wanted = [whole.read_both([text], 12) for text in texts]
    monkeypatch.setattr(aligned, "MOST_PIECES", 0)
    for text, (lines, bags) in zip(texts, wanted, strict=True):
        found_lines, found_bags = forgetful.read_both([text], 12)
        assert all(np.array_equal(a, b) for a, b in zip(found_lines, lines, strict=True))
        assert all(np.array_equal(a, b) for a, b in zip(found_bags, bags, strict=True))
    assert len(forgetful._word_number) < len(whole._word_number)


@given(st.lists(st.text("ab cq'.", max_size=25), max_size=5), st.integers(3, 15))
def test_how_many_subwords_a_whole_text_has(texts, length):
    reader = AlignedReader(TOKENIZER, Vocabulary(["a", "ab", "b", "abc"]))
    found, bags, whole = reader.read_measured(texts, length)
    assert whole.tolist() == [sum(map(len, TOKENIZER.spell(split_words(text)))) for text in texts]
    assert ordinary_subwords(found).tolist() == [len(slowly(text, reader.vocabulary, length)) - 2 for text in texts]
    wanted = (*reader.read(texts, length), *reader.read_bags(texts))
    assert all(np.array_equal(one, other) for one, other in zip((*found, *bags), wanted, strict=True))

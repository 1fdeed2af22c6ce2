"""Words, subwords and terms side by side, against the slow way."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.errors import InputError
from lexigraft.core.types import Vocabulary
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.subwords import SpecialTokens, SubwordTokenizer
from lexigraft.vocab.unigrams import build_unigrams, count_words
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
    rows = [(2, -1, -1)]
    for place, word in enumerate(split_words(text)):
        subwords = TOKENIZER.spell([word])[0]
        if place == 0:
            subwords = subwords[: length - 2]
        if len(rows) + len(subwords) > length - 1:
            break
        term = vocabulary.id_of.get(word, -1)
        rows += [(subword, term, place) for subword in subwords]
    return [*rows, (3, -1, -1)]


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

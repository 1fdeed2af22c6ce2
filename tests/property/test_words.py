"""The fast half of the word rule never changes what the rule says."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.vocab import words
from lexigraft.vocab.pieces import PieceTable
from lexigraft.vocab.words import normalise, normalised_utf8, split_pieces, split_words, word_spans, words_of_piece

# Letters, digits, joiners, separators, combining marks, format characters, several scripts, odd spaces.
ALPHABET = "אבaB1 2.,:;'’_-/\\\"()\t\n\u00a0\u2028\u200d\u0301ßéИиλ日本のカ한국어مر\u0660①ﬁ$…—\u202f\u1680\U0001f600"


@settings(max_examples=2000)
@given(st.one_of(st.text(ALPHABET, max_size=30), st.text(max_size=30)))
def test_pieces_have_the_words_of_the_text(text):
    assert [word for piece in split_pieces(text) for word in words_of_piece(piece)] == split_words(text)


@settings(max_examples=1000)
@given(st.one_of(st.text(ALPHABET, max_size=30), st.text(max_size=30)))
def test_words_lie_where_their_spans_say(text):
    found = word_spans(text)
    assert [normalise(found.text[start:end]) for start, end in found.spans] == split_words(text)
    assert found.text in (text, normalise(text))


@given(st.one_of(st.text("aB1 '.,:;_-()\"\n", max_size=12), st.text(ALPHABET, max_size=12)))
def test_places_are_those_of_the_rule(text):
    """Also of a piece with one word, for which the rule is not asked."""
    assert words.places_of_words(text) == [found.span() for found in words._WORD.finditer(text)]


@settings(max_examples=500)
@given(st.text(ALPHABET, max_size=30))
def test_words_are_normalised_and_nothing_but_words(text):
    whole = normalise(text)
    for word in split_words(text):
        assert word
        assert word in whole
        assert any(char.isalnum() for char in word)
        assert "_" not in word
        assert " " not in word


@settings(max_examples=500)
@given(st.lists(st.lists(st.text(ALPHABET, max_size=30), max_size=5), max_size=4))
def test_numbered_pieces_are_the_pieces(batches):
    table = PieceTable()
    for texts in batches:
        parts = [normalised_utf8(text) for text in texts]
        known = table.count
        numbers, ends = table.number(b"".join(parts), np.cumsum([len(part) for part in parts], dtype=np.int64))
        distinct = table.pieces(0)
        assert len(distinct) == len(set(distinct)) == table.count
        assert table.pieces(known) == distinct[known:]
        starts = [0, *ends.tolist()]
        for text, start, end in zip(texts, starts, starts[1:], strict=False):
            assert [distinct[number] for number in numbers[start:end]] == split_pieces(text)


def test_many_distinct_pieces():
    """The table grows and still tells everything apart."""
    table = PieceTable()
    distinct = [f"word{number}" for number in range(100_000)]
    text = " ".join(distinct * 2).encode()
    numbers, _ = table.number(text, np.array([len(text)]))
    assert numbers.tolist() == [*range(100_000), *range(100_000)]
    again, _ = table.number(text, np.array([len(text)]))
    assert again.tolist() == numbers.tolist()


def test_letters_that_need_no_rule_are_never_cut():
    """The shortcut's letters, each between others of every kind, are one word by the full rule too."""
    normalised = (chr(code) for code in range(0x10000) if normalise(chr(code)) == chr(code))
    shortcut = [letter for letter in normalised if words._PLAIN(letter) is not None]
    assert len(shortcut) > 11_000
    for letter in shortcut:
        text = f"a{letter}1{letter}{letter}и{letter}한{letter}é"
        assert split_words(text) == [normalise(text)]

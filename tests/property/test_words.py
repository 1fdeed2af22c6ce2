"""The fast half of the word rule never changes what the rule says."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.vocab.words import normalise, split_pieces, split_words, words_of_piece

# Letters, digits, joiners, separators, combining marks, format characters, several scripts, odd spaces.
ALPHABET = "aB1 2.,:;'’_-/\\\"()\t\n\u00a0\u2028\u200d\u0301ßéИиλ日本のカ한국어مر\u0660①ﬁ$…—\u202f\u1680\U0001f600"


@settings(max_examples=2000)
@given(st.one_of(st.text(ALPHABET, max_size=30), st.text(max_size=30)))
def test_pieces_have_the_words_of_the_text(text):
    assert [word for piece in split_pieces(text) for word in words_of_piece(piece)] == split_words(text)


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

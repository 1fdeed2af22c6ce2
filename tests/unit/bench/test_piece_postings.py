"""Pieces of texts and the postings of queries by them, and what counts as punctuation."""

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from bench.piece_postings import is_punctuation, measure


def test_postings_of_pieces_by_hand():
    pieces = {"[UNK]": 0, "a": 1, "b": 2, "c": 3, ",": 4, "##,": 5}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    documents = ["a , a b", "b , c", "c"]  # cut at 3: a and the comma; b, the comma and c; c
    found = measure(tokenizer, documents, ["a , ,", "c b"], 3)
    assert found["pieces_of_a_document"] == pytest.approx(8 / 3)
    assert found["of_which_punctuation"] == pytest.approx(2 / 3)
    assert found["documents_cut"] == pytest.approx(1 / 3)
    assert found["postings"] == pytest.approx(((1 + 2) + (2 + 1)) / 2)
    assert found["postings_without_punctuation"] == pytest.approx((1 + 3) / 2)
    assert found["queries_with_punctuation"] == 0.5


@pytest.mark.parametrize(("piece", "is_one"), [(",", True), ("##-", True), ("##s", False), ("3", False), ("日", False)])
def test_punctuation_has_no_letter_and_no_digit(piece, is_one):
    assert is_punctuation(piece) is is_one

"""What two vocabularies share, worked out by hand."""

import numpy as np
import pytest

from lexigraft.vocab.compare import compare, mean_ranks, spearman
from lexigraft.vocab.opened import from_tokenizer, from_words
from lexigraft.vocab.tokenizer_files import open_tokenizer


def test_overlap():
    a, b = from_words("a", ["apple", "pear", "tree"]), from_words("b", ["pear", "tree", "plum", "fig"])
    found = compare(a, None, b, None)
    assert (found.compared_as, found.left_out, found.compared) == ("terms", (0, 0), (3, 4))
    assert (found.shared, found.share_of_a, found.share_of_b, found.jaccard) == (2, 2 / 3, 2 / 4, 2 / 5)
    assert (found.only_in_a, found.only_in_b) == (["apple"], ["plum", "fig"])
    assert (found.shared_at_top, found.rank_correlation) == (None, None)


def test_counts_order_what_is_shown_and_correlated():
    a, b = from_words("a", ["x", "p", "q", "r", "s", "y"]), from_words("b", ["s", "r", "q", "p", "z"])
    found = compare(a, np.array([1, 10, 10, 5, 1, 9]), b, np.array([1, 2, 3, 4, 7]))
    assert found.only_in_a == ["y", "x"]
    assert found.only_in_b == ["z"]
    assert found.rank_correlation == pytest.approx(4.5 / np.sqrt(4.5 * 5))  # p and q share ranks 3 and 4
    assert found.shared_at_top == {}


def test_shared_at_top():
    a, b = (from_words("", [f"t{number}" for number in numbers]) for numbers in (range(150), range(50, 200)))
    falling = np.arange(150, 0, -1)
    assert compare(a, falling, b, falling).shared_at_top == {"100": 0.5}


def test_pieces_against_words_and_against_pieces(tmp_path):
    (tmp_path / "vocab.txt").write_text("[UNK]\napple\npear\n##s\n##tree\n")
    pieces, words = from_tokenizer("p", open_tokenizer(tmp_path)), from_words("w", ["pear", "tree", "s"])
    found = compare(pieces, None, words, None)
    assert (found.compared_as, found.left_out, found.compared) == ("words", (2, 0), (2, 3))
    assert (found.shared, found.jaccard) == (1, 1 / 4)
    same = compare(pieces, None, pieces, None)
    assert (same.compared_as, same.left_out, same.shared, same.jaccard) == ("terms", (0, 0), 4, 1.0)


def test_ranks_with_ties():
    assert mean_ranks(np.array([10, 10, 5, 1])).tolist() == [3.5, 3.5, 2, 1]
    assert spearman(np.array([10, 10, 5, 1]), np.array([4, 3, 2, 1])) == pytest.approx(0.9486832980505138)
    assert spearman(np.array([1, 2, 3]), np.array([9, 5, 1])) == pytest.approx(-1.0)
    assert spearman(np.array([2, 2]), np.array([1, 5])) is None
    assert spearman(np.zeros(0, np.int64), np.zeros(0, np.int64)) is None

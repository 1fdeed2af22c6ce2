"""Explained texts, results and pairs, by hand."""

import numpy as np
import pytest

from lexigraft.core.errors import InputError
from lexigraft.core.types import Contribution, Explanation, TermSource, TracedText, Vocabulary
from lexigraft.explain.page import page
from lexigraft.explain.page_parts import marked
from lexigraft.explain.pairs import common_share, counts, pair, pair_texts
from lexigraft.explain.results import DocumentSide, explain_result
from lexigraft.explain.texts import explain_text
from tests.unit.explain.pages import problems_of

WORDS = Vocabulary(["cat", "dog", "pet", "tail"])
CAT, DOG = TermSource("own", 0, "Cat"), TermSource("token", 1, "dog")
TRACED = TracedText(
    "Cat & dog <b>", [(0, 3), (6, 9), (11, 12)], 2, {0: CAT, 1: DOG, 2: DOG, 3: TermSource("text", -1, "all")}
)
ROW = np.array([0, 1, 2, 3], np.int32), np.array([1.0, 2.0, 0.5, 1.5], np.float32)
OWN = np.array([0, 1], np.int32)
SCORES = np.array([0.9, 0.9, 0.2, 0.6], np.float32)


def explained(scores=None):
    return explain_text("Cat & dog <b>", ROW, OWN, WORDS, TRACED, scores)


def test_terms_by_weight_with_their_sources():
    found = explained()
    assert [(item.term, item.own) for item in found.terms] == [
        ("dog", True), ("tail", False), ("cat", True), ("pet", False)
    ]  # fmt: skip
    assert found.word_weights == [1.0, 2.5, 0.0]  # dog and pet come from "dog"; tail from no single word
    assert found.wackiness is None


def test_wackiness_is_a_mean_by_weight_of_what_was_added():
    assert explained(SCORES).wackiness == pytest.approx((0.5 * 0.2 + 1.5 * 0.6) / 2)
    unknown = np.array([0.9, 0.9, np.nan, 0.6], np.float32)
    assert explained(unknown).wackiness == pytest.approx(0.6)
    assert {item.term: item.wackiness for item in explained(unknown).terms}["pet"] is None
    silent = explained(np.full(4, np.nan, np.float32))
    assert (silent.wackiness, silent.said_of_wackiness) == (
        None,
        "None of the terms that were added has a wackiness score.",
    )
    assert "0.500 wacky" in explained(SCORES).said_of_wackiness
    assert explained().said_of_wackiness == ""
    plain = explain_text("Cat", (ROW[0][:2], ROW[1][:2]), OWN, WORDS, TRACED, SCORES)
    assert (plain.wackiness, plain.scored) == (None, True)
    assert "no expansion terms" in plain.said_of_wackiness
    assert "no expansion terms" in page([plain], ["a model"])
    with pytest.raises(InputError, match="3 wackiness scores for a vocabulary of 4 terms"):
        explained(SCORES[:3])


def result(scores=None, document=True):
    items = (Contribution("dog", 2.0, 3.0, 6.0, 1, 60), Contribution("tail", 1.5, 1.0, 1.5, 3, 15))
    why = Explanation("", "d1", 7.5, items, 75, 0.1, 0)
    there = TracedText(
        "a dog's tail",
        [(0, 1), (2, 7), (8, 12)],
        3,
        {1: TermSource("token", 1, "dog's"), 3: TermSource("own", 2, "tail")},
    )
    side = DocumentSide(np.array([3], np.int32), there) if document else None
    return explain_result(why, explained(scores), "A title", side)


def test_a_result_has_both_sides():
    found = result()
    assert [(item.term, item.share) for item in found.shared] == [("dog", 0.8), ("tail", 0.2)]
    assert [(item.query_own, item.document_own) for item in found.shared] == [(True, False), (False, True)]
    assert found.query_word_amounts == [0.0, 6.0, 0.0]
    assert found.document_word_amounts == [0.0, 6.0, 1.5]
    alone = result(document=False)
    assert [item.document_own for item in alone.shared] == [None, None]
    assert alone.document_word_amounts == []


def test_a_pair_by_shares():
    row = np.array([0, 2], np.int32), np.array([3.0, 1.0], np.float32)
    other = explain_text("Cat & dog <b>", row, OWN, Vocabulary(["dog", "x", "wag"]))
    pairs = pair_texts(explained(), other)
    assert [(item.term, item.first_share, item.second_share, item.where) for item in pairs] == [
        ("dog", 0.4, 0.75, "both"), ("tail", 0.3, 0.0, "first"), ("wag", 0.0, 0.25, "second"),
        ("cat", 0.2, 0.0, "first"), ("pet", 0.1, 0.0, "first"),
    ]  # fmt: skip
    assert counts(pairs) == {"both": 1, "first": 3, "second": 1}
    assert common_share(pairs) == 0.4
    nothing = explain_text("?", (row[0][:0], row[1][:0]), OWN, WORDS)
    assert (pair(nothing, nothing), common_share(pair(nothing, other))) == ([], 0)
    with pytest.raises(TypeError):
        pair(explained(), result())


@pytest.mark.parametrize("scores", [None, SCORES])
@pytest.mark.parametrize("document", [True, False])
def test_pages_are_well_formed(scores, document):
    for found in ([explained(scores)], [result(scores, document)], [result(scores, document), result(scores)]):
        made = page(found, ["<one>", "two & three"][: len(found)])
        assert problems_of(made) == []
        assert "Cat</mark> &amp; <mark" in made or "Cat &amp; <mark" in made
        assert '<span class="unread">b</span>' in made  # the third word was not read
        assert "&lt;one&gt;" in made
        assert ("wackiness" in made) == (scores is not None)


def test_a_character_of_several_tokens_is_marked_by_all_of_them():
    traced = TracedText("\U0001f600 x", [(0, 1), (0, 1), (2, 3)], 3, {})
    shown = marked(traced, [0.0, 5.0, 1.0], "")
    assert 'title="5.000">\U0001f600</mark>' in shown
    assert 'title="1.000">x</mark>' in shown

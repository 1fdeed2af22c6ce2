"""The word rule with its choices: whole batches, single pieces and spans all say what the plain way of cutting says."""

import unicodedata
from itertools import pairwise

import numpy as np
import regex
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.word_rule import WordRule
from lexigraft.vocab.accents import PLAIN_LETTERS, fold_accents
from lexigraft.vocab.camel_case import mark_words
from lexigraft.vocab.pieces import PieceTable
from lexigraft.vocab.stems import OWN_LETTERS
from lexigraft.vocab.words import WordCutter, normalise, split_words

LETTERS = "aAzZsSéÉüßøæœłđñçéïőşıİΆέϊςΣЙйёжИקָקשׁאبَкคำกिनहगั각가한0129"
MARKS = "\u0301\u0308\u0327\u0345\u0306"
TEXTS = st.one_of(st.text(LETTERS + MARKS + " _.'-,:\u00ad\u2019\u200b\u200d\u200f", max_size=30), st.text(max_size=20))
KEPT = st.sampled_from(["", *OWN_LETTERS.values()]).map(frozenset)
RULES = st.builds(WordRule, st.booleans(), st.booleans())


def folded_slowly(word, kept):
    """Letter by letter: marks go after a Latin or Greek letter, whether they were composed with it or not."""
    found, folds = "", False
    for letter in word:
        if letter in kept:
            found, folds = found + letter, True
            continue
        if unicodedata.category(letter) == "Mn":
            found += "" if folds else letter
            continue
        base = unicodedata.normalize("NFD", letter)[0]
        folds = regex.match(r"\p{Script=Latin}|\p{Script=Greek}", base) is not None
        found += PLAIN_LETTERS.get(base, base) if folds else letter
    return found


def marked_slowly(text):
    """A word begins where the letters on the two sides say so, digits passed over on the left."""
    found = ""
    for place, letter in enumerate(text):
        left = place - 1
        while left >= 0 and unicodedata.category(text[left]) == "Nd":
            left -= 1
        before = unicodedata.category(text[left]) if left >= 0 else ""
        after = [unicodedata.category(one) for one in text[place + 1 : place + 3]] + ["", ""]
        if unicodedata.category(letter) == "Lu":
            is_plural = text[place + 1 : place + 2] == "s" and after[1] != "Ll"
            if before == "Ll" or (before == "Lu" and after[0] == "Ll" and not is_plural):
                found += "_"
        found += letter
    return found


@given(TEXTS, KEPT)
def test_folding(text, kept):
    word = normalise(text)
    assert fold_accents(word, kept) == folded_slowly(word, kept)
    assert fold_accents(fold_accents(word, kept)) == fold_accents(fold_accents(fold_accents(word, kept)))


@given(st.one_of(TEXTS, st.text("abcXYZ01s_ éÉ", max_size=30)))
def test_camel_case(text):
    known = "".join(one for one in text if regex.match(r"\P{Cn}", one) and unicodedata.category(one) != "Cn")
    assert mark_words(known) == marked_slowly(known)


@given(st.lists(TEXTS, max_size=4), RULES, KEPT)
def test_pieces_and_batches_are_cut_as_texts_are(texts, rule, kept):
    cutter, table = WordCutter(rule, kept), PieceTable()
    slow = [
        [folded_slowly(word, kept) if rule.fold_accents else word for word in split_words(marked)]
        for marked in (_marked(text) if rule.split_camel_case else text for text in texts)
    ]
    assert [cutter.split_words(text) for text in texts] == slow
    by_pieces = [[word for piece in cutter.split_pieces(t) for word in cutter.words_of_piece(piece)] for t in texts]
    assert by_pieces == slow
    parts = [cutter.normalised_utf8(text) for text in texts]
    numbers, ends = table.number(b"".join(parts), np.cumsum([len(part) for part in parts], dtype=np.int64))
    words = [cutter.words_of_piece(piece) for piece in table.pieces(0)]
    rows = [numbers[start:end].tolist() for start, end in zip([0, *ends.tolist()], ends.tolist(), strict=False)]
    assert [[word for number in row for word in words[number]] for row in rows] == slow


def _marked(text):
    """Identifiers are cut in composed text that still has its capitals; `normalise` composes again, to the same."""
    clean = text.encode("utf-8", "replace").decode()
    return mark_words(unicodedata.normalize("NFKC", clean))


@given(TEXTS, RULES, KEPT)
def test_spans_are_the_words(text, rule, kept):
    cutter = WordCutter(rule, kept)
    clean = text.encode("utf-8", "replace").decode()
    shown, spans = cutter.spans(clean)
    words = cutter.split_words(clean)
    assert len(spans) == len(words)
    assert all(0 <= start < end <= len(shown) for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    for (start, end), word in zip(spans, words, strict=True):
        assert cutter.fold(normalise(shown[start:end])).replace("σ", "ς") == word.replace("σ", "ς")

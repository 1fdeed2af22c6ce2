"""Masking: exact counts, whole terms or single subwords, labels that are what was there; which texts are read."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.errors import InputError
from lexigraft.core.settings import PretrainSettings
from lexigraft.train.batches import rows_of_step
from lexigraft.train.language.masking import NO_LABEL, is_among, mask_subwords, mask_terms, n_masked
from lexigraft.train.language.pretraining_texts import LARGEST_SHARE, choose_texts, number_texts
from lexigraft.train.language.subword_validation import has_split_term, mask_by_subword
from lexigraft.vocab.aligned import AlignedTexts, pad, take

MASK, ORDINARY = 999, np.arange(500, 600, dtype=np.int32)
# A text is a list of words (term or -1, number of subwords).
TEXTS = st.lists(st.lists(st.tuples(st.integers(-1, 9), st.integers(1, 4)), max_size=30), max_size=6)


def aligned(texts):
    subwords, terms, words, indptr = [], [], [], [0]
    for text in texts:
        subwords.append(101), terms.append(-2), words.append(-1)
        for place, (term, size) in enumerate(text):
            for part in range(size):
                subwords.append(10 * (term + 2) + part), terms.append(term), words.append(place)
        subwords.append(102), terms.append(-2), words.append(-1)
        indptr.append(len(subwords))
    return AlignedTexts(np.array(indptr), *(np.array(column, np.int32) for column in (subwords, terms, words)))


@settings(max_examples=300)
@given(TEXTS, st.integers(0, 1000))
def test_exactly_fifteen_percent_of_whole_terms(texts, seed):
    batch = aligned(texts)
    found = mask_terms(batch, MASK, ORDINARY, np.random.default_rng(seed))
    for number, text in enumerate(texts):
        span = slice(batch.indptr[number], batch.indptr[number + 1])
        labels, words, terms = found.labels[span], batch.words[span], batch.terms[span]
        masked_words = set(words[labels != NO_LABEL].tolist())
        n_terms = sum(term >= 0 for term, _ in text)
        assert len(masked_words) == (max(1, (15 * n_terms + 50) // 100) if n_terms else 0)
        for word in masked_words:
            here = words == word
            assert (labels[here] == terms[here]).all()  # every subword of the occurrence, labelled with its term
            now, before = found.subwords[span][here], batch.subwords[span][here]
            assert (now == MASK).all() or (now == before).all() or np.isin(now, ORDINARY).all()  # one fate for all
        assert (found.subwords[span][labels == NO_LABEL] == batch.subwords[span][labels == NO_LABEL]).all()


def test_shares_of_the_three_fates():
    batch = aligned([[(term % 10, 2) for term in range(100)]] * 400)
    found = mask_terms(batch, MASK, ORDINARY, np.random.default_rng(0))
    masked = found.labels != NO_LABEL
    assert masked.sum() == 400 * 15 * 2
    shares = [
        (found.subwords[masked] == MASK).mean(),
        np.isin(found.subwords[masked], ORDINARY).mean(),
        (found.subwords[masked] == batch.subwords[masked]).mean(),
    ]
    np.testing.assert_allclose(shares, [0.8, 0.1, 0.1], atol=0.02)


def test_counts():
    assert n_masked(np.array([0, 1, 3, 10, 16, 17, 100])).tolist() == [0, 1, 1, 2, 2, 3, 15]


@given(TEXTS.filter(bool), st.data())
def test_rows_and_padding(texts, data):
    batch = aligned(texts)
    rows = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1)))
    some = take(batch, rows)
    padded, mask = pad(some.indptr, some.subwords, fill=-7)
    for place, row in enumerate(rows):
        expected = batch.subwords[batch.indptr[row] : batch.indptr[row + 1]].tolist()
        assert padded[place][mask[place] == 1].tolist() == expected
        assert (padded[place][mask[place] == 0] == -7).all()


@given(st.integers(1, 40), st.integers(1, 10), st.integers(0, 5))
def test_a_pass_shows_every_row_at_most_once(n_rows, batch, seed):
    per_pass = max(1, n_rows // batch)
    rows = [rows_of_step(step, n_rows, batch, seed).tolist() for step in range(per_pass)]
    seen = [row for step in rows for row in step]
    assert len(seen) == len(set(seen)) >= n_rows - batch + 1
    assert rows_of_step(per_pass, n_rows, batch, seed).tolist() != []


@settings(max_examples=200)
@given(TEXTS, st.integers(0, 1000))
def test_exactly_fifteen_percent_of_subwords(texts, seed):
    """Subwords 20.. are ordinary, those of words outside the vocabulary (10..13) stand for unknown ones."""
    batch, ordinary = aligned(texts), np.arange(20, 100, dtype=np.int32)
    found = mask_subwords(batch, MASK, ordinary, np.random.default_rng(seed))
    labelled = found.labels != NO_LABEL
    assert (found.labels[labelled] == batch.subwords[labelled]).all()
    assert (found.subwords[~labelled] == batch.subwords[~labelled]).all()
    now, before = found.subwords[labelled], batch.subwords[labelled]
    assert ((now == MASK) | (now == before) | is_among(now, ordinary)).all()
    for number in range(len(texts)):
        span = slice(batch.indptr[number], batch.indptr[number + 1])
        n = sum(subword in range(20, 100) for subword in batch.subwords[span])
        assert labelled[span].sum() == (max(1, (15 * n + 50) // 100) if n else 0)
        assert not labelled[span][batch.subwords[span] < 20].any()


def test_subwords_have_fates_of_their_own():
    batch = aligned([[(3, 4)] * 100] * 100)
    found = mask_subwords(batch, MASK, ORDINARY.copy(), np.random.default_rng(0))
    assert (found.labels == NO_LABEL).all()  # none of them is ordinary
    found = mask_subwords(batch, MASK, np.arange(50, 60, dtype=np.int32), np.random.default_rng(0))
    labelled = found.labels != NO_LABEL
    assert labelled.sum() == 100 * 60
    kept, masked = found.subwords[labelled] == batch.subwords[labelled], found.subwords[labelled] == MASK
    # A random one of ten subwords is the same again in one of ten cases.
    np.testing.assert_allclose([masked.mean(), kept.mean()], [0.8, 0.11], atol=0.02)


@given(st.lists(st.integers(-3, 9)), st.sets(st.integers(-3, 9)))
def test_is_among(values, ascending):
    found = is_among(np.array(values, np.int32), np.array(sorted(ascending), np.int32))
    assert found.tolist() == [value in ascending for value in values]


@settings(max_examples=200)
@given(TEXTS, st.integers(0, 1000))
def test_first_and_later_subwords_of_the_same_terms(texts, seed):
    batch = aligned(texts)
    sets = mask_by_subword(batch, MASK, seed)
    for number, text in enumerate(texts):
        span = slice(batch.indptr[number], batch.indptr[number + 1])
        words, terms = batch.words[span], batch.terms[span]
        split = [place for place, (term, size) in enumerate(text) if term >= 0 and size > 1]
        first, later = (part.labels[span] != NO_LABEL for part in (sets.first, sets.later))
        assert set(words[first]) == set(words[later])  # the same terms
        assert set(words[first]) <= set(split)
        assert len(set(words[first])) == (max(1, (15 * len(split) + 50) // 100) if split else 0)
        for word in set(words[first]):
            places = np.flatnonzero(words == word)
            assert (first[places].tolist(), later[places].tolist()) == (
                [True] + [False] * (len(places) - 1), [False] + [True] * (len(places) - 1),
            )  # fmt: skip
        for part, labelled in ((sets.first, first), (sets.later, later)):
            assert (part.labels[span][labelled] == terms[labelled]).all()
            assert (part.subwords[span] == np.where(labelled, MASK, batch.subwords[span])).all()
    assert has_split_term(batch).tolist() == [any(term >= 0 and size > 1 for term, size in text) for text in texts]
    again = mask_by_subword(batch, MASK, seed)
    assert (again.first.labels == sets.first.labels).all()


@given(TEXTS.filter(bool))
def test_equal_numbers_are_equal_texts(texts):
    batch = aligned(texts)
    rows = [tuple(batch.subwords[a:b].tolist()) for a, b in zip(batch.indptr, batch.indptr[1:], strict=False)]
    numbers = number_texts(batch).tolist()
    assert [a == b for a in numbers for b in numbers] == [a == b for a in rows for b in rows]


MANY = st.lists(st.lists(st.tuples(st.integers(-1, 3), st.integers(1, 2)), max_size=3), min_size=1, max_size=60)


@given(MANY, st.integers(0, 9), st.integers(0, 30), st.integers(1, 9), st.booleans())
def test_what_validates_never_trains(texts, seed, n_texts, n_validation, validates):
    batch = aligned(texts)
    wanted = PretrainSettings(texts=n_texts, validate_every=int(validates), validation_texts=n_validation)
    with_terms = [number for number, text in enumerate(texts) if any(term >= 0 for term, _ in text)]
    if not with_terms:
        with pytest.raises(InputError, match="no text holds a term"):
            choose_texts(batch, wanted, seed)
        return
    found = choose_texts(batch, wanted, seed)
    numbers = number_texts(batch)
    training, validation = numbers[found.training].tolist(), numbers[found.validation].tolist()
    assert not set(training) & set(validation)
    assert set(found.training) | set(found.validation) <= set(with_terms)
    distinct = set(numbers[with_terms].tolist())
    split = has_split_term(batch)
    n_split = len(set(numbers[[row for row in with_terms if split[row]]].tolist()))
    assert split[found.validation].all()
    assert len(set(validation)) == len(validation)
    assert len(validation) == (min(n_validation, n_split, len(distinct) // LARGEST_SHARE) if validates else 0)
    if n_texts:
        assert len(set(training)) == len(training) == min(n_texts, len(distinct) - len(validation))
    else:
        assert found.training.tolist() == [row for row in with_terms if numbers[row] not in validation]
    assert found.facts == {
        "texts": len(texts), "without_terms": len(texts) - len(with_terms),
        "training_texts": len(training), "validation_texts": len(validation),
    }  # fmt: skip
    assert choose_texts(batch, wanted, seed).training.tolist() == found.training.tolist()

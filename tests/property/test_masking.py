"""EMLM masking: exact counts, whole terms, labels that are terms."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.train.batches import rows_of_step
from lexigraft.train.masking import NO_LABEL, mask_terms, n_masked
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

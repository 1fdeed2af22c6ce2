"""A sample is even and small, however long the stream."""

import pytest

from lexigraft.data.even_sample import BEGINNING, MOST_TEXTS, EvenSample


@pytest.mark.parametrize("length", [0, 1, MOST_TEXTS, MOST_TEXTS + 1, 2 * MOST_TEXTS, 5000, 100_000])
def test_evenly_from_all_of_it(length):
    sample = EvenSample()
    for number in range(length):
        sample.add(str(number))
    assert sample.texts == [str(number) for number in range(0, length, sample.every)]
    assert len(sample.texts) <= MOST_TEXTS
    assert len(sample.texts) >= min(length, MOST_TEXTS // 2)


def test_long_texts_are_cut():
    sample = EvenSample()
    sample.add("x" * 10**6)
    assert sample.texts == ["x" * BEGINNING]

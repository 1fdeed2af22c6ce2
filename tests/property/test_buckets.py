"""Texts in buckets of like length: each once, little padding, and the same vectors as all at once."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.train.batches import MOST_PADDING, SMALLEST_BUCKET, even_groups, length_buckets

LENGTHS = st.lists(st.integers(1, 300), min_size=1, max_size=400).map(np.array)


@given(LENGTHS, st.integers(0, 50))
def test_every_text_is_in_one_bucket_which_holds_little_padding(lengths, most):
    groups = length_buckets(lengths, most)
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(lengths)))
    for group in groups:
        assert not most or len(group) <= most
        padding = 1 - lengths[group].sum() / (lengths[group].max() * len(group))
        assert padding <= MOST_PADDING + 1e-9 or len(group) <= SMALLEST_BUCKET


@given(st.lists(st.integers(1, 300), min_size=1, max_size=SMALLEST_BUCKET).map(np.array))
def test_one_bucket_keeps_the_order_however_the_lengths_differ(lengths):
    """Who gets one bucket takes it for the batch: in another order, queries would meet other queries' documents."""
    assert [group.tolist() for group in length_buckets(lengths)] == [list(range(len(lengths)))]


@given(LENGTHS)
def test_a_batch_of_one_length_is_one_bucket_in_its_order(lengths):
    assert [group.tolist() for group in length_buckets(np.full(len(lengths), 7))] == [list(range(len(lengths)))]


@given(LENGTHS)
def test_even_groups_are_of_one_size_the_shortest_texts_first(lengths):
    groups = even_groups(lengths)
    assert len(groups) in (1, 2, 4)
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(lengths)))
    assert max(map(len, groups)) - min(map(len, groups)) <= 1
    for shorter, longer in pairwise(groups):
        assert lengths[shorter].max() <= lengths[longer].min()
    if len(groups) == 1:
        assert groups[0].tolist() == list(range(len(lengths)))


def test_even_groups_are_as_few_as_leave_little_padding():
    ones, longs = np.ones(100, np.int64), np.full(100, 50)
    assert len(even_groups(ones)) == 1
    assert len(even_groups(np.concatenate((longs, ones)))) == 2
    assert len(even_groups(np.arange(1, 201))) == 4
    assert len(even_groups(np.array([1, 100]))) == 1  # too few to divide

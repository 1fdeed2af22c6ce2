"""Lists come back from the stream as they went in, whatever their form, and are added up as their decoding says."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.index.codec import (
    DENSE,
    DENSE_SHARE,
    FINE_DENSE_SHARE,
    GAPS,
    NONE,
    PAD,
    WIDE,
    decode_list,
    encode_list,
    encode_range,
    encoded_size,
    list_max,
    list_postings,
    padded,
)
from lexigraft.search.lists import add_gaps, add_wide
from lexigraft.search.sweep import (
    CHUNK,
    GROUP,
    SLICES,
    STRIDE,
    add_fine_rows,
    add_rows,
    block_maxima,
    find_reaching,
    reached_by,
)

POSTINGS = st.dictionaries(st.integers(0, 3000), st.integers(1, 255), min_size=1, max_size=80)
BITS, FORMED = st.sampled_from((8, 16, 24)), st.sampled_from((8, 16))


def of_bits(postings, bits):
    """Impacts of 8 bits as others that have as many as they can, the lowest byte another than the upper one."""
    return {place: impact if bits == 8 else impact * 256 + place % 256 for place, impact in postings.items()}


def arrays(postings):
    places = sorted(postings)
    return np.array(places, np.uint16), np.array([postings[place] for place in places], np.uint32)


def encoded(postings, form, bits=8, n_padded=3008):
    places, impacts = arrays(postings)
    spans = {
        WIDE: len(places) * {8: 1, 16: 2, 24: 3}[bits] + (len(places) + 1) // 2 * (bits == 8),
        GAPS: (n_gaps := len(places) + sum((gap - 1) // 255 for gap in np.diff([-1, *places.tolist()])))
        + (n_gaps + 1) // 2 * (bits == 16),
        DENSE: n_padded // 2 * (bits // 8),
    }
    words = np.zeros(2 + spans[form], np.uint16)
    encode_list(places, impacts, form, bits, words)
    return words


def decoded(words, form, bits, n_padded):
    places, impacts = np.empty(4000, np.int32), np.empty(4000, np.uint32)
    n = decode_list(words, 0, form, bits, n_padded, places, impacts)
    return dict(zip(places[:n].tolist(), impacts[:n].tolist(), strict=True))


@given(POSTINGS, FORMED)
def test_every_form_holds_the_same_list(postings, bits):
    postings = of_bits(postings, bits)
    for form in (WIDE, GAPS, DENSE):
        words = encoded(postings, form, bits)
        assert decoded(words, form, bits, 3008) == postings
        assert list_postings(words, 0, form, bits) == len(postings)
        assert list_max(words, 0) == (max(postings.values()) if bits == 8 else 0)


@given(st.dictionaries(st.integers(0, 65535), st.integers(1, 2**24 - 1), min_size=1, max_size=50), BITS)
def test_impacts_of_more_bits(postings, bits):
    postings = {place: min(impact, 2**bits - 1) for place, impact in postings.items()}
    form, size = encoded_size(arrays(postings)[0], 65536, bits)
    words = np.zeros(size, np.uint16)
    encode_list(*arrays(postings), form, bits, words)
    assert decoded(words, form, bits, 65536) == postings


@settings(max_examples=60)
@given(st.lists(st.dictionaries(st.integers(0, 299), st.integers(1, 255), max_size=300), min_size=1, max_size=6), BITS)
def test_a_range_holds_all_its_lists(lists, bits):
    parts = [arrays(postings) for postings in lists]
    starts = np.cumsum([0, *(len(places) for places, _ in parts)])
    places, impacts = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    entries, words = encode_range(starts, places, impacts, padded(300), bits)
    for entry, postings in zip(entries.tolist(), lists, strict=True):
        form, at = entry & 3, entry >> 2
        assert (form == NONE) == (not postings)
        if postings:
            assert decoded(words[at:], form, bits, padded(300)) == postings


@given(
    st.one_of(
        st.sets(st.integers(0, 2999), min_size=1, max_size=80),  # far apart
        st.sets(st.integers(0, 99), min_size=1),  # close together
        (st.integers(530, 550) | st.integers(895, 910)).map(range),  # around 18 and 30 % of 3008
    ),
    FORMED,
)
def test_a_list_takes_the_smallest_form_or_is_dense_from_a_share_on(places, bits):
    postings = dict.fromkeys(places, 1)
    form, size = encoded_size(arrays(postings)[0], 3008, bits)
    sizes = {other: len(encoded(postings, other, bits)) for other in (WIDE, GAPS, DENSE)}
    assert size == sizes[form]
    if len(postings) >= {8: DENSE_SHARE, 16: FINE_DENSE_SHARE}[bits] * 3008:
        assert form == DENSE
    else:
        assert size == min(sizes.values())


@given(POSTINGS, st.integers(0, 32768), FORMED)
def test_adding_a_list_is_adding_its_postings(postings, weight, bits):
    """Up to the largest weight that a query of 16 bits has, and so up to the largest score."""
    weight, postings = min(weight, 255) if bits == 8 else weight, of_bits(postings, bits)
    expected = np.zeros(3008, np.int32)
    for place, impact in postings.items():
        expected[place] = weight * impact
    for form, add in ((WIDE, add_wide), (GAPS, add_gaps)):
        words, found = encoded(postings, form, bits), np.zeros(3008, np.int32)
        add(words, words.view(np.uint8), bits, 0, np.int32(weight), found)
        np.testing.assert_array_equal(found, expected)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 8191), min_size=1, max_size=4), st.integers(0, 99))
def test_dense_rows_of_16_bits_are_added_exactly(weights, seed):
    n_padded = CHUNK + 3 * PAD
    matrix = np.random.default_rng(seed).integers(0, 65536, (len(weights), n_padded)).astype(np.uint16)
    matrix[:, ::7] = 65535
    found = np.zeros(n_padded, np.int32)
    starts = np.arange(len(weights)) * n_padded
    add_fine_rows(matrix.ravel(), starts, np.array(weights, np.int32), len(weights), n_padded, found)
    np.testing.assert_array_equal(found, np.array(weights) @ matrix.astype(np.int64))


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255)), min_size=1, max_size=9), st.integers(0, 99))
def test_dense_rows_are_added_exactly(rows, seed):
    """Also where 16 bits do not hold the sum of all of them, over more than one chunk."""
    rng = np.random.default_rng(seed)
    n_padded = 2 * CHUNK + 3 * PAD
    matrix = np.array([rng.integers(0, largest + 1, n_padded) for _, largest in rows]).astype(np.uint8)
    weights, largest = np.array([weight for weight, _ in rows], np.int32), matrix.max(axis=1).astype(np.int64)
    sums, found = np.zeros(CHUNK, np.uint16), np.zeros(n_padded, np.int32)
    starts = np.arange(len(rows)) * n_padded
    add_rows(matrix.ravel(), starts, weights, largest, len(rows), n_padded, sums, found)
    np.testing.assert_array_equal(found, weights @ matrix.astype(np.int64))
    assert not sums.any()


@given(st.lists(st.integers(0, 40), min_size=1, max_size=2500), st.integers(1, 40))
def test_a_sweep_finds_what_reaches_the_threshold(scores, threshold):
    n_padded = padded(len(scores))
    accumulators = np.zeros(n_padded, np.int32)
    accumulators[: len(scores)] = scores
    n_groups = -(-n_padded // GROUP)
    maxima, tops = np.full(n_groups * STRIDE, -1, np.int32), np.full(n_groups, -1, np.int32)
    assert block_maxima(accumulators, n_padded, maxima, tops) == n_groups
    lanes, found, places = np.empty(STRIDE + 1, np.int32), np.empty(GROUP + 1, np.int32), []
    for group in range(n_groups):
        assert tops[group] == max(scores[group * GROUP : (group + 1) * GROUP], default=0)
        n = find_reaching(accumulators, maxima, group, len(scores), np.int64(threshold), lanes, found)
        places += found[:n].tolist()
    assert sorted(places) == [place for place, score in enumerate(scores) if score >= threshold]


@given(st.lists(st.integers(0, 2**20), min_size=1, max_size=300), st.data())
def test_at_least_k_maxima_reach_what_is_said(scores, data):
    k = data.draw(st.integers(1, len(scores)))
    found = reached_by(np.array(scores, np.int32), np.array([max(scores)], np.int32), k)
    assert sum(score >= found for score in scores) >= k
    assert found > sorted(scores, reverse=True)[k - 1] - 2 * max(scores) / SLICES - 1  # no more than a slice too low

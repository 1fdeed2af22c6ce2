"""The pass over the lists of an index: the kernel and its twin agree on every stream, and what they let pass can be
decoded without leaving any array."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.settings import IndexSettings
from lexigraft.index.codec import NONE, padded
from lexigraft.index.lists_by_numpy import list_in_range
from lexigraft.index.stored_lists import StoredLists
from lexigraft.index.validate_lists import FINE, look_through_by_numpy, look_through_lists
from tests.conftest import index_of, sparse_matrix

WORDS = (0, 1, 2, 3, 64, 255, 256, 0x0101, 0x01FF, 0xFF00, 0xFFFF)


@st.composite
def stored_lists(draw):
    """Lists of an index of random documents, some of whose words, entries or numbers were exchanged."""
    n_terms, n_rows = draw(st.integers(1, 6)), draw(st.integers(1, 150))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    chances = rng.choice([0.01, 0.1, 0.9], n_terms)
    rows = [
        {int(t): float(rng.random() + 0.01) for t in np.flatnonzero(rng.random(n_terms) < chances)}
        for _ in range(n_rows)
    ]
    return sparse_matrix(rows, n_terms), draw(st.sampled_from((8, 16, 24))), draw(st.sampled_from((64, 100, 65536)))


@st.composite
def exchanges(draw):
    """Up to three of (array, where in it, from 0 to 1, another value)."""
    values = st.sampled_from(WORDS) | st.integers(0, 65535)
    one = st.tuples(st.sampled_from(("stream", "entries")), st.floats(0, 0.999), values)
    return draw(st.lists(one, max_size=3))


def both(stored: StoredLists):
    """What kernel and twin say, and the sums they made."""
    found = []
    for look in (look_through_lists, look_through_by_numpy):
        n_terms = stored.entries.shape[1]
        lengths, largest = np.zeros(n_terms, np.int64), np.zeros(n_terms, np.uint32)
        found.append((look(stored, lengths, largest), lengths.tolist(), largest.tolist()))
    return found


@given(made=stored_lists(), changed=exchanges())
def test_kernel_and_twin_agree_and_what_passes_stays_inside(tmp_path_factory, made, changed):
    matrix, bits, range_size = made
    index = index_of(
        matrix, tmp_path_factory.mktemp("i") / "index", settings=IndexSettings(bits=bits), range_size=range_size
    )
    arrays = {"stream": index.stream.copy(), "entries": index.entries.copy()}
    for name, where, value in changed:
        flat = arrays[name].reshape(-1)
        if len(flat):
            flat[int(where * len(flat))] = value if name == "stream" else value % (4 * len(index.stream) + 4)
    for array in arrays.values():
        array.flags.writeable = False
    stored = index.stored._replace(**arrays)
    kernel, twin = both(stored)
    assert kernel == twin
    if all(np.array_equal(arrays[name], getattr(index, name)) for name in arrays):
        assert kernel == ((FINE, 0, 0), index.lengths.tolist(), index.list_max.tolist())
    if kernel[0][0] == FINE:
        check_inside(stored)


def check_inside(stored: StoredLists) -> None:
    for number in range(len(stored.entries)):
        n_here = min(stored.range_size, stored.n_documents - number * stored.range_size)
        for term in range(stored.entries.shape[1]):
            if stored.entries[number, term] & 3 != NONE:
                places, impacts = list_in_range(stored, number, term)
                assert (np.diff(places) > 0).all() and places[0] >= 0 and places[-1] < n_here <= padded(n_here)
                assert impacts.min() > 0 and impacts.max() < 1 << stored.bits

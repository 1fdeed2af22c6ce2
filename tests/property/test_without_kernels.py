"""What numpy does in a process that loads no kernels is what kernels do, to the bit."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core import compiled
from lexigraft.core.arrays import StringTable, write_strings
from lexigraft.core.errors import InputError
from lexigraft.core.settings import IndexSettings
from lexigraft.core.types import Vocabulary
from lexigraft.explain.lookup import impacts_of
from lexigraft.index.codec import encode_range, padded
from lexigraft.index.lists_by_numpy import list_in_range
from lexigraft.index.live.counts import count_terms
from lexigraft.index.live.reader import LiveIndex, Segment
from lexigraft.index.stored_lists import StoredLists, decode_stored
from lexigraft.search.live import LiveSearcher
from lexigraft.search.searcher import Searcher
from lexigraft.vectors import quantize
from lexigraft.vectors.prune import prune_by_kernel, prune_by_numpy
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.lookup import add_rows, add_rows_by_numpy
from lexigraft.vocab.pieces import PieceTable
from lexigraft.vocab.subwords import SpecialTokens
from lexigraft.vocab.words import normalised_utf8
from tests.conftest import index_of, sparse_matrix
from tests.property.test_search import N_TERMS, QUERIES, ROWS, vector


@contextmanager
def without_kernels() -> Iterator[None]:
    """As in a process that has just begun, for however much work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "_loaded", False)
        patch.setattr(compiled, "LOADING", float("inf"))
        yield
        assert not compiled.are_loaded()


@settings(max_examples=100)
@given(
    ROWS, QUERIES, st.integers(1, 45), st.data(), st.sampled_from((64, 16, 3)), st.booleans(),
    st.sampled_from((8, 16, 24)),
)  # fmt: skip
def test_a_search(rows, query, k, data, range_size, all_allowed, bits):
    flags = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    allowed = None if all_allowed else np.array(flags, np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        wide = IndexSettings(bits=bits)
        made = index_of(sparse_matrix(rows, N_TERMS + 2), Path(folder) / "i", range_size=range_size, settings=wide)
        searcher = Searcher(made)
        expected = searcher.search_ordinals(*vector(query), k, allowed)
        with without_kernels():
            found = searcher.search_ordinals(*vector(query), k, allowed)
        for of_kernel, of_numpy in zip(expected, found, strict=True):
            assert of_kernel.dtype == of_numpy.dtype
            assert of_kernel.tolist() == of_numpy.tolist()


def test_what_is_wrong_with_a_query_is_said(tmp_path):
    searcher = Searcher(index_of(sparse_matrix([{0: 1.0}], 3), tmp_path / "i"))
    with without_kernels():
        for terms, weights, wrong in (
            ([3], [1], "outside the index's vocabulary"),
            ([-1], [1], "outside the index's vocabulary"),
            ([1, 1], [1, 1], "names a term twice"),
            ([1], [-1], "not negative"),
        ):
            with pytest.raises(InputError, match=wrong):
                searcher.search_ordinals(np.array(terms, np.int32), np.array(weights, np.float32), 1)


@settings(max_examples=60)
@given(
    st.lists(st.dictionaries(st.integers(0, 299), st.integers(1, 255), max_size=300), min_size=1, max_size=6),
    st.sampled_from((8, 16, 24)),
    st.integers(1, 1 << 16),
)
def test_lists(lists, bits, factor):
    """Those of 8 bits are of every form: dense where they are full."""
    lists = [{place: min(impact * factor, 2**bits - 1) for place, impact in postings.items()} for postings in lists]
    starts = np.cumsum([0, *map(len, lists)])
    places = np.array([place for postings in lists for place in sorted(postings)], np.uint16)
    impacts = np.array([postings[place] for postings in lists for place in sorted(postings)], np.uint32)
    entries, words = encode_range(starts, places, impacts, padded(300), bits)
    stored = StoredLists(entries[None], words, np.array([0, len(words)]), 1 << 16, 300, bits)
    for term, postings in enumerate(lists):
        room = np.empty(padded(300), np.int32), np.empty(padded(300), np.uint32)
        n = decode_stored(stored, 0, term, *room)
        found = list_in_range(stored, 0, term)
        assert [part.tolist() for part in found] == [part[:n].tolist() for part in room]
        assert dict(zip(*(part.tolist() for part in found), strict=True)) == postings


@settings(max_examples=60)
@given(ROWS, st.data(), st.sampled_from((64, 3)))
def test_impacts_of_documents(rows, data, range_size):
    ordinals = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=10, unique=True))
    terms = np.array(data.draw(st.lists(st.integers(0, N_TERMS - 1), max_size=5)), np.int32)
    with tempfile.TemporaryDirectory() as folder:
        index = index_of(sparse_matrix(rows, N_TERMS), Path(folder) / "i", range_size=range_size)
        asked = np.array(ordinals, np.int32)
        expected = impacts_of(index, terms, asked)
        with without_kernels():
            assert impacts_of(index, terms, asked).tolist() == expected.tolist()


@given(
    st.lists(st.floats(width=32, allow_nan=True, allow_infinity=True) | st.integers(-1, 300).map(float), max_size=8),
    st.sampled_from((8, 16)),
)
def test_weights_of_a_query(weights, bits):
    given_weights = np.array(weights, np.float32)
    limits = quantize.query_limits(bits)
    limits = limits if bits == 8 else limits._replace(largest_sum=300, sum_in_32_bits=2000)
    expected, found = np.zeros(len(weights), np.int32), np.zeros(len(weights), np.int32)
    scale = quantize.fill_query_integers(given_weights, limits, expected)
    assert quantize.fill_by_numpy(given_weights, limits, found) == scale
    if scale != quantize.NOT_ALLOWED:
        assert found.tolist() == expected.tolist()


@given(st.lists(st.dictionaries(st.integers(0, 5), st.floats(2**-10, 9, width=32), max_size=6), min_size=6, max_size=6),
       st.lists(st.integers(0, 5), max_size=8))  # fmt: skip
def test_rows_of_a_table(rows, asked):
    indptr = np.cumsum([0, *map(len, rows)])
    terms = np.array([term for row in rows for term in sorted(row)], np.int32)
    weights = np.array([row[term] for row in rows for term in sorted(row)], np.float32)
    expected = add_rows(indptr, terms, weights, np.array(asked, np.int32))
    found = add_rows_by_numpy(indptr, terms, weights, np.array(asked, np.int32))
    assert [part.dtype for part in found] == [part.dtype for part in expected]
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]


@given(st.lists(st.sets(st.integers(0, 9)), max_size=12), st.data())
def test_terms_of_rows(rows, data):
    indptr = np.cumsum([0, *map(len, rows)])
    terms = np.array([term for row in rows for term in sorted(row)], np.int32)
    some = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), unique=True)) if rows else [], np.int64)
    expected = [sum(term in rows[row] for row in some) for term in range(10)]
    assert count_terms(indptr, terms, some, 10).tolist() == expected


STRINGS = st.lists(st.text(st.characters(exclude_categories=["Cs"]) | st.just("\0"), max_size=5), max_size=30)


@given(STRINGS, st.data())
def test_strings(strings, data):
    places = data.draw(st.lists(st.integers(0, len(strings) - 1))) if strings else []
    with tempfile.TemporaryDirectory() as folder:
        write_strings(Path(folder), "s", strings)
        table = StringTable(Path(folder), "s")
        for _ in range(2):
            assert list(table) == strings
            assert table.take(np.array(places, np.int64)) == [strings[place] for place in places]
            with without_kernels():
                assert list(table) == strings
                assert table.take(np.array(places, np.int64)) == [strings[place] for place in places]


@settings(max_examples=60)
@given(ROWS, ROWS, QUERIES, st.integers(1, 45))
def test_titles_are_those_of_the_places(rows, more, query, k):
    with tempfile.TemporaryDirectory() as folder:
        ids = [f"d{number}" for number in range(len(rows) + len(more))]
        parts = [
            index_of(sparse_matrix(rows, N_TERMS + 2, ids[: len(rows)]), Path(folder) / "one"),
            index_of(sparse_matrix(more, N_TERMS + 2, ids[len(rows) :]), Path(folder) / "two"),
        ]
        for indexes in (parts[:1], parts):
            searcher = LiveSearcher(LiveIndex(tuple(map(Segment, indexes)), {}))
            places = searcher.search_places(*vector(query), k)
            expected = [(place.doc_id, place.score, place.title) for place in places]
            assert list(zip(*searcher.search_titled(*vector(query), k), strict=True)) == expected


TEXTS = st.lists(st.text("ab ä\n,.", max_size=30), max_size=6)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.data())
def test_pieces(batches, data):
    """Batches by kernels and by Python in any turn leave the same numbers and the same table."""
    by_kernels, mixed = PieceTable(), PieceTable()
    for texts in batches:
        parts = [normalised_utf8(text) for text in texts]
        given_batch = b"".join(parts), np.cumsum([len(part) for part in parts], dtype=np.int64)
        expected = by_kernels.number(*given_batch)
        if data.draw(st.booleans()):
            with without_kernels():
                found = mixed.number(*given_batch)
        else:
            found = mixed.number(*given_batch)
        assert [part.tolist() for part in found] == [part.tolist() for part in expected]
        assert mixed.pieces(0) == by_kernels.pieces(0)


class Letters:
    """A tokenizer whose subwords are letters."""

    special = SpecialTokens(begin=-1, end=-2, pad=-3, mask=-4, unknown=-5)

    def spell(self, words):
        return [[ord(letter) for letter in word] for word in words]


@given(TEXTS, st.integers(3, 12))
def test_aligned_texts(texts, length):
    def read():
        reader = AlignedReader(Letters(), Vocabulary(["a", "ab", "ä"]))
        aligned, bags, whole = reader.read_measured(texts, length)
        return [part.tolist() for part in (*aligned, *bags, whole)]

    expected = read()
    with without_kernels():
        assert read() == expected


@given(
    st.lists(st.dictionaries(st.integers(0, 30), st.sampled_from((0.25, 0.5, 1.0, 1.5, 7.0)), max_size=20), max_size=8),
    st.integers(1, 12),
)
def test_the_heaviest_terms(rows, keep):
    """Of equal weights, those of the lower ids."""
    matrix = sparse_matrix(rows, 31)
    counts = np.minimum(np.diff(matrix.indptr), keep)
    expected = prune_by_kernel(matrix.indptr, matrix.term_ids, matrix.weights, counts)
    found = prune_by_numpy(matrix.indptr, matrix.term_ids, matrix.weights, counts)
    for of_kernel, of_numpy in zip(expected, found, strict=True):
        assert of_kernel.dtype == of_numpy.dtype
        assert of_kernel.tolist() == of_numpy.tolist()

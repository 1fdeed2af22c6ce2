"""Messages of CIFF: the kernels write what a plain writer does, byte by byte, and read what they wrote."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.export.importing import ciff_kernels
from lexigraft.export.importing.ciff_kernels import read_varint, scan_list, scan_records, spread_lists
from lexigraft.export.lists import ciff_wire
from tests import ciff

TF = st.integers(1, 2**24 - 1) | st.integers(1, 300)
POSTINGS = st.dictionaries(st.integers(0, 2**31 - 2) | st.integers(0, 300), TF, min_size=1, max_size=30)
TERMS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40)
NUMBERS = st.integers(0, 2**63 - 1) | st.integers(0, 300)


def arrays(found):
    ordinals = sorted(found)
    return np.array(ordinals, np.int32), np.array([found[one] for one in ordinals], np.uint32)


@given(NUMBERS)
def test_numbers(value):
    written = ciff.varint(value)
    assert ciff_wire.varint(value) == written
    assert ciff_wire.varint_size(value) == len(written)
    data = np.frombuffer(written + b"\0", np.uint8)
    assert read_varint(data, 0, len(data)) == (value, len(written))
    assert read_varint(data, 0, len(written) - 1)[1] == -1, "cut short"


@given(st.integers(-(2**63), -1))
def test_negative_numbers_take_ten_bytes(value):
    data = np.frombuffer(ciff.varint(value), np.uint8)
    assert read_varint(data, 0, 10) == (value, 10)


@given(TERMS, POSTINGS, st.integers(1, 30))
def test_lists(term, found, part):
    """Also where a list is written in parts."""
    ordinals, impacts = arrays(found)
    n_bytes = ciff_wire.postings_size(ordinals, impacts)
    written = ciff_wire.list_head(term.encode(), impacts, n_bytes)
    for start in range(0, len(ordinals), part):
        before = int(ordinals[start - 1]) if start else 0
        span = slice(start, start + part)
        written += ciff_wire.write_postings(ordinals[span], impacts[span], before).tobytes()
    assert written == ciff.posting_list(term, sorted(found.items()))


@given(st.integers(0, 2**31 - 60), st.lists(st.tuples(TERMS, st.integers(0, 2**31 - 1)), min_size=1, max_size=20))
def test_records(first, records):
    lengths = np.array([length for _, length in records], np.int64)
    written = ciff_wire.write_records(first, [name.encode() for name, _ in records], lengths).tobytes()
    assert written == b"".join(ciff.record(first + row, *one) for row, one in enumerate(records))
    names = np.zeros((len(records), 2), np.int64)
    data = np.frombuffer(written, np.uint8)
    assert scan_records(data, 0, first, len(records), names) == (len(written), len(records))
    assert [written[start:end].decode() for start, end in names.tolist()] == [name for name, _ in records]


@given(st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1), st.integers(0, 2**50), TERMS)
def test_headers(n_lists, n_documents, total, description):
    written = ciff_wire.header(n_lists, n_documents, total, description)
    assert written == ciff.header(n_lists, n_documents, total, description)


@given(st.dictionaries(TERMS, st.dictionaries(st.integers(0, 40), TF, min_size=1), min_size=1, max_size=8),
       st.integers(1, 41))  # fmt: skip
def test_lists_become_rows_whatever_the_ranges(lists, part):
    terms, n_documents = list(lists), 41
    messages = [ciff.posting_list(term, sorted(lists[term].items())) for term in terms]
    data = np.frombuffer(b"".join(messages), np.uint8)
    ends = np.cumsum([len(one) for one in messages])
    starts = np.array([read_varint(data, end - len(one), end)[1] for end, one in zip(ends, messages, strict=True)])
    counts, facts = np.zeros(n_documents, np.int64), np.zeros(ciff_kernels.N_FACTS, np.int64)
    for start, end, term in zip(starts, ends, terms, strict=True):
        scan_list(data, start, end, counts, facts)
        assert facts[ciff_kernels.WRONG] == 0
        assert facts[ciff_kernels.TF_MOST] == max(lists[term].values())
    cursors, documents, found = starts.copy(), np.full(len(terms), -1, np.int64), {}
    order, ids = np.arange(len(terms))[::-1].copy(), np.arange(len(terms), dtype=np.int32)
    for first in range(0, n_documents, part):
        last = min(first + part, n_documents)
        places = np.concatenate(([0], np.cumsum(counts[first:last])))
        term_ids, weights = np.empty(places[-1], np.int32), np.empty(places[-1], np.float32)
        at = places[:-1].copy()
        spread_lists(data, cursors, ends, documents, order, ids, first, last, at, term_ids, weights)
        assert at.tolist() == places[1:].tolist()
        for row in range(last - first):
            span = slice(places[row], places[row + 1])
            found[first + row] = list(zip(term_ids[span].tolist(), weights[span].tolist(), strict=True))
    for document in range(n_documents):
        expected = [(number, lists[terms[number]].get(document)) for number in order.tolist()]
        assert found[document] == [(number, tf) for number, tf in expected if tf]


@given(st.binary(max_size=60), st.integers(1, 20))
def test_any_bytes_are_refused_or_read_without_leaving_the_message(data, n_documents):
    counts, facts = np.zeros(n_documents, np.int64), np.zeros(ciff_kernels.N_FACTS, np.int64)
    scan_list(np.frombuffer(data + b"\xff" * 8, np.uint8), 0, len(data), counts, facts)
    assert facts[ciff_kernels.WRONG] or counts.sum() == facts[ciff_kernels.N_POSTINGS]
    assert 0 <= facts[ciff_kernels.TERM_START] <= facts[ciff_kernels.TERM_END] <= len(data)
    names = np.zeros((4, 2), np.int64)
    at, n = scan_records(np.frombuffer(data, np.uint8), 0, 0, 4, names)
    assert 0 <= at <= len(data)
    assert (names[:n] >= 0).all() and (names[:n] <= len(data)).all()

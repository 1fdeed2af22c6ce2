"""Texts come back from the store as they went in, in any order, whatever they hold and however large they are."""

import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.types import Document
from lexigraft.index import texts as store
from lexigraft.index.shared_texts import write_shared_texts
from lexigraft.index.texts import KeptText, StoredTexts, TextWriter, keep_texts, open_texts

SHORT = st.text(max_size=12)
ROW = st.one_of(st.none(), st.builds(KeptText, SHORT, st.one_of(SHORT, st.text(min_size=30, max_size=90))))
ROWS = st.lists(ROW, max_size=30)


@given(ROWS, st.integers(1, 200), st.integers(1, 8), st.integers(0, 300), st.data())
def test_a_round_trip(rows, block_bytes, block_rows, remembered, data):
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(store, "BLOCK_BYTES", block_bytes),
        patch.object(store, "BLOCK_ROWS", block_rows),
        patch.object(store, "REMEMBERED_BYTES", remembered),
    ):
        with TextWriter(Path(folder)) as writer:
            for row in rows:
                writer.append(row)
        stored = StoredTexts(Path(folder))
        assert len(stored) == len(rows) == writer.n_rows
        assert [stored.get(place) for place in range(len(rows))] == rows
        for place in data.draw(st.permutations(range(len(rows)))):
            assert stored.get(place) == rows[place]
            assert len(stored._last) <= 1 or sum(map(len, stored._last.values())) <= remembered
        n_bytes = sum(len((row.title + row.text).encode()) for row in rows if row is not None)
        assert stored.count_bytes() == writer.n_bytes == n_bytes <= stored.most_bytes


@given(st.lists(st.builds(KeptText, SHORT, SHORT), max_size=20), st.integers(0, 200))
def test_what_is_larger_than_the_limit_is_not_kept_at_all(rows, most):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with TextWriter(folder, most) as writer:
            documents = [Document(str(place), *row) for place, row in enumerate(rows)]
            assert list(writer.passing(documents)) == documents
        fits = most > 0 and sum(len((row.title + row.text).encode()) for row in rows) <= most
        assert writer.keeps == fits == (open_texts(folder) is not None)
        assert fits or not list(folder.iterdir())
        write_shared_texts(documents, folder, most)
        assert (open_texts(folder) is not None) == fits


@given(st.lists(st.builds(KeptText, SHORT, SHORT), max_size=20), st.randoms())
def test_an_index_in_an_order_of_its_own_finds_its_texts(rows, random):
    ids = [f"d{place}" for place in range(len(rows))]
    order = random.sample(range(len(rows)), len(rows))
    with tempfile.TemporaryDirectory() as name:
        written, index = Path(name) / "written", Path(name) / "index"
        written.mkdir(), index.mkdir()
        with TextWriter(written) as writer:
            for row in rows:
                writer.append(row)
        keep_texts(written, index, ids, [ids[place] for place in order])
        stored = StoredTexts(index)
        assert [stored.get(ordinal) for ordinal in range(len(rows))] == [rows[place] for place in order]


@given(ROWS, st.integers(1, 60), st.integers(1, 8), st.integers(1, 12), st.booleans(), st.randoms())
def test_bytes_of_some_documents_are_those_of_their_texts(rows, block_bytes, block_rows, at_once, reordered, random):
    ids = [f"d{place}" for place in range(len(rows))]
    order = random.sample(range(len(rows)), len(rows)) if reordered else range(len(rows))
    with (
        tempfile.TemporaryDirectory() as name,
        patch.object(store, "BLOCK_BYTES", block_bytes),
        patch.object(store, "BLOCK_ROWS", block_rows),
        patch.object(store, "ROWS_AT_ONCE", at_once),
    ):
        written, index = Path(name) / "written", Path(name) / "index"
        written.mkdir(), index.mkdir()
        with TextWriter(written) as writer:
            for row in rows:
                writer.append(row)
        keep_texts(written, index, ids, [ids[place] for place in order] if reordered else None)
        stored, allowed = StoredTexts(index), np.array([random.randint(0, 1) for _ in rows], np.uint8)
        living = [rows[place] for place, alive in zip(order, allowed, strict=True) if alive]
        texts = [row for row in living if row is not None]
        assert stored.count_bytes(allowed) == sum(len((row.title + row.text).encode()) for row in texts)
        assert stored.holds_any(allowed) == bool(texts)
        assert stored.count_bytes(np.ones_like(allowed)) == stored.count_bytes() <= stored.most_bytes


def test_a_large_text_has_a_block_of_its_own(tmp_path):
    large = KeptText("large", "ä" * (3 * store.BLOCK_BYTES))
    with TextWriter(tmp_path) as writer:
        for row in (KeptText("", "before"), large, KeptText("", "after"), KeptText("", "\ud800 lone")):
            writer.append(row)
    stored = StoredTexts(tmp_path)
    assert np.load(tmp_path / store.ROWS).tolist() == [0, 1, 2, 4]
    assert [stored.get(place) for place in (2, 0, 1)] == [KeptText("", "after"), KeptText("", "before"), large]
    assert stored.get(3).text == "? lone"  # UTF-8 holds no lone surrogate


def test_rows_without_text_end_a_block_too(tmp_path):
    """However many come, no more than a block of them is held in memory."""
    with TextWriter(tmp_path) as writer:
        for place in range(2 * store.BLOCK_ROWS + 2):
            writer.append(KeptText("", "last") if place > 2 * store.BLOCK_ROWS else None)
    assert np.load(tmp_path / store.ROWS).tolist() == [0, 4096, 8192, 8194]
    stored = StoredTexts(tmp_path)
    assert [stored.get(place) for place in (0, 4096, 8192, 8193)] == [None, None, None, KeptText("", "last")]


def test_texts_that_are_too_large_are_left_out_with_a_message(tmp_path, caplog):
    caplog.set_level("INFO")
    with TextWriter(tmp_path, 3 << 20) as writer:
        for _ in range(4):
            writer.append(KeptText("", "x" * (1 << 20)))
    assert not writer.keeps
    assert caplog.messages == ["texts are not kept: they are more than 3 MiB; --texts yes keeps them"]

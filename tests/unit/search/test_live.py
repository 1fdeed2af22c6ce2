import numpy as np
import pytest

from lexigraft.core.errors import SettingError, VocabularyMismatchError
from lexigraft.index.live.reader import LiveIndex, open_live
from lexigraft.index.live.writer import open_writer
from lexigraft.search.live import LiveSearcher
from lexigraft.search.searcher import Searcher
from tests.conftest import index_of, sparse_matrix
from tests.live import live_of

QUERY = np.array([0, 1], np.int32), np.array([1, 2], np.float32)


def test_ties_across_segments_go_by_id(tmp_path):
    live = live_of(
        tmp_path / "live", [{"d": {0: 1.0}, "b": {0: 1.0}}, {"c": {0: 1.0}, "a": {0: 1.0}}, {"e": {1: 1.0}}], 2
    )
    searcher = LiveSearcher(open_live(live))
    assert [searcher.search(*QUERY, k).doc_ids for k in (1, 2, 4, 9)] == [
        ("e",),
        ("e", "a"),
        ("e", "a", "b", "c"),
        ("e", "a", "b", "c", "d"),
    ]
    assert [place.title for place in searcher.search_places(*QUERY, 2)] == ["title of e", "title of a"]


def test_a_batch_equals_single_searches_on_any_number_of_threads(tmp_path):
    rng = np.random.default_rng(0)
    batches = [{f"d{b}-{n}": {int(t): float(1 + t) for t in rng.choice(9, 3)} for n in range(40)} for b in range(3)]
    live = live_of(tmp_path / "live", batches, 9)
    with open_writer(live) as writer:
        writer.delete([f"d{b}-{n}" for b in range(3) for n in range(0, 40, 3)])
    searcher = LiveSearcher(open_live(live))
    everyone = searcher.search(np.arange(9, dtype=np.int32), np.ones(9, np.float32), 200).doc_ids
    assert sorted(everyone) == sorted(f"d{b}-{n}" for b in range(3) for n in range(40) if n % 3)
    rows = [{int(t): float(rng.integers(1, 4)) for t in rng.choice(9, 3, replace=False)} for _ in range(20)]
    queries = sparse_matrix(rows, 9)
    expected = [searcher.search(*queries.row(n), 7, queries.row_ids[n]) for n in range(20)]
    assert searcher.search_batch(queries, 7) == searcher.search_batch(queries, 7, threads=4) == expected
    with pytest.raises(VocabularyMismatchError, match="the queries"):
        searcher.search_batch(sparse_matrix(rows, 10), 7)


def test_a_plain_index_is_one_segment(tmp_path):
    index = index_of(sparse_matrix([{0: 1.0}, {1: 3.0}, {0: 2.0, 1: 1.0}], 2), tmp_path / "i")
    assert LiveSearcher(LiveIndex.of_index(index)).search(*QUERY, 2) == Searcher(index).search(*QUERY, 2)


def test_nothing_living_and_no_k(tmp_path):
    live = live_of(tmp_path / "live", [{"a": {0: 1.0}}], 2)
    with open_writer(live) as writer:
        writer.delete(["a"])
    searcher = LiveSearcher(open_live(live))
    assert searcher.search(*QUERY, 3).doc_ids == ()
    with pytest.raises(SettingError, match="k = 0 is not allowed"):
        searcher.search(*QUERY, 0)

import numpy as np
import pytest

from lexigraft.core.errors import ArtifactError, InputError, SettingError, VocabularyMismatchError
from lexigraft.index.live.opening import open_writer
from lexigraft.index.live.reader import LiveIndex, open_live
from lexigraft.search.live import LiveSearcher
from lexigraft.search.searcher import Searcher
from tests.conftest import index_of, sparse_matrix
from tests.live import live_of, vectors_of

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


def test_a_candidate_without_a_full_vector(tmp_path):
    """The first store is in the order of the first segment, and knows nothing of what was added later."""
    batches = [{"a": {0: 1.0}, "b": {1: 1.0}}, {"c": {0: 5.0}}]
    live = open_live(live_of(tmp_path / "live", batches, 2))
    stores = [vectors_of(batch, 2) for batch in batches]
    assert LiveSearcher(live, two_step=3, vectors=stores).search(*QUERY, 3).doc_ids == ("c", "b", "a")
    with pytest.raises(ArtifactError, match=r"no full vector of 'c'.*vectors=PATH"):
        LiveSearcher(live, two_step=3, vectors=stores[:1]).search(*QUERY, 3)
    first = LiveIndex.of_index(live.segments[0].index)
    with pytest.raises(ArtifactError, match=r"no full vector of 'c'.*of the same documents"):
        LiveSearcher(live, two_step=3, full=first).search(*QUERY, 3)
    assert LiveSearcher(first, two_step=3, vectors=stores[:1]).search(*QUERY, 3).doc_ids == ("b", "a")
    with pytest.raises(ArtifactError, match="no full vector of 'b'"):  # as many rows, of others
        LiveSearcher(first, two_step=3, vectors=[vectors_of({"x": {0: 1.0}, "y": {1: 1.0}}, 2)]).search(*QUERY, 3)


def test_what_is_refused(tmp_path):
    live = open_live(live_of(tmp_path / "live", [{"a": {0: 1.0}}, {"b": {1: 1.0}}], 2))
    some = np.ones(1, np.uint8)
    with pytest.raises(InputError, match="1 masks of what may be found, for 2 segments"):
        LiveSearcher(live).search_places(*QUERY, 1, [some])
    with pytest.raises(InputError, match="2 flags of what may be found, for 1 documents"):
        LiveSearcher(live).search_places(*QUERY, 1, [some, np.ones(2, np.uint8)])
    with pytest.raises(SettingError, match="k = 3 results cannot come from 2 candidates"):
        LiveSearcher(live, two_step=2).search(*QUERY, 3)
    with pytest.raises(SettingError, match="two_step = -1 is not allowed"):
        LiveSearcher(live, two_step=-1)
    with pytest.raises(SettingError, match="qk = -1 is not allowed"):
        LiveSearcher(live, qk=-1)
    with pytest.raises(SettingError, match=r"overlap = 1.5 is not allowed"):
        LiveSearcher(live, overlap=1.5)
    with pytest.raises(InputError, match="a query of 2 terms has 1 weights"):
        LiveSearcher(live, two_step=2, qk=1).search(QUERY[0], QUERY[1][:1], 1)
    with pytest.raises(InputError, match="outside the index's vocabulary of 2 terms"):
        LiveSearcher(live, two_step=2).search(np.array([2**32]), np.ones(1, np.float32), 1)
    with pytest.raises(VocabularyMismatchError, match="the vectors"):
        LiveSearcher(live, two_step=2, vectors=[vectors_of({"a": {0: 1.0}}, 3)])


def test_the_heaviest_terms_alone_may_be_searched(tmp_path):
    live = open_live(live_of(tmp_path / "live", [{"a": {0: 1.0}}, {"b": {1: 1.0}}], 2))
    assert LiveSearcher(live, qk=1).search(*QUERY, 2).doc_ids == ("b",)


def test_what_only_deleted_documents_hold_is_not_asked_for(tmp_path):
    """A share of the query's terms is a share of those that some living document of any segment holds."""
    live = live_of(tmp_path / "live", [{"a": {0: 1.0}, "c": {2: 1.0}}, {"b": {0: 1.0, 1: 1.0}}], 3)
    query = np.arange(3, dtype=np.int32), np.ones(3, np.float32)
    assert LiveSearcher(open_live(live), overlap=1.0).search(*query, 3).doc_ids == ()
    with open_writer(live) as writer:
        writer.delete(["c"])
    assert LiveSearcher(open_live(live), overlap=1.0).search(*query, 3).doc_ids == ("b",)

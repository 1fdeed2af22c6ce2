import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lexigraft.core.errors import InputError, SettingError, VocabularyMismatchError
from lexigraft.core.settings import IndexSettings
from lexigraft.search import searcher as searcher_module
from lexigraft.search.counters import COUNTERS
from lexigraft.search.overlap import OverlapSearcher
from lexigraft.search.searcher import METHODS, Searcher
from lexigraft.search.sweep import GROUP, STRIDE
from lexigraft.search.topk import buffer_size, make_key
from tests.conftest import index_of, sparse_matrix


@pytest.fixture
def index(tmp_path):
    rows = [{0: 255.0}, {0: 255.0, 1: 10.0}, {1: 30.0}, {}]
    return index_of(sparse_matrix(rows, 3, ["b", "c", "a", "e"]), tmp_path / "i")


def vector(terms):
    return np.array(list(terms), np.int32), np.array(list(terms.values()), np.float32)


@pytest.mark.parametrize("method", METHODS)
def test_by_score_then_id(index, method):
    found = Searcher(index, method).search(*vector({0: 1, 1: 2}), k=10, query_id="q")
    assert (found.query_id, found.doc_ids) == ("q", ("c", "b", "a"))
    assert found.scores == (275.0, 255.0, 60.0)
    assert Searcher(index, method).search(*vector({0: 1}), k=1).doc_ids == ("b",)  # ties with c


@pytest.mark.parametrize("method", METHODS)
def test_nothing_matches(index, method):
    assert Searcher(index, method).search(*vector({2: 1}), k=10).doc_ids == ()
    assert Searcher(index, method).search(*vector({}), k=10).doc_ids == ()
    assert Searcher(index, method).search(*vector({0: 0}), k=10).doc_ids == ()


def test_scores_are_in_the_units_of_the_weights(tmp_path):
    index = index_of(sparse_matrix([{0: 0.51}], 1), tmp_path / "i")
    assert Searcher(index).search(*vector({0: 0.5}), k=1).scores[0] == pytest.approx(0.255)


def test_threads_give_the_same(index):
    queries = sparse_matrix([{0: 1.0}, {1: 2.0}, {}] * 20, 3, [f"q{number}" for number in range(60)])
    searcher = Searcher(index)
    assert searcher.search_batch(queries, 3, threads=4) == searcher.search_batch(queries, 3)


def test_threads_share_no_memory(index):
    searcher, barrier = Searcher(index), threading.Barrier(2)

    def memory(k):
        barrier.wait()
        found = searcher._memory(k)
        barrier.wait()  # both threads live until both have theirs
        return found

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(memory, (3, 3))
    assert not any(np.shares_memory(here, there) for here in first for there in second)


def test_a_search_that_fails_leaves_nothing_to_the_next(index, monkeypatch):
    """Where memory runs out in the middle of adding up, accumulators are not 0."""

    def fail(*_):
        for array in searcher._memory(3)[1:]:
            array[:] = 7
        raise MemoryError

    searcher, query = Searcher(index), vector({0: 1, 1: 2})
    expected = searcher.search(*query, k=3)
    with monkeypatch.context() as patched, pytest.raises(MemoryError):
        patched.setattr(searcher_module, "answer", fail)
        searcher.search(*query, k=3)
    assert searcher.search(*query, k=3) == expected


@pytest.mark.parametrize("number", [2**32, -(2**32), 2**31])
def test_term_ids_are_not_wrapped(index, number):
    wide = np.array([number], np.int64), np.ones(1, np.float32)
    for searcher in (Searcher(index), OverlapSearcher(Searcher(index), 0.5)):
        with pytest.raises(InputError, match="outside the index's vocabulary of 3 terms"):
            searcher.search(*wide, k=1)
    with pytest.raises(InputError, match="of type float64; whole numbers are allowed"):
        Searcher(index).search(np.array([0.5]), np.ones(1, np.float32), k=1)
    assert Searcher(index).search(np.array([0], np.int64), np.ones(1, np.float32), k=1).doc_ids == ("b",)


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_index_checks_its_queries_too(tmp_path, method):
    searcher = Searcher(index_of(sparse_matrix([], 3), tmp_path / "i"), method)
    assert searcher.search(*vector({0: 1}), k=1).doc_ids == ()
    with pytest.raises(InputError, match="outside the index's vocabulary"):
        searcher.search(*vector({3: 1}), k=1)
    with pytest.raises(InputError, match="finite and not negative"):
        searcher.search(*vector({0: -1}), k=1)


def test_bad_queries(index):
    searcher = Searcher(index)
    with pytest.raises(InputError, match="outside the index's vocabulary of 3 terms"):
        searcher.search(*vector({3: 1}), k=1)
    with pytest.raises(InputError, match="names a term twice"):
        searcher.search(np.array([1, 1], np.int32), np.ones(2, np.float32), k=1)
    with pytest.raises(SettingError, match="1 or more"):
        searcher.search(*vector({0: 1}), k=0)
    with pytest.raises(SettingError, match="one of auto, exhaustive, maxscore"):
        Searcher(index, "magic")
    with pytest.raises(SettingError, match=r"threads = -1 is not allowed: 0 \(one for each core\) or more"):
        searcher.search_batch(sparse_matrix([{0: 1.0}], 3), 1, threads=-1)
    with pytest.raises(VocabularyMismatchError, match="different vocabularies"):
        searcher.search_batch(sparse_matrix([{0: 1.0}], 2), 1)


def test_exhaustive_counts_every_posting_once(tmp_path):
    rows = [{0: 1.0, 1: 2.0}] * 40 + [{1: 3.0}] * 60 + [{}] * 30  # list 1 is dense: its row has 192 places
    index = index_of(sparse_matrix(rows, 2), tmp_path / "i")
    counts = Searcher(index, "exhaustive").count(sparse_matrix([{0: 1.0, 1: 1.0}], 2, ["q"]), 5)
    assert (counts["NEXT"], counts["SCORE"], counts["DOCUMENTS"]) == (140, 140, 100)


@pytest.mark.parametrize("bits", [8, 16])
def test_counters_say_what_a_search_of_everything_reads(tmp_path, bits):
    rows = [{0: 1.0, 1: 2.0}, {1: 3.0}, {2: 1.0}]
    index = index_of(sparse_matrix(rows, 3), tmp_path / "i", settings=IndexSettings(bits=bits))
    counts = Searcher(index, "exhaustive").count(sparse_matrix([{0: 1.0, 1: 1.0}], 3), k=3)
    assert (counts["NEXT"], counts["SCORE"], counts["DOCUMENTS"]) == (3, 3, 2)


def accepted(scores, places, k):
    """The obvious twin of a buffer that is cut to the best k whenever it is full: how many keys it took."""
    kept, worst, n = [], 0, 0
    for place in places:
        key = int(make_key(scores[place], place))
        if key > worst:
            kept.append(key)
            n += 1
            if len(kept) == buffer_size(k):
                kept = sorted(kept)[-k:]
                worst = kept[0]
    return n


@pytest.mark.parametrize("method", ["touched", "sweep"])
def test_inserts_are_the_keys_that_were_accepted(tmp_path, method):
    n, k = GROUP, 40  # one group, and too many wanted for a threshold from its maxima
    scores = np.random.default_rng(0).integers(1, 256, n).tolist()
    scores[0] = 255  # impacts are the weights
    rows = [{0: float(score)} for score in scores]
    index = index_of(sparse_matrix(rows, 1, [f"d{number:04d}" for number in range(n)]), tmp_path / "i")
    counts, everything = np.zeros(len(COUNTERS), np.int64), np.ones(n, np.uint8)
    Searcher(index, method).search_ordinals(*vector({0: 1}), k, everything, counts)
    by_lane = [place for lane in range(STRIDE) for place in range(lane, n, STRIDE)]
    expected = accepted(scores, by_lane if method == "sweep" else range(n), k)
    assert buffer_size(k) < expected < n
    assert counts[COUNTERS.index("INSERT")] == expected


@pytest.mark.parametrize("method", METHODS)
def test_the_ends_of_a_range(ends_of_a_range, method):
    searcher = Searcher(ends_of_a_range, method)
    assert searcher.search(*vector({0: 1}), k=5).doc_ids == ("d65536", "d65535", "d0")
    found = searcher.search(*vector({0: 1, 1: 1}), k=70)
    assert found.doc_ids[:3] == ("d65536", "d65535", "d0")
    assert found.scores[:4] == (256.0, 101.0, 51.0, 1.0)
    assert len(found.doc_ids) == 70
    assert searcher.search(*vector({2: 1}), k=2).doc_ids == ("d65536",)


@pytest.fixture(scope="module")
def ends_of_a_range(tmp_path_factory):
    """65,537 documents: the last one is alone in a range. Term 0 has the ends of both, 1 is everywhere."""
    rows = [{1: 1.0} for _ in range(65537)]
    for place, weight in ((0, 50.0), (65535, 100.0), (65536, 255.0)):
        rows[place][0] = weight
    rows[65536][2] = 7.0
    return index_of(sparse_matrix(rows, 3), tmp_path_factory.mktemp("ends") / "i")

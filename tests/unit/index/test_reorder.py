import numpy as np
import pytest

from lexigraft.core.errors import InputError, SettingError
from lexigraft.index import reorder as module
from lexigraft.index.reorder import ReorderSettings, log_gap, reorder


def csr(rows):
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return indptr, np.array([term for row in rows for term in sorted(row)], np.int32)


def topical_rows(n_documents=600, n_topics=7, seed=0):
    """Documents in random order, each with six terms of a topic and two of all."""
    rng = np.random.default_rng(seed)
    rows = []
    for topic in rng.integers(0, n_topics, n_documents):
        rows.append({*(40 * topic + rng.choice(40, 6, replace=False)).tolist(), *rng.integers(280, 300, 2).tolist()})
    return *csr(rows), 300


class Counting:
    def track(self, items, label, total=None):
        self.total, self.n_items, self.label = total, 0, label
        for item in items:
            self.n_items += 1
            yield item


def test_neighbours_have_common_terms():
    rows = topical_rows()
    order = reorder(*rows)
    assert order.dtype == np.int32
    before = log_gap(*rows, np.arange(600, dtype=np.int32))
    assert log_gap(*rows, order) < 0.75 * before
    topics = np.array([rows[1][rows[0][row]] // 40 for row in order])
    assert np.count_nonzero(np.diff(topics)) < 60  # of 599; a random order has about 510


@pytest.mark.parametrize("rows", [[], [{3}], [{}, {}, {}], [{0, 1}] * 40, [{number % 9} for number in range(3)]])
def test_where_nothing_can_be_gained_the_order_stays(rows):
    order = reorder(*csr(rows), 9, ReorderSettings(leaf=1))
    assert order.tolist() == list(range(len(rows)))


def test_no_vocabulary():
    assert reorder(np.zeros(5, np.int64), np.zeros(0, np.int32), 0).tolist() == [0, 1, 2, 3]
    assert log_gap(np.zeros(5, np.int64), np.zeros(0, np.int32), 0, np.arange(4, dtype=np.int32)) == 0


def test_rows_without_terms_among_others():
    rows = [{number % 2} if number % 3 else {} for number in range(60)]
    order = reorder(*csr(rows), 2, ReorderSettings(leaf=1))
    assert sorted(order.tolist()) == list(range(60))
    assert log_gap(*csr(rows), 2, order) < log_gap(*csr(rows), 2, np.arange(60, dtype=np.int32))


def test_a_good_order_is_kept():
    rows = [{number // 50, 4} for number in range(200)]
    assert reorder(*csr(rows), 5, ReorderSettings(leaf=1)).tolist() == list(range(200))


def test_documents_of_a_leaf_stand_as_they_came():
    order = reorder(*topical_rows(512), ReorderSettings(leaf=16))
    assert order.tolist() != list(range(512))
    assert (np.diff(order.reshape(-1, 16), axis=1) > 0).all()


def test_what_bisection_makes_worse_is_not_taken(monkeypatch):
    def spoil(order, *_):
        order[:] = np.random.default_rng(0).permutation(len(order))

    monkeypatch.setattr(module, "_bisect", spoil)
    rows = [{number // 50, 4} for number in range(200)]
    assert reorder(*csr(rows), 5).tolist() == list(range(200))


@pytest.mark.parametrize("task_documents", [16, 100, 4096])
def test_any_number_of_threads_gives_the_same_bytes(monkeypatch, task_documents):
    monkeypatch.setattr(module, "TASK_DOCUMENTS", task_documents)
    rows = topical_rows()
    orders = [reorder(*rows, threads=threads).tobytes() for threads in (1, 1, 2, 5)]
    assert len(set(orders)) == 1
    assert sorted(np.frombuffer(orders[0], np.int32).tolist()) == list(range(600))


@pytest.mark.parametrize(("task_documents", "leaf"), [(16, 4), (100, 16), (4096, 16), (16, 300), (16, 5000)])
def test_progress_ends_at_its_total(monkeypatch, task_documents, leaf):
    monkeypatch.setattr(module, "TASK_DOCUMENTS", task_documents)
    progress = Counting()
    reorder(*topical_rows(), ReorderSettings(leaf=leaf), progress=progress)
    assert progress.n_items == progress.total > 0
    assert progress.label == "reordering"


def test_the_input_is_only_read(tmp_path):
    indptr, term_ids, n_terms = topical_rows()
    np.save(tmp_path / "terms.npy", term_ids)
    mapped = np.load(tmp_path / "terms.npy", mmap_mode="r")
    indptr.flags.writeable = False
    assert np.array_equal(reorder(indptr, mapped, n_terms), reorder(indptr, term_ids, n_terms))
    assert np.array_equal(mapped, term_ids)


def test_frequent_terms_can_be_left_out():
    rows = [{number % 2, 2 + number // 10} for number in range(40)]  # 0 and 1 are in half of the documents each
    by_all, by_rare = (
        reorder(*csr(rows), 6, ReorderSettings(leaf=1, max_share=share)).tolist() for share in (1.0, 0.3)
    )
    assert by_rare == list(range(40)) != by_all


def test_log_gap_by_hand():
    rows = [{0}, {0, 1}, {}, {0}, {1}]  # gaps of 0: 1 1 2; of 1: 2 3
    assert log_gap(*csr(rows), 2, np.arange(5, dtype=np.int32)) == pytest.approx((1 + 1 + np.log2(3)) / 5)
    assert log_gap(*csr(rows), 2, np.array([0, 1, 3, 4, 2], np.int32)) == pytest.approx((1 + 1) / 5)


@pytest.mark.parametrize("term_ids", [[0, 1, 1], [0, 2, 1], [0, 1, 7], [0, -1, 2]])
def test_wrong_rows(term_ids):
    with pytest.raises(InputError, match=r"row 1 has the term ids .* 0 \.\. 4; sort"):
        reorder(np.array([0, 1, 3]), np.array(term_ids, np.int32), 5)


@pytest.mark.parametrize("indptr", [[], [1, 3], [0, 2], [0, 3, 2, 3]])
def test_wrong_pointers(indptr):
    with pytest.raises(InputError, match="row pointers must rise from 0 to the number of entries, 3"):
        reorder(np.array(indptr, np.int64), np.array([0, 1, 2], np.int32), 5)


@pytest.mark.parametrize(
    ("name", "value"), [("leaf", 0), ("rounds", 0), ("settled", -0.1), ("max_share", 0.0), ("max_share", 1.5)]
)
def test_wrong_settings(name, value):
    with pytest.raises(SettingError, match=f"reorder.{name} = {value} is not allowed"):
        ReorderSettings(**{name: value})


def test_wrong_threads():
    with pytest.raises(SettingError, match="threads = 0"):
        reorder(np.zeros(1, np.int64), np.zeros(0, np.int32), 1, threads=0)

import time

import numpy as np

from lexigraft.core.settings import SearchSettings
from lexigraft.core.types import Ranking, SparseMatrix
from lexigraft.stages.evaluate import JudgedQueries, time_from_text


class SlowEncoder:
    """Takes two milliseconds and gives three terms."""

    def encode(self, text):
        time.sleep(0.002)
        return np.array([1, 4, 7], np.int32), np.array([1.0, 3.0, 2.0], np.float32)


class SlowSearcher:
    """Takes three milliseconds, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def search(self, term_ids, weights, k, query_id=""):
        time.sleep(0.003)
        self.asked.append((term_ids.tolist(), weights.tolist(), k))
        return Ranking(query_id, (), ())


def queries():
    none = SparseMatrix([], np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), 8, "")
    return JudgedQueries({}, none, 0.0, SlowEncoder(), ["one", "two"])


def test_from_text_to_ids_is_encoding_and_searching_in_one_call():
    searcher = SlowSearcher()
    found = time_from_text(queries(), searcher, 2, SearchSettings(), 3)
    assert found.p50 >= 5
    assert found.mean >= 5
    assert searcher.asked == [([4, 7], [3.0, 2.0], 10)] * (1 + 2 + 6)  # three passes are measured, of two texts


def test_a_second_pass_gets_the_whole_query():
    searcher = SlowSearcher()
    time_from_text(queries(), searcher, 2, SearchSettings(two_step=1000), 1)
    assert searcher.asked[0][0] == [1, 4, 7]

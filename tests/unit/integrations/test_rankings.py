"""Rankings for programs that sort by score again."""

import numpy as np

from lexigraft.integrations.rankings import among, falling


def test_equal_scores_keep_their_order_in_single_precision():
    ranked = [("b", 2.0), ("c", 1.0), ("a", 1.0), ("z", 1.0), ("y", 1.0 - 1e-12), ("x", 0.0), ("w", 0.0)]
    scores = falling(ranked)
    again = sorted(scores, key=lambda doc_id: np.float32(scores[doc_id]), reverse=True)
    assert again == [doc_id for doc_id, _ in ranked] == list(scores)
    assert len({np.float32(score) for score in scores.values()}) == len(ranked)
    assert all(abs(scores[doc_id] - score) < 1e-6 for doc_id, score in ranked)


def test_scores_that_fall_stay_what_they_are():
    assert falling([("a", 3.0), ("b", 0.5)]) == {"a": 3.0, "b": 0.5} and falling([]) == {}


def test_candidates_that_were_not_found_come_last():
    found = among([("a", 3.0), ("b", 2.0), ("c", 1.0)], ["z", "c", "a", "y"])
    assert list(found) == [("a", 3.0), ("c", 1.0), ("y", 0.0), ("z", 0.0)]

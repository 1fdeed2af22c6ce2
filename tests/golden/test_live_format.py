"""Live indexes stored by earlier versions still open and answer the same.

A new format version adds a folder here; `python -m tests.golden.test_live_format DIR` writes one of each.
"""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from lexigraft.index.live.queries import open_live_encoder
from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import FORMAT_VERSION
from lexigraft.search.live import LiveSearcher

STORED = sorted(Path(__file__).parent.glob("live_v*"))


def test_a_sample_of_the_current_format_is_stored():
    assert [folder.name for folder in STORED][-1] == f"live_v{FORMAT_VERSION}"


def test_stored_live_index():
    live = open_live(STORED[0])
    assert (live.n_documents, live.generation, dict(live.query_encoder)) == (3, 3, {"kind": "none"})
    found = LiveSearcher(live).search(np.array([0, 1], np.int32), np.array([1, 2], np.float32), 10)
    assert found.doc_ids == ("bee", "ant", "zebra")  # 3 + 2 * 5; 2 * 2 and 4, a tie by id across segments
    assert found.scores == pytest.approx((13.0, 4.0, 4.0))


def test_stored_live_index_of_bm25():
    live = open_live(STORED[1])
    assert (live.n_documents, live.generation, live.query_encoder["kind"]) == (3, 3, "bm25 live")
    assert list(live.vocabulary.terms) == ["red", "fox", "gone", "zebra"]
    terms, weights = open_live_encoder(live, STORED[1]).encode("fox gone zebra")
    assert terms.tolist() == [1, 3]  # only a deleted document holds "gone"
    # Two and one of three documents hold them.
    assert weights.tolist() == pytest.approx([math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)])
    found = LiveSearcher(live).search(terms, weights, 10)
    assert found.doc_ids == ("bee", "ant")
    # Of 2, 3 and 1 words when it began: 2 on average. A word of two has tf / (tf + 1.2), one of three tf / (tf + 1.65).
    ant, bee = 1 / 2.2 * weights[0], 1 / 2.65 * weights[0] + 1 / 2.65 * weights[1]
    assert found.scores == pytest.approx((bee, ant), rel=0.005)


def write_sample(folder: Path) -> None:
    from lexigraft.index.live.opening import open_writer
    from tests.live import live_of

    # The largest weight, 255, is on a term of its own: impacts equal weights.
    first = {"zebra": {0: 4.0}, "gone": {0: 9.0, 2: 255.0}}
    live_of(folder, [first, {"ant": {1: 2.0, 2: 255.0}, "bee": {0: 3.0, 1: 5.0}}], 3)
    with open_writer(folder) as writer:
        writer.delete(["gone"])
    (folder / ".lock").unlink()


def write_bm25_sample(folder: Path) -> None:
    from lexigraft.index.live.opening import open_writer
    from tests.live_bm25 import live_bm25_of

    first = {"ant": "red fox", "gone": "fox gone fox", "cat": "red"}
    live_bm25_of(folder, [first, {"bee": "zebra fox red"}])
    with open_writer(folder) as writer:
        writer.delete(["gone"])
    (folder / ".lock").unlink()


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]) / "live_v1")
    write_bm25_sample(Path(sys.argv[1]) / "live_v2")

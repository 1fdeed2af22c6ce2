"""Live indexes stored by earlier versions still open and answer the same.

A new format version adds a folder here; `python -m tests.golden.test_live_format DIR` writes one.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import FORMAT_VERSION
from lexigraft.search.live import LiveSearcher

STORED = sorted(Path(__file__).parent.glob("live_v*"))


def test_a_sample_of_the_current_format_is_stored():
    assert [folder.name for folder in STORED][-1] == f"live_v{FORMAT_VERSION}"


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.name)
def test_stored_live_index(folder):
    live = open_live(folder)
    assert (live.n_documents, live.generation, dict(live.query_encoder)) == (3, 3, {"kind": "none"})
    found = LiveSearcher(live).search(np.array([0, 1], np.int32), np.array([1, 2], np.float32), 10)
    assert found.doc_ids == ("bee", "ant", "zebra")  # 3 + 2 * 5; 2 * 2 and 4, a tie by id across segments
    assert found.scores == pytest.approx((13.0, 4.0, 4.0))


def write_sample(folder: Path) -> None:
    from lexigraft.index.live.writer import open_writer
    from tests.live import live_of

    # The largest weight, 255, is on a term of its own: impacts equal weights.
    first = {"zebra": {0: 4.0}, "gone": {0: 9.0, 2: 255.0}}
    live_of(folder, [first, {"ant": {1: 2.0, 2: 255.0}, "bee": {0: 3.0, 1: 5.0}}], 3)
    with open_writer(folder) as writer:
        writer.delete(["gone"])
    (folder / ".lock").unlink()


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))

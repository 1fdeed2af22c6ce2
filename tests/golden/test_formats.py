"""Indexes stored by earlier versions still open and answer the same.

A new format version adds a folder here; `python -m tests.golden.test_formats DIR` writes one.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from lexigraft.index.store import open_index
from lexigraft.search.searcher import METHODS, Searcher

STORED = sorted(Path(__file__).parent.glob("index_v*"))


def test_a_sample_of_the_current_format_is_stored():
    from lexigraft.index.store import FORMAT_VERSION

    assert [folder.name for folder in STORED][-1] == f"index_v{FORMAT_VERSION}"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.name)
def test_stored_index(folder, method):
    index = open_index(folder)
    assert list(index.doc_ids) == ["zebra", "ant", "bee"]
    assert list(index.vocabulary.terms) == ["t0", "t1", "t2"]
    found = Searcher(index, method).search(np.array([0, 1], np.int32), np.array([1, 2], np.float32), 10)
    assert found.doc_ids == ("bee", "ant", "zebra")  # 3 + 2 * 5; 2 * 2 and 4, a tie by id
    assert found.scores == pytest.approx((13.0, 4.0, 4.0))


def write_sample(folder: Path) -> None:
    from tests.conftest import index_of, sparse_matrix

    # The largest weight, 255, is on a term of its own: impacts equal weights.
    index_of(sparse_matrix([{0: 4.0}, {1: 2.0, 2: 255.0}, {0: 3.0, 1: 5.0}], 3, ["zebra", "ant", "bee"]), folder)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))

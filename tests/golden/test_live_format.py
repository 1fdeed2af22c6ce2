"""Live indexes stored by earlier versions still open and answer the same.

A new format version adds a folder here; `python -m tests.golden.test_live_format DIR` writes one of the current one.
"""

import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexigraft.index.live.queries import open_live_encoder
from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import FORMAT_VERSION, read_state
from lexigraft.search.live import LiveSearcher
from tests.live import given_metadata, shown_metadata

STORED = sorted(Path(__file__).parent.glob("live_v*"))


def test_a_sample_of_the_current_format_is_stored():
    assert [folder.name for folder in STORED][-1] == f"live_v{FORMAT_VERSION}"


def test_stored_live_index():
    live = open_live(STORED[0])
    assert (live.n_documents, live.generation, dict(live.query_encoder)) == (3, 3, {"kind": "none"})
    found = LiveSearcher(live).search(np.array([0, 1], np.int32), np.array([1, 2], np.float32), 10)
    assert found.doc_ids == ("bee", "ant", "zebra")  # 3 + 2 * 5; 2 * 2 and 4, a tie by id across segments
    assert found.scores == pytest.approx((13.0, 4.0, 4.0))


@pytest.mark.parametrize("stored", STORED[1:], ids=lambda folder: folder.name)
def test_stored_live_index_of_bm25(stored):
    live = open_live(stored)
    assert (live.n_documents, live.query_encoder["kind"]) == (3, "bm25 live")
    assert list(live.vocabulary.terms) == ["red", "fox", "gone", "zebra"]
    terms, weights = open_live_encoder(live, stored).encode("fox gone zebra")
    assert terms.tolist() == [1, 3]  # only a deleted document holds "gone"
    # Two and one of three documents hold them.
    assert weights.tolist() == pytest.approx([math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)])
    found = LiveSearcher(live).search(terms, weights, 10)
    assert found.doc_ids == ("bee", "ant")
    # Of 2, 3 and 1 words when it began: 2 on average. A word of two has tf / (tf + 1.2), one of three tf / (tf + 1.65).
    ant, bee = 1 / 2.2 * weights[0], 1 / 2.65 * weights[0] + 1 / 2.65 * weights[1]
    assert found.scores == pytest.approx((bee, ant), rel=0.005)
    known = {} if stored.name == "live_v2" else RECORDS
    assert shown_metadata(live) == known


def test_stored_grafted_live_index():
    folder = STORED[-1].with_name(f"grafted_{STORED[-1].name}")
    graft, live = read_state(folder).graft, open_live(folder)
    assert (graft.borrowed, graft.told, graft.neighbours, graft.width, graft.encoder) == (0.5, 0.25, 1, 2, "given")
    terms, weights = open_live_encoder(live, folder).encode("den")
    assert weights.tolist() == pytest.approx([math.log(1 + 2.5 / 1.5)])  # one of three documents says it, two have it
    found = LiveSearcher(live).search(terms, weights, 10)
    assert found.doc_ids == ("bee", "ant", "cat")
    # All have two words, as they have on average, so a word has 1 / 2.2. Half of that is lent to the others, which have
    # the bee as their nearest.
    own = 1 / 2.2 * weights[0]
    assert found.scores == pytest.approx((own, own / 2, own / 2), rel=0.005)


RECORDS = {
    "ant": {"year": 2020, "seen": "2024-03-01T10:00:00+00:00", "tags": ("a", "b"), "mixed": "3"},
    "bee": {"year": 1999.5, "seen": "2024-03-01", "mixed": "x"},
}


def write_bm25_sample(folder: Path) -> None:
    from lexigraft.index.live.opening import open_writer
    from tests.live_bm25 import live_bm25_of

    first = {"ant": "red fox", "gone": "fox gone fox", "cat": "red"}
    live_bm25_of(folder, [first, {"bee": "zebra fox red"}])
    with open_writer(folder) as writer:
        writer.delete(["gone"])
        writer.set_metadata(given_metadata(RECORDS)())
    (folder / ".lock").unlink()


def write_grafted_sample(folder: Path) -> None:
    from tests.live_grafted import FACTS, grafted_live

    texts = {"ant": "red fox", "bee": "fox den", "cat": "grey stone"}
    vectors = {"ant": np.array([1, 0]), "bee": np.array([1, 0.1]), "cat": np.array([0, 1])}
    grafted_live(folder, texts, vectors, replace(FACTS, borrowed=0.5, told=0.25, neighbours=1))
    (folder / ".lock").unlink()


if __name__ == "__main__":
    write_bm25_sample(Path(sys.argv[1]) / f"live_v{FORMAT_VERSION}")
    write_grafted_sample(Path(sys.argv[1]) / f"grafted_live_v{FORMAT_VERSION}")

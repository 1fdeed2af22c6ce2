"""Indexes stored by earlier versions still open and answer the same.

A new format version adds folders here; `python -m tests.golden.test_formats DIR` writes them.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from lexigraft.core.settings import IndexSettings
from lexigraft.index.codec import DENSE, GAPS, NONE, WIDE
from lexigraft.index.store import FORMAT_VERSION, open_index
from lexigraft.search.searcher import METHODS, Searcher

STORED = sorted(Path(__file__).parent.glob("index_v*"))
FIRST = [folder for folder in STORED if "forms" not in folder.name]
FORMS = {8: "index_v2_forms", 16: "index_v2_forms_16_bits"}
N_DOCUMENTS, RANGE_SIZE = 700, 600


def test_a_sample_of_every_format_is_stored():
    assert [folder.name for folder in STORED] == ["index_v1", "index_v2", *FORMS.values()]
    assert FIRST[-1].name == f"index_v{FORMAT_VERSION}"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("folder", FIRST, ids=lambda folder: folder.name)
def test_stored_index(folder, method):
    index = open_index(folder)
    assert list(index.doc_ids) == ["zebra", "ant", "bee"]
    assert list(index.vocabulary.terms) == ["t0", "t1", "t2"]
    arrays = (index.entries, index.stream, index.range_starts, index.lengths, index.list_max, index.tie_rank)
    assert not any(array.flags.writeable for array in arrays)  # kernels are compiled once for all formats
    found = Searcher(index, method).search(np.array([0, 1], np.int32), np.array([1, 2], np.float32), 10)
    assert found.doc_ids == ("bee", "ant", "zebra")  # 3 + 2 * 5; 2 * 2 and 4, a tie by id
    assert found.scores == pytest.approx((13.0, 4.0, 4.0))


def rows_of_forms():
    """Term 0 is dense, 1 has short gaps, 2 a few documents far apart; 3 makes weights impacts."""
    rows = [{0: 1.0 + number % 5} for number in range(N_DOCUMENTS)]
    for number in range(0, N_DOCUMENTS, 10):
        rows[number][1] = 1.0 + number % 7
    for number in (520, 599, 650):
        rows[number][2] = float(number % 100)
    rows[3][3] = 255.0
    return rows


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bits", FORMS)
def test_stored_forms(bits, method):
    index = open_index(Path(__file__).parent / FORMS[bits])
    assert index.meta.bits == bits and len(index.range_starts) == 3
    assert set(np.unique(index.entries & 3).tolist()) == ({NONE, WIDE, GAPS, DENSE} if bits == 8 else {NONE, WIDE})
    query = {0: 2.0, 1: 3.0, 2: 1.0}
    scores = [sum(weight * row.get(term, 0) for term, weight in query.items()) for row in rows_of_forms()]
    wanted = sorted((-score, f"d{number:03d}") for number, score in enumerate(scores))
    for k in (5, N_DOCUMENTS):
        found = Searcher(index, method).search(np.array([0, 1, 2], np.int32), np.array([2, 3, 1], np.float32), k)
        assert found.doc_ids == tuple(doc_id for _, doc_id in wanted[:k])
        assert found.scores == pytest.approx([-negative for negative, _ in wanted[:k]])


def write_sample(folder: Path) -> None:
    from tests.conftest import index_of, sparse_matrix

    # The largest weight, 255, is on a term of its own: impacts equal weights.
    index_of(sparse_matrix([{0: 4.0}, {1: 2.0, 2: 255.0}, {0: 3.0, 1: 5.0}], 3, ["zebra", "ant", "bee"]), folder)


def write_forms(folder: Path, bits: int) -> None:
    from tests.conftest import index_of, sparse_matrix

    matrix = sparse_matrix(rows_of_forms(), 4, [f"d{number:03d}" for number in range(N_DOCUMENTS)])
    index_of(matrix, folder, settings=IndexSettings(bits=bits), range_size=RANGE_SIZE)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]) / f"index_v{FORMAT_VERSION}")
    for bits, name in FORMS.items():
        write_forms(Path(sys.argv[1]) / name, bits)

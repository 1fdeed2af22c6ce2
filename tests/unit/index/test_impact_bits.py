from dataclasses import replace

import pytest

from lexigraft.core.errors import SettingError
from lexigraft.core.settings import IndexSettings
from lexigraft.index.build import build_index
from lexigraft.index.impact_bits import impact_bits
from lexigraft.index.live.agreement import with_8_bits
from lexigraft.vectors.store import DocumentVectors
from tests.conftest import sparse_matrix, vocabulary_of


@pytest.fixture
def vectors():
    matrix = sparse_matrix([{0: 1.0, 1: 2.0, 2: 0.5, 3: 4.0}, {1: 3.0}], 5)
    return DocumentVectors(matrix, ["a", "b"], vocabulary_of(5), {"kind": "none"}, "")


@pytest.mark.parametrize(
    ("kind", "cut", "keep", "bits"),
    [("model", 0, 0, 16), ("model", 0, 3, 8), ("model", 5, 0, 8), ("model", None, 0, 8), ("bm25", None, 0, 8)],
)
def test_whole_vectors_of_a_model_have_finer_impacts(kind, cut, keep, bits, vectors, tmp_path):
    n_terms = int(vectors.matrix.indptr[-1])
    encoding = {} if cut is None else {"terms_before": n_terms + cut}
    found = replace(vectors, query_encoder={"kind": kind}, encoding=encoding)
    assert impact_bits(IndexSettings(), found, keep) == bits
    assert build_index(found, tmp_path, keep).bits == bits
    assert impact_bits(IndexSettings(bits=24), found, keep) == 24


def test_a_live_index_has_8_bits():
    assert with_8_bits(None).bits == with_8_bits(IndexSettings(bits=8)).bits == 8
    with pytest.raises(SettingError, match="not of 16"):
        with_8_bits(IndexSettings(bits=16))

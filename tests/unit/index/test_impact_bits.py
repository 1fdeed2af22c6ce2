from dataclasses import replace

import pytest

from lexigraft.core.errors import SettingError
from lexigraft.core.settings import IndexSettings, Settings
from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from lexigraft.index.build import build_index
from lexigraft.index.impact_bits import impact_bits
from lexigraft.index.live.agreement import of_same_bits
from lexigraft.index.live.queries import open_live_encoder
from lexigraft.index.live.reader import LiveIndex, open_live
from lexigraft.index.store import open_index
from lexigraft.search.live import LiveSearcher
from lexigraft.stages.standalone import build
from lexigraft.vectors.store import DocumentVectors
from tests.conftest import sparse_matrix, vocabulary_of
from tests.live_bm25 import live_bm25_of


@pytest.fixture
def vectors():
    matrix = sparse_matrix([{0: 1.0, 1: 2.0, 2: 0.5, 3: 4.0}, {1: 3.0}], 5)
    return DocumentVectors(matrix, ["a", "b"], vocabulary_of(5), {"kind": "none"}, "")


@pytest.mark.parametrize(
    ("kind", "cut", "keep", "bits"),
    [
        *(("model", 0, 0, 16), ("model", 0, 3, 8), ("model", 5, 0, 8), ("model", None, 0, 8)),
        *(("bm25", None, 0, 16), ("bm25 live", None, 0, 16), ("bm25", None, 3, 8), ("none", None, 0, 8)),
    ],
)
def test_whole_vectors_have_finer_impacts(kind, cut, keep, bits, vectors, tmp_path):
    n_terms = int(vectors.matrix.indptr[-1])
    encoding = {} if cut is None else {"terms_before": n_terms + cut}
    found = replace(vectors, query_encoder={"kind": kind}, encoding=encoding)
    assert impact_bits(IndexSettings(), found, keep) == bits
    assert build_index(found, tmp_path, keep).bits == bits
    assert impact_bits(IndexSettings(bits=24), found, keep) == 24


def test_a_live_index_keeps_its_bits():
    assert of_same_bits(None, None, 16).bits == 16  # the first segment
    assert of_same_bits(IndexSettings(bits=8), None, 16).bits == 8
    assert of_same_bits(None, 8, 16).bits == of_same_bits(IndexSettings(bits=8), 8, 16).bits == 8
    with pytest.raises(SettingError, match=r"index\.bits = 16 does not fit .* have 8 bits"):
        of_same_bits(IndexSettings(bits=16), 8, 16)
    with pytest.raises(SettingError, match="8 or 16 bits, not of 24"):
        of_same_bits(IndexSettings(bits=24), None, 16)


@pytest.mark.parametrize("kind", ["plain", "live"])
def test_nearly_equal_documents_are_told_apart(kind, tmp_path):
    """One word in texts whose lengths differ by a hundredth: 8 bits make their scores equal, and ties go by id."""
    texts = {f"d{place:02}": "install " + "other " * (150 - place) for place in range(12)}
    path = tmp_path / kind
    if kind == "live":
        live_bm25_of(path, [texts])
    else:
        write_collection(tmp_path / "data", [Document(doc_id, "", text) for doc_id, text in texts.items()])
        build(str(tmp_path / "data"), path, Settings())
    index = open_live(path) if kind == "live" else LiveIndex.of_index(open_index(path))
    found = LiveSearcher(index).search(*open_live_encoder(index, path).encode("install"), 12)
    assert list(found.doc_ids) == sorted(texts, reverse=True)  # the shortest first

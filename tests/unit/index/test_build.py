import numpy as np
import pytest

from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.settings import IndexSettings
from lexigraft.index import build
from lexigraft.index.store import open_index
from tests.conftest import index_of, sparse_matrix


def test_postings_of_a_small_matrix(tmp_path):
    matrix = sparse_matrix([{0: 1.0, 2: 5.1}, {2: 2.55}, {}], 4, ["b", "c", "a"])
    found = index_of(matrix, tmp_path / "i")
    assert found.indptr.tolist() == [0, 1, 1, 3, 3]
    assert found.doc_ordinals.tolist() == [0, 0, 1]
    assert found.impacts.tolist() == [50, 255, 128]
    assert found.list_max.tolist() == [50, 0, 255, 0]
    assert found.tie_rank.tolist() == [1, 2, 0]
    assert [found.ordinals(doc_id) for doc_id in "abc"] == [[2], [0], [1]]
    assert list(found.titles) == ["title of b", "title of c", "title of a"]
    assert found.meta.scale == pytest.approx(5.1 / 255)


def test_unknown_document(tmp_path):
    found = index_of(sparse_matrix([{0: 1.0}], 1), tmp_path / "i")
    for doc_id in ("", "d", "d00", "z"):
        with pytest.raises(InputError, match="there is no document"):
            found.ordinals(doc_id)


def test_pruned_index_is_derived_from_the_same_vectors(tmp_path):
    matrix = sparse_matrix([{0: 1.0, 1: 3.0, 2: 2.0}, {0: 1.0}], 3)
    assert index_of(matrix, tmp_path / "i", keep=2).meta.n_postings == 3


def test_many_passes_give_the_same_bytes(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = [dict.fromkeys(rng.choice(50, 8, replace=False).tolist(), float(rng.random() + 0.1)) for _ in range(200)]
    index_of(sparse_matrix(rows, 50), tmp_path / "one")
    monkeypatch.setattr(build, "BYTES_PER_POSTING", 2**20 // 40)  # forty postings a pass
    index_of(sparse_matrix(rows, 50), tmp_path / "many", settings=IndexSettings(memory_mib=1))
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "many" / file.name).read_bytes()


@pytest.mark.parametrize("suffix", ["", "x" * 100])
def test_equal_ids_are_refused_and_named(tmp_path, suffix):
    ids = [f"a{suffix}", f"b{suffix}", f"a{suffix}"]
    with pytest.raises(InputError, match="appears twice, as documents 1 and 3"):
        index_of(sparse_matrix([{0: 1.0}] * 3, 1, ids), tmp_path / "i")


def test_long_ids_sort_like_short_ones(tmp_path):
    ids = ["b" * 100, "a", "c"]
    assert index_of(sparse_matrix([{0: 1.0}] * 3, 1, ids), tmp_path / "i").tie_rank.tolist() == [1, 0, 2]


@pytest.mark.parametrize(("row", "says"), [({9: 1.0}, "outside the vocabulary"), ({0: -1.0}, "greater than 0")])
def test_bad_vectors(tmp_path, row, says):
    with pytest.raises(InputError, match=says):
        index_of(sparse_matrix([row], 3), tmp_path / "i")


def test_a_cut_index_is_named(tmp_path):
    index_of(sparse_matrix([{0: 1.0}], 1), tmp_path / "i")
    (tmp_path / "i/impacts.npy").write_bytes((tmp_path / "i/impacts.npy").read_bytes()[:-1])
    with pytest.raises(ArtifactError, match=r"impacts\.npy has 128 bytes instead of 129"):
        open_index(tmp_path / "i")

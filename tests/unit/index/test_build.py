import json
from dataclasses import replace

import numpy as np
import pytest

from lexigraft.core.artifact import read_manifest, write_artifact
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.settings import IndexSettings
from lexigraft.index import build
from lexigraft.index.store import open_index
from lexigraft.search.searcher import Searcher
from tests.conftest import index_of, sparse_matrix


def test_postings_of_a_small_matrix(tmp_path):
    matrix = sparse_matrix([{0: 1.0, 2: 5.1}, {2: 2.55}, {}], 4, ["b", "c", "a"])
    found = index_of(matrix, tmp_path / "i")
    assert found.lengths.tolist() == [1, 0, 2, 0]
    postings = [tuple(array.tolist() for array in found.postings(term)) for term in range(4)]
    assert postings == [([0], [50]), ([], []), ([0, 1], [255, 128]), ([], [])]
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
    monkeypatch.setattr(build, "BYTES_PER_POSTING", {8: 2**20 // 40})  # forty postings a pass
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


@pytest.mark.parametrize(
    ("term_ids", "weights", "says"),
    [
        ([9], [1], r"row 1 has the term ids \[9\] ...: they must be ascending, distinct and in 0 .. 2"),
        ([-1], [1], "ascending, distinct and in 0 .. 2"),
        ([0, 0], [1, 2], "add up repeated ones"),
        ([1, 0], [1, 2], "sort each row's terms"),
        ([0], [-1], "greater than 0"),
        ([0], [np.inf], "finite"),
    ],
)
@pytest.mark.parametrize("keep", [0, 2])
def test_bad_vectors(tmp_path, term_ids, weights, says, keep):
    good = sparse_matrix([{0: 1.0}, dict.fromkeys(range(len(term_ids)), 1.0)], 3)
    bad = replace(good, term_ids=np.array([0, *term_ids], np.int32), weights=np.array([1, *weights], np.float32))
    with pytest.raises(InputError, match=says):
        index_of(bad, tmp_path / "i", keep=keep)


def test_a_range_has_at_most_as_many_documents_as_16_bits_tell_apart(tmp_path):
    for range_size in (0, 65537):
        with pytest.raises(SettingError, match=f"range_size = {range_size} is not allowed: 1 to 65,536"):
            index_of(sparse_matrix([{0: 1.0}], 1), tmp_path / "i", range_size=range_size)


def test_ids_that_differ_by_a_nul_and_no_id_at_all(tmp_path):
    ids = ["a\0", "", "a", "a\0\0", "b"]
    found = index_of(sparse_matrix([{0: 1.0}] * 5, 1, ids), tmp_path / "i")
    assert found.tie_rank.tolist() == [2, 0, 1, 3, 4]
    assert [found.ordinals(doc_id) for doc_id in ids] == [[0], [1], [2], [3], [4]]
    assert index_of(sparse_matrix([{0: 1.0}], 1, [""]), tmp_path / "one").ordinals("") == [0]


def test_reordered_documents_keep_their_names(tmp_path):
    rows = [{number % 2: 1.0, 2 + number % 2: 2.0} for number in range(40)]  # two kinds, taking turns
    plain = index_of(sparse_matrix(rows, 4), tmp_path / "plain")
    moved = index_of(sparse_matrix(rows, 4), tmp_path / "moved", settings=IndexSettings(reorder=True))
    assert moved.meta.reordered and list(moved.doc_ids) != list(plain.doc_ids)
    for doc_id in plain.doc_ids:
        assert moved.titles[moved.ordinals(doc_id)[0]] == f"title of {doc_id}"
    query = np.array([1, 2], np.int32), np.array([2, 3], np.float32)
    for k in (1, 7, 40):
        assert Searcher(moved).search(*query, k) == Searcher(plain).search(*query, k)


@pytest.mark.parametrize("bits", [8, 16, 24])
def test_weights_come_back_within_half_a_step(tmp_path, bits):
    rng = np.random.default_rng(bits)
    rows = [{int(term): float(rng.random() + 0.01) for term in rng.choice(9, 4, replace=False)} for _ in range(300)]
    found = index_of(sparse_matrix(rows, 9), tmp_path / "i", settings=IndexSettings(bits=bits))
    for term in range(9):
        for ordinal, impact in zip(*found.postings(term), strict=True):
            assert abs(impact * found.meta.scale - rows[ordinal][term]) <= found.meta.scale / 2 + 1e-7


def test_a_cut_index_is_named(tmp_path):
    index_of(sparse_matrix([{0: 1.0}], 1), tmp_path / "i")
    (tmp_path / "i/stream.npy").write_bytes((tmp_path / "i/stream.npy").read_bytes()[:-1])
    with pytest.raises(ArtifactError, match=r"stream\.npy has \d+ bytes instead of \d+"):
        open_index(tmp_path / "i")


def damage(folder, name, change):
    array = np.load(folder / name)
    change(array)
    np.save(folder / name, array)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("entries.npy", lambda array: array.__setitem__(1, 2**32 - 1), "entries.npy points outside stream.npy"),
        ("range_starts.npy", lambda array: array.__setitem__(1, 2**40), "range_starts.npy does not fit stream.npy"),
        ("range_starts.npy", lambda array: array.__setitem__(0, -1), "range_starts.npy does not fit stream.npy"),
    ],
)
def test_what_points_outside_is_found_without_checksums(tmp_path, name, change, says):
    index_of(sparse_matrix([{0: 1.0, 1: 2.0}, {1: 1.0}, {0: 3.0}], 2), tmp_path / "i", range_size=2)
    open_index(tmp_path / "i", checksums=False)
    damage(tmp_path / "i", name, change)
    with pytest.raises(ArtifactError, match=says):
        open_index(tmp_path / "i", checksums=False)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"range_size": 65537}, "range_size = 65537, which must be a whole number from 1 to 65,536"),
        ({"n_documents": 4}, r"tie_rank.npy has 3 numbers instead of 4"),
        ({"n_documents": 9}, r"range_starts.npy has 3 numbers instead of 6"),
        ({"n_terms": 3}, r"entries.npy has 4 numbers instead of 6"),
    ],
)
def test_counts_that_do_not_fit_the_files_are_refused(tmp_path, changed, says):
    index_of(sparse_matrix([{0: 1.0, 1: 2.0}, {1: 1.0}, {0: 3.0}], 2), tmp_path / "i", range_size=2)
    manifest = read_manifest(tmp_path / "i")
    meta = json.loads((tmp_path / "i/meta.json").read_text())
    with write_artifact(tmp_path / "changed", manifest) as folder:
        for file in (tmp_path / "i").iterdir():
            if file.name != "manifest.json":
                (folder / file.name).write_bytes(file.read_bytes())
        (folder / "meta.json").write_text(json.dumps({**meta, **changed}))
    with pytest.raises(ArtifactError, match=says):
        open_index(tmp_path / "changed")

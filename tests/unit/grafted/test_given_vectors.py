"""Vectors that a user made: read from every form to the same rows, and refused in one line where something is wrong."""

import logging

import numpy as np
import pytest

from lexigraft.core.arrays import open_array
from lexigraft.core.errors import InputError
from lexigraft.grafted import given_files, given_parquet
from lexigraft.grafted.given_vectors import GivenMeta, fingerprint_of_given, unit_rows, write_given_vectors

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

IDS = [f"d{n}" for n in range(7)]
ROWS = np.random.default_rng(3).standard_normal((len(IDS), 5)) * 30


def unit_slowly(rows):
    """Row by row in Python, for `unit_rows`."""
    return np.array([[float(x) / sum(float(y) ** 2 for y in row) ** 0.5 for x in row] for row in rows])


def read(source, out, ids=IDS, bits=32, **more):
    out.mkdir(exist_ok=True)
    meta = write_given_vectors(source, ids, out, bits, **more)
    numbers = open_array(out / "vectors.npy", f"float{bits}")  # as dense vectors are opened
    return meta, numbers.reshape(meta.n_rows, meta.width)


def write_parquet(path, ids=IDS, rows=ROWS, names=("id", "vector"), kind=None, **more):
    kind = kind or pyarrow.list_(pyarrow.float64())
    vectors = pyarrow.array([None if row is None else list(row) for row in rows], kind)
    parquet.write_table(pyarrow.table(dict(zip(names, (pyarrow.array(ids), vectors), strict=True))), path, **more)
    return path


def said(source, out, ids=IDS, **more):
    with pytest.raises(InputError) as error:
        read(source, out, ids, **more)
    assert "\n" not in str(error.value) and not (out / "vectors.npy").exists()
    return str(error.value)


def saved(path, array):
    np.save(path, array)
    return path


@pytest.fixture
def npy(tmp_path):
    return lambda array: saved(tmp_path / "v.npy", array)


def test_a_row_by_hand(npy, tmp_path):
    """(3, 4) has length 5."""
    meta, rows = read(npy(np.array([[3.0, 4.0], [0, -2]])), tmp_path / "out", ["a", "b"])
    assert meta == GivenMeta(n_rows=2, width=2, bits=32, n_without=0, n_unknown=0, by_id=False)
    assert rows.tolist() == [[np.float32(0.6), np.float32(0.8)], [0, -1]]


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int8", ">f4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_all_kinds_of_numbers(npy, tmp_path, kind, order):
    given = np.asarray(ROWS.astype(kind), order=order)
    _, rows = read(npy(given), tmp_path / "out")
    assert np.abs(rows - unit_slowly(given)).max() < 1e-6
    _, half = read(npy(given), tmp_path / "half", bits=16)
    assert half.dtype == np.float16 and np.abs(half - rows).max() < 1e-3


@pytest.mark.parametrize("size", [1e-300, 1e-40, 1e30, 1e300])
def test_sizes_do_not_matter(npy, tmp_path, size):
    _, rows = read(npy(ROWS * size), tmp_path / "out")
    assert np.abs(rows - unit_slowly(ROWS)).max() < 1e-6


def test_all_forms_are_read_to_the_same_rows(npy, tmp_path, monkeypatch):
    monkeypatch.setattr(given_files, "NUMBERS_AT_ONCE", 10)
    monkeypatch.setattr(given_parquet, "ROWS_AT_ONCE", 3)
    given, other = ROWS.astype("f4"), [4, 2, 0, 6, 5, 3, 1]
    _, wanted = read(npy(given), tmp_path / "out")
    shuffled = {"ids": [IDS[row] for row in other], "rows": given[other]}
    np.savez(tmp_path / "v.npz", ids=np.array(shuffled["ids"]), vectors=shuffled["rows"])
    folder = tmp_path / "parts"
    folder.mkdir()
    narrow, fixed = pyarrow.list_(pyarrow.float32()), pyarrow.list_(pyarrow.float32(), 5)
    write_parquet(folder / "b.parquet", shuffled["ids"][:2], shuffled["rows"][:2], kind=narrow)
    write_parquet(folder / "a.pq", shuffled["ids"][2:], shuffled["rows"][2:], kind=fixed)
    tensors = pyarrow.FixedShapeTensorArray.from_numpy_ndarray(shuffled["rows"])
    parquet.write_table(pyarrow.table({"id": shuffled["ids"], "vector": tensors}), tmp_path / "4")
    (folder / "_SUCCESS").touch()
    sources = {
        "array": given, "npz": tmp_path / "v.npz", "folder": folder,
        "list": write_parquet(tmp_path / "1", **shuffled, kind=pyarrow.large_list(pyarrow.float32())),
        "fixed": write_parquet(tmp_path / "2", **shuffled, kind=fixed, names=("_id", "embedding"), row_group_size=2),
        "names": write_parquet(tmp_path / "3", **shuffled, kind=fixed, names=("DocId", "anything")),
        "tensor": tmp_path / "4",
    }  # fmt: skip
    for name, source in sources.items():
        meta, rows = read(source, tmp_path / f"out-{name}")
        assert meta == GivenMeta(7, 5, 32, 0, 0, name != "array") and np.array_equal(rows, wanted), name


def test_ids_that_are_numbers_and_a_dictionary(tmp_path):
    path = write_parquet(tmp_path / "v", [12, 7], ROWS[:2])
    assert np.array_equal(read(path, tmp_path / "a", ["7", "12"])[1], unit_rows(ROWS[[1, 0]])[0].astype("f4"))
    words = pyarrow.array(["b", "a"]).dictionary_encode()
    path = write_parquet(tmp_path / "w", words, ROWS[:2])
    assert np.array_equal(read(path, tmp_path / "b", ["a", "b"])[1], unit_rows(ROWS[[1, 0]])[0].astype("f4"))


def test_extra_ids_are_counted_and_said(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        meta, rows = read(write_parquet(tmp_path / "v"), tmp_path / "out", ["d5", "d1"])
    assert meta == GivenMeta(2, 5, 32, 0, 5, by_id=True) and np.array_equal(
        rows, unit_rows(ROWS[[5, 1]])[0].astype("f4")
    )
    (line,) = caplog.messages
    assert "5 of its ids are of no document here, such as 'd0'" in line


def test_documents_without_text_may_have_no_vector(npy, tmp_path):
    """And get zeros, whatever the source says of them."""
    wrong = ROWS.copy()
    wrong[2], wrong[3] = 0, np.nan
    _, rows = read(npy(wrong), tmp_path / "a", without_text=[2, 3, 6])
    wanted = unit_rows(ROWS)[0].astype("f4")
    wanted[[2, 3, 6]] = 0
    assert np.array_equal(rows, wanted)
    some = [0, 1, 4, 5]
    by_id = write_parquet(tmp_path / "v", [*(IDS[row] for row in some), "d3"], [*ROWS[some], None])
    meta, rows = read(by_id, tmp_path / "b", without_text=[2, 3, 6])
    assert np.array_equal(rows, wanted) and meta == GivenMeta(7, 5, 32, 3, 0, by_id=True)
    assert "none" not in said(npy(wrong), tmp_path / "c", without_text=[2])


def changed(place, value, kind="f8"):
    rows = ROWS.astype(kind)
    rows[place] = value
    return rows


@pytest.mark.parametrize(
    "array, words",
    [
        (ROWS[:6], "has 6 rows, and there are 7 documents"),
        (ROWS[:0], "has 0 rows, and there are 7 documents"),
        (ROWS[0], "has the shape (5,)"),
        (ROWS[None], "has the shape (1, 7, 5)"),
        (ROWS[:, :0], "0 numbers a row"),
        (ROWS.astype("i8"), "holds int64; vectors are float16, float32, float64 or int8"),
        (np.abs(ROWS).astype("u1"), "holds uint8"),
        (ROWS > 0, "holds bool"),
        (ROWS.astype("c8"), "holds complex64"),
        (np.zeros(7, [("a", "f4")]), "holds void32"),
        (ROWS.astype("U9"), "holds str288"),
        (np.array([list(row) for row in ROWS], object), "Python objects, which are never unpickled"),
        (changed((4, 1), np.nan), "row 4 (from 0), document 'd4': its number 1 (from 0) is nan"),
        (changed((4, 1), -np.inf), "row 4 (from 0), document 'd4': its number 1 (from 0) is -inf; encode"),
        (changed((2, 0), np.inf, "f2"), "row 2 (from 0), document 'd2': its number 0 (from 0) is inf (float16 ends"),
        (changed(6, 0), "row 6 (from 0), document 'd6': all of its numbers are 0"),
    ],
)
def test_arrays_that_are_refused(npy, tmp_path, array, words):
    path = npy(array)
    assert words in (text := said(path, tmp_path / "out")) and str(path) in text
    assert words in (text := said(array, tmp_path / "out")) and "the array of vectors" in text


def test_files_that_are_refused(tmp_path):
    out = tmp_path / "out"
    assert "there is no file" in said(tmp_path / "none.npy", out)
    (tmp_path / "text.npy").write_text("0.1 0.2\n")
    assert "begins with b'0.1 0." in said(tmp_path / "text.npy", out)
    (tmp_path / "empty.npy").touch()
    assert "begins with b''" in said(tmp_path / "empty.npy", out)
    (tmp_path / "folder").mkdir()
    assert "without .parquet or .pq files" in said(tmp_path / "folder", out)
    for name in ("v.npy", "v.npz", "v.parquet"):
        np.save(tmp_path / "v.npy", ROWS)
        np.savez(tmp_path / "v.npz", ids=np.array(IDS), vectors=ROWS)
        write_parquet(tmp_path / "v.parquet")
        whole = (tmp_path / name).read_bytes()
        for n_bytes in (8, 30, len(whole) // 2, len(whole) - 1):
            (tmp_path / name).write_bytes(whole[:n_bytes])
            text = said(tmp_path / name, out)
            assert name in text and "write it again" in text, (n_bytes, text)
    assert "every document's vector must have as many numbers" in said([[1.0, 2.0], [1.0]], out, ["a", "b"])


def test_npz_that_are_refused(tmp_path, monkeypatch):
    path, out = tmp_path / "v.npz", tmp_path / "out"

    def refused(**arrays):
        np.savez(path, **arrays)
        return said(path, out)

    assert "holds arr_0, and not ids and vectors" in refused(arr_0=ROWS)
    assert "never unpickled" in refused(ids=np.array(IDS, object), vectors=ROWS)
    assert "never unpickled" in refused(ids=np.array(IDS), vectors=ROWS.astype(object))
    assert "ids are float64 of shape (7,)" in refused(ids=np.arange(7.0), vectors=ROWS)
    assert "vectors of shape (6, 5)" in refused(ids=np.array(IDS), vectors=ROWS[:6])
    monkeypatch.setattr(given_files, "LARGEST_NPZ", 100)
    assert "unpacked into memory; write Parquet" in refused(ids=np.array(IDS), vectors=ROWS)


def test_ids_that_are_refused(tmp_path):
    path, out = tmp_path / "v.parquet", tmp_path / "out"

    def refused(ids, rows=ROWS, wanted=IDS, **more):
        return said(write_parquet(path, ids, rows, **more), out, wanted)

    text = refused([*IDS[:2], "x", "y", *IDS[4:]])
    assert "has no vector for 2 of 7 documents, the first of them 'd2', and 2 of its ids are of no document" in text
    assert "such as 'x'" in text
    assert "no vector for 1 of 7 documents, the first of them 'd3'" in refused(IDS, [*ROWS[:3], None, *ROWS[4:]])
    assert "row 5 (from 0): the id 'd1' was there before" in refused([*IDS[:5], "d1", "d6"])
    assert "row 2 (from 0): it has no id" in refused([*IDS[:2], None, *IDS[3:]])
    assert "the column 'id' holds double" in refused([*range(6), 6.5])
    assert "no vectors, and no document has a text" in said(
        write_parquet(path, ["d0"], [None]), out, ["d0"], without_text=[0]
    )


def test_vectors_that_are_refused(tmp_path, monkeypatch):
    path, out = tmp_path / "v.parquet", tmp_path / "out"

    def refused(rows, **more):
        return said(write_parquet(path, IDS, rows, **more), out)

    odd = [*ROWS[:5], ROWS[5][:4], ROWS[6]]
    assert "row 5 (from 0), id 'd5': its vector has 4 numbers, that of row 0 has 5" in refused(odd)
    monkeypatch.setattr(given_parquet, "ROWS_AT_ONCE", 5)
    assert "row 5 (from 0): its vector has 4 numbers, those before it have 5" in refused([*ROWS[:5], *ROWS[5:, :4]])
    holed = [*ROWS[:6], [1.0, None, 2.0, 3.0, 4.0]]
    assert "row 6 (from 0), document 'd6': its number 1 (from 0) is nan" in refused(holed)
    assert "'vector' holds int64" in refused(ROWS.astype(int), kind=pyarrow.list_(pyarrow.int64()))


def test_columns_that_are_refused(tmp_path):
    path, out = tmp_path / "v.parquet", tmp_path / "out"

    def refused(**columns):
        parquet.write_table(pyarrow.table(columns), path)
        return said(path, out)

    rows, text = ROWS.tolist(), ["[1.0, 2.0]"] * 7
    assert "no column of ids; it has vector (list<" in refused(vector=rows)
    assert "several columns that may be those of ids; it has id (string), docno (string)" in refused(
        id=IDS, docno=IDS, vector=rows
    )
    assert "no column of vectors (lists of numbers); it has id (string), vector (string)" in refused(
        id=IDS, vector=text
    )
    assert "several columns that may be those of vectors" in refused(id=IDS, vector=rows, embedding=rows)
    assert "several columns that may be those of vectors" in refused(id=IDS, one=rows, two=rows)


def test_of_several_lists_the_named_one_is_taken(tmp_path):
    table = pyarrow.table({"id": IDS, "tokens": [[1, 2]] * 7, "Embedding": ROWS.tolist()})
    parquet.write_table(table, tmp_path / "v")
    assert np.array_equal(read(tmp_path / "v", tmp_path / "out")[1], unit_rows(ROWS)[0].astype("f4"))


def test_the_fingerprint_is_of_the_contents(npy, tmp_path):
    path = npy(ROWS)
    first = fingerprint_of_given(path)
    assert first == fingerprint_of_given(path) != fingerprint_of_given(npy(ROWS + 1))
    assert fingerprint_of_given(ROWS) == fingerprint_of_given(ROWS.copy()) != fingerprint_of_given(ROWS[:, ::-1])
    (tmp_path / "parts").mkdir()
    write_parquet(tmp_path / "parts/a.parquet")
    one = fingerprint_of_given(tmp_path / "parts")
    write_parquet(tmp_path / "parts/b.parquet")
    assert fingerprint_of_given(tmp_path / "parts") != one
    with pytest.raises(InputError, match="there is no file"):
        fingerprint_of_given(tmp_path / "none")


@pytest.mark.parametrize("form", ["npy", "npz", "parquet"])
def test_bytes_that_were_changed_are_read_or_refused(tmp_path, form):
    rng, path, rows = np.random.default_rng(1), tmp_path / f"v.{form}", ROWS.astype("f4")
    np.save(tmp_path / "v.npy", rows)
    np.savez(tmp_path / "v.npz", ids=np.array(IDS), vectors=rows)
    write_parquet(tmp_path / "v.parquet")
    whole = path.read_bytes()
    for _ in range(60):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), 2):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            _, found = read(path, tmp_path / "out")
            assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
        except InputError as error:
            assert "\n" not in str(error)

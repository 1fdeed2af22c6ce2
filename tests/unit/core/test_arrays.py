from pathlib import Path

import numpy as np
import pytest

from lexigraft.core.arrays import ArrayWriter, StringTable, open_array, release_pages, write_strings
from lexigraft.core.compiled import load_kernels
from lexigraft.core.errors import ArtifactError


def test_appended_pieces_are_one_array(tmp_path):
    with ArrayWriter(tmp_path / "a.npy", np.int32) as writer:
        writer.append(np.array([1, 2]))
        writer.append(np.array([], np.int64))
        writer.append(np.array([3]))
    for found in (open_array(tmp_path / "a.npy"), np.load(tmp_path / "a.npy")):
        assert found.dtype == np.int32
        assert found.tolist() == [1, 2, 3]
    assert not open_array(tmp_path / "a.npy").flags.writeable


def test_an_empty_array(tmp_path):
    with ArrayWriter(tmp_path / "a.npy", np.uint8):
        pass
    assert open_array(tmp_path / "a.npy").tolist() == []
    assert not open_array(tmp_path / "a.npy").flags.writeable  # or every kernel that takes it is compiled twice


def test_a_cut_array_is_named(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(1000))
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:500])
    with pytest.raises(ArtifactError, match=r"a\.npy cannot be read"):
        open_array(tmp_path / "a.npy")


def test_released_pages_can_be_read_again(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(100_000))
    array = open_array(tmp_path / "a.npy")
    release_pages(array, np.arange(3))
    assert array.sum() == 100_000 * 99_999 // 2


def test_string_table_access(tmp_path):
    strings = ["", "a", "한국어", "naïve", "x" * 1000, "nul\0inside"]
    write_strings(tmp_path, "s", strings)
    table = StringTable(tmp_path, "s")
    assert list(table) == strings
    assert (table[-1], table[2], table[1:3]) == (strings[-1], strings[2], strings[1:3])
    assert table.take(np.array([3, 0, 3])) == ["naïve", "", "naïve"]
    assert table.take(np.array([5, 1])) == ["nul\0inside", "a"]
    assert table.take(np.array([1, 9, 3, 9], np.int32)[::2]) == ["a", "naïve"]
    for outside in (-1, len(table)):
        with pytest.raises(IndexError, match="no string has such a position"):
            table.take(np.array([0, outside]))
    with pytest.raises(IndexError):
        table[6]


def test_no_strings(tmp_path):
    write_strings(tmp_path, "s", [])
    assert list(StringTable(tmp_path, "s")) == []


@pytest.mark.parametrize("outside", [-4 * 10**12, 4 * 10**12, 10**6])
def test_strings_outside_of_their_file_are_not_gathered(outside, tmp_path):
    """Tables that nobody validates, such as a model's terms, reach the kernel, too: it ended by SIGSEGV."""
    write_strings(tmp_path, "s", [f"w{number}" for number in range(2000)])
    offsets = np.load(tmp_path / "s.offsets.npy")
    offsets[1000] = outside
    np.save(tmp_path / "s.offsets.npy", offsets)
    load_kernels()
    with pytest.raises(ArtifactError, match=r"s\.utf8 cannot be read .*outside of its file"):
        list(StringTable(tmp_path, "s"))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint16, np.int32, np.int64, np.float32, bool, ">i4"])
@pytest.mark.parametrize("shape", [(0,), (1,), (1000,), (3, 4)])
def test_an_array_is_read_as_numpy_reads_it(tmp_path, dtype, shape):
    """Also those whose header is not read here."""
    np.save(tmp_path / "a.npy", np.arange(np.prod(shape)).reshape(shape).astype(dtype))
    found, expected = open_array(tmp_path / "a.npy"), np.load(tmp_path / "a.npy")
    assert found.dtype == expected.dtype and found.shape == shape and (found == expected).all()
    assert not found.flags.writeable and type(found) is np.ndarray


def test_a_header_that_promises_more_than_there_is(tmp_path):
    file = tmp_path / "a.npy"
    np.save(file, np.arange(1000))
    whole = file.read_bytes()
    for wrong in (whole[:-1], whole[:129], whole[:128], whole[:20], b"", whole.replace(b"(1000,)", b"(9999,)")):
        file.write_bytes(wrong)
        with pytest.raises(ArtifactError, match="cannot be read as an array"):
            open_array(file)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts what the process holds open")
def test_small_files_are_not_held_open(tmp_path):
    """A live index of twenty segments with metadata by ten keys has more than a thousand files, which is as many as
    most systems let a process open."""
    np.save(tmp_path / "a.npy", np.arange(100))
    write_strings(tmp_path, "names", ["one", "zwei"])
    before = len(list(Path("/proc/self/fd").iterdir()))
    found = [(open_array(tmp_path / "a.npy", np.int64), StringTable(tmp_path, "names")) for _ in range(20)]
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    array, names = found[-1]
    assert array.tolist() == list(range(100)) and not array.flags.writeable and array.flags.aligned
    assert list(names) == ["one", "zwei"]

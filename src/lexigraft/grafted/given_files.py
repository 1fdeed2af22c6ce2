"""Vectors that a user made, opened: `.npy` and arrays, whose rows are in the order of the documents; `.npz` and
Parquet, which say of each row whose it is. What a file is, its first bytes say. Nothing is ever unpickled.
"""

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import release_pages
from lexigraft.core.errors import InputError
from lexigraft.core.os_errors import is_of_the_machine
from lexigraft.core.plain_files import in_units, require_plain_file
from lexigraft.grafted.given_blocks import Block, Given, require_kind
from lexigraft.grafted.given_parquet import GivenParquet

NUMBERS_AT_ONCE = 1 << 20
WIDEST = 1 << 20  # numbers a row, as of dense vectors
LARGEST_NPZ = 4 << 30  # bytes, which are unpacked into memory
PARQUET = (".parquet", ".pq")
WHAT_IS_READ = (
    "a .npy file with a row for each document, in their order; Parquet with columns id and vector; or .npz with ids "
    "and vectors"
)


@dataclass(frozen=True)
class GivenArray:
    """A matrix, mapped or in memory; `ids` of an `.npz` alone."""

    name: str
    matrix: NDArray[Any]
    ids: Sequence[str] | None = None

    @property
    def n_rows(self) -> int:
        return len(self.matrix)

    @property
    def by_id(self) -> bool:
        return self.ids is not None

    def blocks(self) -> Iterator[Block]:
        step = max(1, NUMBERS_AT_ONCE // self.matrix.shape[1])
        for start in range(0, self.n_rows, step):
            end = min(start + step, self.n_rows)
            ids = None if self.ids is None else self.ids[start:end]
            yield Block(self.name, np.arange(start, end), self.matrix[start:end], ids)
            release_pages(self.matrix)


def given_array(array: Any) -> GivenArray:
    """Vectors of a Python program: an array, or what becomes one."""
    name = "the array of vectors"
    try:
        matrix = np.asarray(array)
    except ValueError as error:  # lists of several lengths
        raise InputError(f"{name} is none ({error}); every document's vector must have as many numbers") from error
    return GivenArray(name, _matrix(name, matrix))


def open_given(path: Path) -> Given:
    """The vectors in a file, or in a folder of Parquet files."""
    if not path.exists():
        raise InputError(f"there is no file {path}; give vectors of the documents: {WHAT_IS_READ}")
    if path.is_dir():
        return GivenParquet(str(path), parquet_files(path))
    require_plain_file(path, path.stat())
    with path.open("rb") as file:
        begins = file.read(6)
    if begins == b"\x93NUMPY":
        return _open_npy(path)
    if begins.startswith(b"PK\x03\x04"):
        return _open_npz(path)
    if begins.startswith(b"PAR1"):
        return GivenParquet(str(path), [path])
    raise InputError(f"{path} begins with {begins!r}, as no file of vectors does; give {WHAT_IS_READ}")


def parquet_files(folder: Path) -> list[Path]:
    found = sorted(file for file in folder.iterdir() if file.suffix in PARQUET and file.is_file())
    if not found:
        raise InputError(f"{folder} is a folder without {' or '.join(PARQUET)} files; give {WHAT_IS_READ}")
    return found


def _open_npy(path: Path) -> GivenArray:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # a header is a piece of Python to numpy: what comes of it has no end of kinds
        raise _unreadable(path, error) from error
    return GivenArray(str(path), _matrix(str(path), array))


def _open_npz(path: Path) -> GivenArray:
    try:
        with zipfile.ZipFile(path) as members:
            sizes = {member.filename.removesuffix(".npy"): member.file_size for member in members.infolist()}
    except Exception as error:  # zipfile has several kinds, too
        raise _unreadable(path, error) from error
    if not {"ids", "vectors"} <= sizes.keys():
        raise InputError(
            f"{path} holds {', '.join(sizes) or 'nothing'}, and not ids and vectors: write it by "
            "numpy.savez(FILE, ids=numpy.array(ids), vectors=vectors), or vectors alone by numpy.save"
        )
    if sizes["ids"] + sizes["vectors"] > LARGEST_NPZ:
        raise InputError(
            f"{path} is larger than {in_units(LARGEST_NPZ)} when it is unpacked into memory; write Parquet, which is "
            "read in parts"
        )
    try:
        with np.load(path, allow_pickle=False) as arrays:
            ids, vectors = arrays["ids"], arrays["vectors"]
    except Exception as error:  # as above, and what zlib says
        raise _unreadable(path, error) from error
    if ids.ndim != 1 or ids.dtype.kind not in "Uiu" or len(ids) != len(_matrix(str(path), vectors)):
        raise InputError(
            f"{path}: ids are {ids.dtype.name} of shape {ids.shape}, vectors of shape {vectors.shape}; there must be a "
            "text or a whole number for each row: ids=numpy.array(ids)"
        )
    return GivenArray(str(path), vectors, [str(identifier) for identifier in ids.tolist()])


def _matrix(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.hasobject:
        raise _of_objects(name)
    require_kind(name, array.dtype)
    if array.ndim != 2:
        raise InputError(
            f"{name} has the shape {array.shape}; vectors are a matrix, with a row for each document: "
            "numpy.stack(list_of_vectors)"
        )
    if not 1 <= array.shape[1] <= WIDEST:
        raise InputError(f"{name} has {array.shape[1]:,} numbers a row; 1 to {WIDEST:,} are allowed")
    return array


def _unreadable(path: Path, error: Exception) -> Exception:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and is_of_the_machine(error)):
        return error
    if "object" in str(error).lower():
        return _of_objects(str(path))
    said = str(error).partition("\n")[0].rstrip(".")
    return InputError(f"{path} cannot be read ({said}): it was cut short or damaged; write it again")


def _of_objects(name: str) -> InputError:
    return InputError(
        f"{name} holds Python objects, which are never unpickled: save numpy.asarray(vectors, 'float32'), whose rows "
        "must have one width, and ids as numpy.array(ids, str)"
    )

"""Vectors in Parquet: a column of ids and one of lists of numbers, found by their names and their types."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError, MissingExtraError
from lexigraft.core.installing import install_extra
from lexigraft.data.fields import ID, ROLES
from lexigraft.grafted.given_blocks import Block, require_kind

VECTOR_NAMES = ("vector", "vectors", "embedding", "embeddings", "emb", "values", "dense_vector")
ROWS_AT_ONCE = 1024  # of 1,536 numbers of 64 bits they are 12 MiB
READ_BUFFER = 1 << 20  # without one, pyarrow reads all of a group of rows, which may be all of the file


class GivenParquet:
    """One file or several, one after the other."""

    by_id = True

    def __init__(self, name: str, files: Sequence[Path]) -> None:
        self.name, self._files, self.n_rows = name, files, 0
        for file in files:
            with _opened(file) as table:
                _columns(file, table)
                self.n_rows += table.metadata.num_rows

    def blocks(self) -> Iterator[Block]:
        for file in self._files:
            with _opened(file) as table:
                yield from _blocks(file, table)


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    """A Parquet file; what is wrong with it is an error of the input's while it is read, too."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        remedy = f"{install_extra('parquet')}, or write .npy in the order of the documents"
        raise MissingExtraError(str(file), "pyarrow", remedy) from error
    try:
        with parquet.ParquetFile(file, buffer_size=READ_BUFFER, pre_buffer=False) as table:
            yield table
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the system's, and not pyarrow's
        said = str(error).partition("\n")[0]
        raise InputError(f"{file} is not a whole Parquet file ({said}): write it again") from error


def _columns(file: Path, table: Any) -> tuple[str, str]:
    """(the column of ids, that of vectors): by their names; vectors, too, as the only column of lists of numbers."""
    from pyarrow import types

    kinds = dict(zip(table.schema_arrow.names, map(_stored, table.schema_arrow.types), strict=True))
    shown = ", ".join(f"{name} ({kind})" for name, kind in kinds.items())
    ids = [name for name in kinds if name.lower() in ROLES[ID].names]
    lists = [name for name, kind in kinds.items() if _is_list(kind)]
    named = [name for name in lists if name.lower() in VECTOR_NAMES] if len(lists) > 1 else lists
    for what, found, remedy in (
        ("of ids", ids, "id"),
        ("of vectors (lists of numbers)", named if named or not lists else lists, "vector"),
    ):
        if len(found) != 1:
            problem = f"several columns that may be those {what}" if found else f"no column {what}"
            raise InputError(f"{file} has {problem}; it has {shown}. Write id and vector alone, and name it {remedy!r}")
    kind = kinds[ids[0]]
    kind = kind.value_type if types.is_dictionary(kind) else kind
    if not any(is_kind(kind) for is_kind in (types.is_string, types.is_large_string, types.is_integer)):
        raise InputError(f"{file}: the column {ids[0]!r} holds {kind}; ids are texts or whole numbers")
    numbers = kinds[named[0]].value_type.to_pandas_dtype()
    require_kind(f"{file}, column {named[0]!r}", np.dtype(numbers))
    return ids[0], named[0]


def _stored(kind: Any) -> Any:
    """What a type is stored as: tensors of a fixed shape are lists."""
    import pyarrow

    return kind.storage_type if isinstance(kind, pyarrow.BaseExtensionType) else kind


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(is_list and (types.is_integer(kind.value_type) or types.is_floating(kind.value_type)))


def _blocks(file: Path, table: Any) -> Iterator[Block]:
    import pyarrow

    id_column, vector_column = _columns(file, table)
    first = 0
    for batch in table.iter_batches(ROWS_AT_ONCE, columns=[id_column, vector_column], use_threads=False):
        vectors = batch.column(vector_column)
        vectors = vectors.storage if isinstance(vectors, pyarrow.ExtensionArray) else vectors
        ids = [None if value is None else str(value) for value in batch.column(id_column).to_pylist()]
        if None in ids:
            place = ids.index(None)
            raise InputError(f"{file}, row {first + place:,} (from 0): it has no id; write one in {id_column!r}")
        yield _block(file, first, [str(value) for value in ids], vectors)
        first += len(ids)


def _block(file: Path, first: int, ids: list[str], vectors: Any) -> Block:
    """Rows without a vector are left out, as if they were not there."""
    lengths = vectors.value_lengths().to_numpy(zero_copy_only=False)
    there = np.flatnonzero(~np.asarray(vectors.is_null()))
    lengths = np.asarray(lengths)[there].astype(np.int64)
    if not len(there):
        return Block(str(file), there, np.zeros((0, 0), np.float32), [])
    odd = np.flatnonzero(lengths != lengths[0])
    if len(odd):
        place = int(there[odd[0]])
        raise InputError(
            f"{file}, row {first + place:,} (from 0), id {ids[place]!r}: its vector has {lengths[odd[0]]:,} numbers, "
            f"that of row {first + int(there[0]):,} has {lengths[0]:,}; all must be by one encoder"
        )
    numbers: NDArray[Any] = vectors.flatten().to_numpy(zero_copy_only=False)
    return Block(
        str(file), there + first, numbers.reshape(len(there), int(lengths[0])), [ids[place] for place in there.tolist()]
    )

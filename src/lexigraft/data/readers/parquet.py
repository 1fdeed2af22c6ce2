"""Parquet, a batch of rows at a time."""

from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError, MissingExtraError
from lexigraft.core.installing import install_extra
from lexigraft.data.readers.records import ROW, Record, Records
from lexigraft.data.readers.tables import column_names

_BATCH_ROWS = 64  # few, because a text may be long, and one may stand for all of them


def parquet_records(path: Path, on_bad_bytes: str = "error") -> Records:
    """A record for every row. Parquet knows its columns' types; text that is not UTF-8 is an error in any case."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError(str(path), "pyarrow", f"{install_extra('parquet')}, or write CSV") from error
    number = 0
    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            column_names(file.schema_arrow.names, str(path))  # raises where two columns have one name
            for batch in file.iter_batches(_BATCH_ROWS, use_threads=False):
                for values in _rows(batch, f"{path}, row {number + 1}"):
                    number += 1
                    yield Record(number, path, values, ROW)
    except pyarrow.ArrowException as error:
        raise InputError(f"{path} is not a whole Parquet file: {str(error).splitlines()[0]}") from error
    if not number:
        raise InputError(f"{path} has no rows")


def _rows(batch: Any, where: str) -> list[dict[str, Any]]:
    try:
        found: list[dict[str, Any]] = batch.to_pylist()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}: this row or one of the next {_BATCH_ROWS:,} is not UTF-8 ({error.reason}); write the file again"
        ) from error
    return found

"""The lines of a click log, one at a time: TSV with a header line (gzip allowed) or Parquet, checked as they come.

Only the current line (or batch, for Parquet) is in memory. What cannot be read names file and line.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.errors import InputError, MissingExtraError
from lexigraft.core.installing import install_extra
from lexigraft.core.plain_files import require_plain_file
from lexigraft.data.clicks.settings import Columns
from lexigraft.data.readers.lines import read_lines

_PARQUET = b"PAR1"
_BATCH_ROWS = 8192
_LARGEST = 10**12  # of a count: sums of many still fit 64 bits


class ClickRow(NamedTuple):
    """One line. Texts are as they stand; `impressions` is 0 where the log has no such column."""

    query: str
    title: str
    clicks: int
    position: int
    doc_id: str
    impressions: int


def read_rows(path: Path, columns: Columns) -> Iterator[ClickRow | None]:
    """Every line in order, None for a blank one; the kind of file is told by its first bytes, not its name."""
    require_plain_file(path, path.stat())  # it is opened more than once
    with path.open("rb") as file:
        packed = file.read(len(_PARQUET)) == _PARQUET
    values = _parquet_values(path, columns) if packed else _tsv_values(path, columns)
    has_id, has_impressions = columns.doc_id is not None, columns.impressions is not None
    for number, row in values:
        if row is None:
            yield None
            continue
        where = f"{path}:{number}"
        query, title = _text(row[0], columns.query, where), _text(row[1], columns.title, where)
        clicks = _count(row[2], 0, columns.clicks, where)
        position = _count(row[3], 1, columns.position, where)
        doc_id = _identifier(row[4], str(columns.doc_id), where) if has_id else ""
        impressions = _count(row[-1], 0, str(columns.impressions), where) if has_impressions else 0
        if has_impressions and clicks and not impressions:
            raise InputError(f"{where}: {clicks} clicks on what was shown 0 times ({columns.impressions} is 0)")
        yield ClickRow(query, title, clicks, position, doc_id, impressions)


def _tsv_values(path: Path, columns: Columns) -> Iterator[tuple[int, Sequence[Any] | None]]:
    """(line number, the wanted fields)."""
    lines = read_lines(path, blank=True)
    header = next(lines, None)
    if header is None or not header.text.strip():
        raise InputError(f"{path} is empty: a click log begins with a line that names its columns")
    names = header.text.split("\t")
    places = _places(names, columns, path)
    for line in lines:
        if not line.text.strip():
            yield line.number, None
            continue
        fields = line.text.split("\t")
        if len(fields) != len(names):
            raise InputError(f"{line.where}: {len(fields)} fields between tabs, but the header names {len(names)}")
        yield line.number, [fields[place] for place in places]


def _places(present: Sequence[str], columns: Columns, path: Path) -> list[int]:
    """Where the wanted columns stand."""
    for name in columns.wanted:
        if present.count(name) != 1:
            problem = "has no column" if name not in present else "has several columns named"
            raise InputError(
                f"{path} {problem} {name!r}; present: {', '.join(present)}. Name the columns with --query-column, "
                "--title-column, --clicks-column, --position-column, --doc-id-column, --impressions-column"
            )
    return [present.index(name) for name in columns.wanted]


def _parquet_values(path: Path, columns: Columns) -> Iterator[tuple[int, Sequence[Any]]]:
    """(row number from 1, the wanted values)."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("a click log in Parquet", "pyarrow", install_extra("clicks")) from error
    try:
        with parquet.ParquetFile(path) as file:
            _places(file.schema_arrow.names, columns, path)
            number = 0
            for batch in file.iter_batches(_BATCH_ROWS, columns=columns.wanted):
                lists = [_values(batch.column(name), f"{path}:{number + 1}") for name in columns.wanted]
                for row in zip(*lists, strict=True):
                    number += 1
                    yield number, row
    except (pyarrow.ArrowException, pyarrow.lib.ArrowInvalid) as error:
        raise InputError(f"{path} is not a whole Parquet file: {str(error).splitlines()[0]}") from error


def _values(column: Any, where: str) -> list[Any]:
    try:
        found: list[Any] = column.to_pylist()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}: this row or one of the next {_BATCH_ROWS:,} is not UTF-8 ({error.reason}); write the log again"
        ) from error
    return found


def _text(value: Any, column: str, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{where}: the column {column!r} holds {type(value).__name__}, not text: {value!r}")
    return value


def _identifier(value: Any, column: str, where: str) -> str:
    return str(value) if type(value) is int else _text(value, column, where)


def _count(value: Any, least: int, column: str, where: str) -> int:
    """A whole number of at least `least`; "3" and 3 and "3.0" are all three."""
    if type(value) is int:
        number: float = value
    elif isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        number = int(value)
    else:
        try:
            number = float("nan") if isinstance(value, bool) or "_" in str(value) else float(value)
        except (TypeError, ValueError):
            number = float("nan")
    if not (least <= number <= _LARGEST and number == int(number)):
        shown = repr(value) if len(repr(value)) <= 80 else repr(value)[:80] + "..."
        raise InputError(f"{where}: {column} = {shown} is not allowed: a whole number from {least} to {_LARGEST:,}")
    return int(number)

"""Tables as text, streamed: CSV with quotes, and TSV without.

The first line names the columns. Of CSV, the separator is the one of , ; tab | that the first line has most of; a field
in quotes may hold separators and line ends, and a quote in it is written twice. Of TSV, quotes are text.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from lexigraft.core.errors import InputError
from lexigraft.data.readers.lines import LONGEST_LINE, Line, read_lines
from lexigraft.data.readers.records import Record, Records, require_few

SEPARATORS = ",;\t|"
_QUOTED = re.compile(r'"[^"]*"')


def csv_records(path: Path, on_bad_bytes: str = "error") -> Records:
    """A record for every row, at the line that the row begins on."""
    first = next(read_lines(path, on_bad_bytes), None)
    if first is None:
        raise InputError(f"{path} is empty: a table begins with a line that names its columns")
    csv.field_size_limit(LONGEST_LINE)  # the module's own, 128 KiB, is less than many a text; a row's is below
    start, length = 1, 0  # of the row that is being read

    def lines() -> Iterator[str]:
        nonlocal length
        for line in read_lines(path, on_bad_bytes, blank=True):
            length += len(line.text) + 1
            if length > LONGEST_LINE:
                raise InputError(
                    f"{path}:{start}: a row is longer than {LONGEST_LINE >> 20} MiB; does a quote in the row that "
                    "begins here never close?"
                )
            yield f"{line.text}\n"

    rows = csv.reader(lines(), delimiter=separator_of(first.text), strict=True)
    names: list[str] | None = None
    while True:
        start, length = rows.line_num + 1, 0
        try:
            row = next(rows)
        except StopIteration:
            break
        except csv.Error as error:
            raise InputError(f"{path}:{start}: {_problem(error)}") from error
        if not row or (len(row) == 1 and not row[0].strip()):
            continue
        if names is None:
            names = column_names(row, f"{path}:{start}")
            continue
        if len(row) != len(names):
            raise InputError(f"{path}:{start}: {_other_width(row, names)}")
        yield Record(start, path, dict(zip(names, row, strict=True)))


def tsv_records(path: Path, on_bad_bytes: str = "error") -> Records:
    """A record for every line."""
    names: list[str] | None = None
    for line in read_lines(path, on_bad_bytes):
        cells = line.text.split("\t")
        if names is None:
            names = column_names(cells, line.where)
            continue
        if len(cells) != len(names):
            raise InputError(f"{line.where}: {_other_width(cells, names)}")
        yield Record(line.number, path, dict(zip(names, cells, strict=True)))
    if names is None:
        raise InputError(f"{path} is empty: a table begins with a line that names its columns")


def first_line(path: Path) -> Line | None:
    """The first that holds more than white space."""
    lines: Iterator[Line] = read_lines(path, "replace")
    return next(lines, None)


def separator_of(header: str) -> str:
    """The one that the line has most of, outside of quotes; a comma where it has none."""
    bare = _QUOTED.sub("", header)
    return max(SEPARATORS, key=bare.count)


def column_names(cells: Sequence[str], where: str) -> list[str]:
    """The names in a header: without white space around; a column without a name is called by its number."""
    require_few(len(cells), where)
    names = [cell.strip() or f"column {place}" for place, cell in enumerate(cells, 1)]
    twice, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise InputError(f"{where}: two columns are named {twice!r}; give each a name of its own")
    return names


def _other_width(cells: Sequence[str], names: Sequence[str]) -> str:
    named = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return f"{len(cells)} fields, but the first line names {len(names)} ({named})"


def _problem(error: csv.Error) -> str:
    """What the csv module says, in words that name the remedy. The place is that of the row's first line."""
    said = str(error)
    if "unexpected end" in said:
        return (
            "a quote that opens in the row that begins here never closes; close it, or write it twice to mean a quote"
        )
    if "expected after" in said:
        return (
            "something follows a closing quote in the row that begins here; a quote inside of quotes is written twice, "
            "and every quote that opens must close"
        )
    return f"not a row of CSV: {said}"

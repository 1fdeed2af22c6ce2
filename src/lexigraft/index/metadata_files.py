"""The files of metadata, opened and, where they were made elsewhere, looked through: see index/metadata.py."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import StringTable, open_array
from lexigraft.core.dates import is_moment
from lexigraft.core.stored_record import COUNT, one_of, read_object, record_of, require_fields
from lexigraft.core.validation import require_length, require_pointers, require_within, wrong

COLUMNS = "columns.json"
NUMBER, DATE, TEXT, LIST = "number", "date", "text", "list"
NO_DATE = np.iinfo(np.int64).min
DTYPES = {NUMBER: np.float64, DATE: np.int64, TEXT: np.int32, LIST: np.int32}


@dataclass(frozen=True)
class Column:
    key: str
    kind: str
    n_documents: int  # that have a value; of lists, an element
    place: int  # its number in the names of files
    of: str = ""  # of lists: what their elements are, number or text
    source: str = ""  # the corpus or a file; not known of columns that were made before that was kept


OF_COLUMN = {
    "kind": one_of(NUMBER, DATE, TEXT, LIST),
    "n_documents": COUNT,
    "place": COUNT,
    "of": one_of("", NUMBER, TEXT),
}  # what columns.json may say of a column


class Columns(NamedTuple):
    """What columns.json says: how many documents, the digest of their ids, and the columns."""

    n_documents: int
    documents: str
    columns: tuple[Column, ...]


def read_columns(path: Path) -> Columns:
    """What the metadata at `path` say of themselves."""
    file = path / COLUMNS
    facts = read_object(file)
    wanted = {"n_documents": COUNT, "documents": str, "columns": list[dict[str, Any]]}
    require_fields(file, facts, wanted, needed=wanted)
    columns = tuple(record_of(file, Column, column, OF_COLUMN) for column in facts["columns"])
    for of in ("key", "place"):
        if len({getattr(column, of) for column in columns}) < len(columns):
            raise wrong(file, f"says the same {of} of two columns")
    return Columns(facts["n_documents"], facts["documents"], columns)


def read_keys(path: Path) -> list[str]:
    """The keys of the metadata at `path`."""
    return [column.key for column in read_columns(path).columns]


def open_columns(
    path: Path, columns: Sequence[Column]
) -> tuple[dict[str, NDArray[np.generic]], dict[str, StringTable]]:
    """The arrays of columns, by their files, and the tables of values, by their places."""
    arrays: dict[str, NDArray[np.generic]] = {}
    tables: dict[str, StringTable] = {}
    for column in columns:
        place = column.place
        arrays[f"{place}.npy"] = open_array(path / f"{place}.npy", DTYPES[column.kind])
        if column.kind == LIST:
            arrays[f"{place}.indptr.npy"] = open_array(path / f"{place}.indptr.npy", np.int64)
        if column.kind in (TEXT, LIST):
            tables[str(place)] = StringTable(path, str(place))
    return arrays, tables


def validate_columns(
    path: Path,
    doc_ids: Sequence[str],
    facts: Columns,
    arrays: Mapping[str, NDArray[Any]],
    tables: Mapping[str, StringTable],
) -> None:
    """Raise `ArtifactError` unless every column has a value or none for every document, and its places are those of
    values that there are."""
    require_length(path / "doc_ids.utf8", len(doc_ids), facts.n_documents, "strings")
    for table in (doc_ids, *tables.values()):
        if isinstance(table, StringTable):  # those of format 2 are the index's
            table.validate()
    for column in facts.columns:
        file = path / f"{column.place}.npy"
        values = arrays[file.name]
        if column.kind == LIST:
            indptr = arrays[f"{column.place}.indptr.npy"]
            require_pointers(path / f"{column.place}.indptr.npy", indptr, facts.n_documents, len(values))
            require_within(file, values, 0, len(tables[str(column.place)]))
            if column.of == NUMBER and not all(map(_is_number, tables[str(column.place)])):
                raise wrong(path / f"{column.place}.utf8", "holds what is not a number")
            continue
        require_length(file, len(values), facts.n_documents)
        if column.kind == TEXT:
            require_within(file, values, -1, len(tables[str(column.place)]))
        elif column.kind == NUMBER and np.isinf(values).any():
            raise wrong(file, "holds numbers that are not finite")
        elif column.kind == DATE:
            moments = values[values != NO_DATE]
            if len(moments) and not (is_moment(int(moments.min())) and is_moment(int(moments.max()))):
                raise wrong(file, "holds moments of years that there are not")


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False

"""Metadata of documents on disk: a `metadata` artifact, whose values are read by memory map.

It is of exactly the documents of one index, in `doc_id` order, so that it serves every index of them, whatever its
pruning and the order of its rows; the passages of a document share its values. A plain index has one beside it, a live
index one for each segment whose documents have metadata.

columns.json           the keys, how many documents have one, and which of the files below there are
doc_ids.*              the ids of the documents, in order
N.npy                  int32 [documents], the place of each document's value in the table, -1 where it has none
N.lengths.npy          int32 [documents], of lists: how many elements the document's list has, -1 where it has none
N.elements.npy         int32, the places of all elements, document by document
N.utf8 N.offsets.npy   the table: distinct values as texts in order, a number before the text that reads like it
N.numbers.npy          float64, the table's numbers, not a number where it is none
N.moments.npy          int64, microseconds from 1970 on where a date of the table begins, `NO_DATE` where it is none
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lexigraft.core.arrays import StringTable, open_array, write_strings
from lexigraft.core.artifact import Manifest, open_artifact, read_manifest, write_artifact, write_json
from lexigraft.core.dates import is_moment
from lexigraft.core.made_here import validate_unless_known
from lexigraft.core.pinned import of_one_version, where_it_stands
from lexigraft.core.stored_record import COUNT, read_object, record_of, require_fields
from lexigraft.core.validation import require_length, require_within, wrong
from lexigraft.index.metadata_values import NO_DATE, NONE, Values

# Before format 5 a column was stored as what it was together with the others, and dates lost how they were written.
KIND, FORMAT_VERSION = "metadata", 5
COLUMNS, DOC_IDS = "columns.json", "doc_ids"
OF_CORPUS, OF_FILE = "corpus", "file"  # where a column comes from
IDS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class StoredColumn:
    """What is said of a key; the numbers of values tell what they are without a look at them."""

    key: str
    place: int  # its number in the names of files
    n_documents: int  # that have a value; of lists, an element
    n_values: int  # distinct ones
    n_numbers: int
    n_dates: int
    has_lists: bool
    source: str = ""  # the corpus or a file


OF_COLUMN = dict.fromkeys(("place", "n_documents", "n_values", "n_numbers", "n_dates"), COUNT)


class Facts(NamedTuple):
    """What columns.json says: how many documents, the digest of their ids, and the columns."""

    n_documents: int
    documents: str
    columns: tuple[StoredColumn, ...]


@dataclass(frozen=True, eq=False)
class MetadataTable:
    """The metadata of some documents. All files of a stored one are mapped when it is opened: others may replace them
    later."""

    doc_ids: Sequence[str]
    values: Mapping[str, Values]  # by key
    sources: Mapping[str, str]
    digest: str = ""  # of the ids of a stored one, which are in order
    stored: Mapping[str, StoredColumn] | None = None


NO_METADATA = MetadataTable((), {}, {})


def write_table(out: Path, manifest: Manifest, table: MetadataTable) -> None:
    """Write metadata, whose documents are in `doc_id` order, as the artifact `out`."""
    with write_artifact(out, manifest) as folder:
        columns = []
        for place, (key, values) in enumerate(table.values.items()):
            _write_values(folder, place, values)
            n_numbers, n_dates = int(values.is_number.sum()), int(values.is_date.sum())
            n_documents, lists = int(values.has_value().sum()), values.lengths is not None
            source = table.sources.get(key, "")
            columns.append(StoredColumn(key, place, n_documents, len(values.table), n_numbers, n_dates, lists, source))
        write_strings(folder, DOC_IDS, table.doc_ids)
        facts = {"n_documents": len(table.doc_ids), "documents": digest_of(table.doc_ids)}
        write_json(folder / COLUMNS, {**facts, "columns": [asdict(column) for column in columns]})


def _write_values(folder: Path, place: int, values: Values) -> None:
    np.save(folder / f"{place}.npy", values.codes)
    write_strings(folder, str(place), values.table)
    if values.lengths is not None:
        np.save(folder / f"{place}.lengths.npy", values.lengths)
        np.save(folder / f"{place}.elements.npy", values.elements)
    for name, found in (("numbers", values.numbers), ("moments", values.moments)):
        if found is not None:
            np.save(folder / f"{place}.{name}.npy", found)


@of_one_version
def open_table(path: Path, checksums: bool = True) -> MetadataTable:
    """The metadata at `path`; raises for damaged ones, and where they were made elsewhere and do not fit together."""
    manifest = open_artifact(path, KIND, FORMAT_VERSION, checksums)
    facts, doc_ids = read_facts(path), StringTable(path, DOC_IDS)
    values = {column.key: _open_values(path, column) for column in facts.columns}
    stored = {column.key: column for column in facts.columns}
    table = MetadataTable(
        doc_ids, values, {column.key: column.source for column in facts.columns}, facts.documents, stored
    )
    validate_unless_known(path, manifest, checksums, lambda: validate_table(path, table, facts))
    return table


def former_table(path: Path) -> MetadataTable | None:
    """The metadata at `path` whatever documents they are of, to be kept; None where there are none, or of a former
    format, which must be made again. Raises for damaged ones."""
    if not where_it_stands(path).exists():
        return None
    manifest = read_manifest(where_it_stands(path))
    if manifest is not None and manifest.kind == KIND and manifest.format_version < FORMAT_VERSION:
        return None
    return open_table(path)


def _open_values(path: Path, column: StoredColumn) -> Values:
    def opened(name: str, dtype: Any) -> Any:
        return open_array(path / f"{column.place}{name}.npy", dtype)

    return Values(
        opened("", np.int32),
        opened(".lengths", np.int32) if column.has_lists else None,
        opened(".elements", np.int32) if column.has_lists else np.zeros(0, np.int32),
        StringTable(path, str(column.place)),
        opened(".numbers", np.float64) if column.n_numbers else None,
        opened(".moments", np.int64) if column.n_dates else None,
    )


def read_facts(path: Path) -> Facts:
    """What the metadata at `path` say of themselves."""
    file = path / COLUMNS
    found = read_object(file)
    wanted = {"n_documents": COUNT, "documents": str, "columns": list[dict[str, Any]]}
    require_fields(file, found, wanted, needed=wanted)
    columns = tuple(record_of(file, StoredColumn, column, OF_COLUMN) for column in found["columns"])
    for of in ("key", "place"):
        if len({getattr(column, of) for column in columns}) < len(columns):
            raise wrong(file, f"says the same {of} of two columns")
    return Facts(found["n_documents"], found["documents"], columns)


@of_one_version
def read_keys(path: Path) -> list[str]:
    """The keys of the metadata at `path`."""
    return [column.key for column in read_facts(path).columns]


def validate_table(path: Path, table: MetadataTable, facts: Facts) -> None:
    """Raise `ArtifactError` unless every column has a value or none for every document, whose places are those of
    values that there are, and these are what the facts say."""
    assert isinstance(table.doc_ids, StringTable), "it is stored"
    require_length(path / f"{DOC_IDS}.utf8", len(table.doc_ids), facts.n_documents, "strings")
    table.doc_ids.validate()
    if digest_of(table.doc_ids) != facts.documents:
        raise wrong(path / COLUMNS, "has the digest of other ids than those beside it")
    for column in facts.columns:
        _validate_values(path, column, table.values[column.key], facts.n_documents)


def _validate_values(path: Path, column: StoredColumn, values: Values, n_documents: int) -> None:
    file, n_values = path / f"{column.place}.npy", len(values.table)
    assert isinstance(values.table, StringTable), "it is stored"
    values.table.validate()
    require_length(path / f"{column.place}.utf8", n_values, column.n_values, "strings")
    require_length(file, len(values.codes), n_documents)
    require_within(file, values.codes, NONE, n_values)
    if values.lengths is not None:
        file = path / f"{column.place}.lengths.npy"
        require_length(file, len(values.lengths), n_documents)
        if len(values.lengths) and int(values.lengths.min()) < NONE:
            raise wrong(file, "holds lengths below -1")
        elements = path / f"{column.place}.elements.npy"
        require_length(elements, len(values.elements), int(np.maximum(values.lengths, 0).sum(dtype=np.int64)))
        require_within(elements, values.elements, 0, n_values)
        if (values.has_list() & (values.codes >= 0)).any():
            raise wrong(file, "has a list and a single value of one document")
    for name, of_table in (("numbers", values.numbers), ("moments", values.moments)):
        if of_table is not None:
            require_length(path / f"{column.place}.{name}.npy", len(of_table), n_values)
    if values.numbers is not None and np.isinf(values.numbers).any():
        raise wrong(path / f"{column.place}.numbers.npy", "holds numbers that are not finite")
    if values.moments is not None:
        moments = values.moments[values.moments != NO_DATE]
        if len(moments) and not (is_moment(int(moments.min())) and is_moment(int(moments.max()))):
            raise wrong(path / f"{column.place}.moments.npy", "holds moments of years that there are not")
    said = (column.n_numbers, column.n_dates, column.n_documents)
    if said != (int(values.is_number.sum()), int(values.is_date.sum()), int(values.has_value().sum())):
        raise wrong(path / COLUMNS, f"does not say how many numbers, dates and documents {column.key!r} has")


def digest_of(doc_ids: Iterable[str]) -> str:
    """Of all ids in their order: a sample would not tell an index from one of which some documents were exchanged."""
    digest, ids = hashlib.sha256(), list(doc_ids)
    for start in range(0, len(ids), IDS_AT_ONCE):
        digest.update(json.dumps(ids[start : start + IDS_AT_ONCE]).encode())
    return digest.hexdigest()

"""What is known of documents beside their text, as (doc_id, {key: value}): the `metadata` objects of a BEIR corpus,
or a file of its own."""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.data.collection import FolderCollection
from lexigraft.data.readers.documents import (
    checked_id,
    json_documents,
    json_records,
    split_fields,
    text_field,
    whole_characters,
)
from lexigraft.data.readers.lines import read_lines
from lexigraft.data.readers.own import OwnFile
from lexigraft.data.readers.tables import column_names

Scalar = str | int | float
Value = Scalar | tuple[Scalar, ...]
Records = Iterator[tuple[str, dict[str, Value]]]

ID, METADATA = "_id", "metadata"
LARGEST_NUMBER = int(sys.float_info.max)
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d+)?")


def corpus_metadata(collection: FolderCollection) -> Records:
    """The `metadata` object of every line of corpus.jsonl, where a line without one has none; of a user's own file the
    fields that are neither id nor title nor text."""
    if isinstance(collection.read_corpus, OwnFile):
        for file in collection.corpus_files:
            found_in = collection.read_corpus.metadata(file, collection.reading.on_bad_bytes)
            yield from ((doc_id, _plain(_numbers(values))) for doc_id, values in found_in)
        return
    if not may_have_metadata(collection):
        present = ", ".join(file.name for file in collection.corpus_files)
        raise InputError(
            f"{collection.folder} has no corpus.jsonl, whose lines may have metadata (it has {present}); give a file "
            "of them instead: .jsonl or .tsv"
        )
    for file in collection.corpus_files:
        for line, record in json_records(file, collection.reading.on_bad_bytes):
            found = record.get(METADATA) or {}
            if not isinstance(found, dict):
                raise InputError(f"{line.where}: field 'metadata' is not an object: {found!r}")
            yield text_field(record, ID, line.where), _plain(found)


def may_have_metadata(collection: FolderCollection) -> bool:
    """Whether the layout of a collection has a place for them."""
    return isinstance(collection.read_corpus, OwnFile) or collection.read_corpus is json_documents


def file_metadata(path: Path) -> Records:
    """The metadata in a file: {"_id": ..., key: value, ...} a line (.jsonl), or a table with a header whose first
    column is the id (.tsv; a cell that reads as a number is one, an empty one is no value)."""
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    name = path.name.removesuffix(".gz")
    if name.endswith(".jsonl"):
        for line, record in json_records(path):
            yield text_field(record, ID, line.where), _plain({k: v for k, v in record.items() if k != ID})
    elif name.endswith(".tsv"):
        yield from _table(path)
    else:
        raise InputError(f"{path} is not a file of metadata: .jsonl or .tsv, plain or .gz")


def _table(path: Path) -> Records:
    keys: list[str] | None = None
    for line in read_lines(path):
        if keys is None:
            keys = column_names(line.text.split("\t"), line.where)[1:]
            if not keys:
                raise InputError(f"{line.where}: a table of metadata has a header: _id, and a name for each column")
            continue
        doc_id, *cells = split_fields(line, len(keys) + 1, f"{len(keys) + 1} columns, as the header has,")
        yield (
            checked_id(doc_id, line.where),
            {key: cell_value(cell) for key, cell in zip(keys, cells, strict=True) if cell},
        )


def cell_value(text: str) -> Value:
    """A cell of a table as a number, where it reads as one."""
    value: Value = json.loads(text) if _NUMBER.fullmatch(text) else text
    return value


def _numbers(record: Mapping[str, Any]) -> dict[str, Any]:
    """Cells of a table, which are all text, as what they read as; those that are empty are no values, nor is NaN, which
    is how some tables write that."""
    filled = {key: value for key, value in record.items() if value != "" and value == value}
    return {key: _as_number(value) for key, value in filled.items()}


def _as_number(value: Any) -> Any:
    if isinstance(value, str):
        return cell_value(value)
    return float(value) if isinstance(value, Decimal) else value


def _plain(record: dict[str, Any]) -> dict[str, Value]:
    """Values as text, numbers or lists of those; null is no value, in a list either."""
    found: dict[str, Value] = {}
    for name, value in record.items():
        key = whole_characters(name)
        if key != name and key in record:
            raise InputError(f"two keys of metadata read {key!r} without lone surrogates; give each a name of its own")
        if isinstance(value, list):
            found[key] = tuple(_scalar(element) for element in value if element is not None)
        elif value is not None:
            found[key] = _scalar(value)
    return found


def _scalar(value: Any) -> Scalar:
    """Text or a number as it is; true and false as those words; objects, and lists in lists, as their JSON."""
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        return str(value)  # a number of hundreds of digits is a name: as a number it would be another one
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        return whole_characters(value)
    return whole_characters(json.dumps(value, ensure_ascii=False, sort_keys=True, default=str).strip('"'))

"""Of which format a file is, by its ending or, for standard input, by how it begins; and the reader of each."""

from collections.abc import Callable
from pathlib import Path

from lexigraft.core.errors import InputError
from lexigraft.data.readers.json_files import json_array_records, jsonl_records
from lexigraft.data.readers.lines import read_start
from lexigraft.data.readers.parquet import parquet_records
from lexigraft.data.readers.records import Records
from lexigraft.data.readers.tables import SEPARATORS, csv_records, tsv_records
from lexigraft.data.reading import AUTO, FILES, LINES

READERS: dict[str, Callable[[Path, str], Records]] = {
    "csv": csv_records,
    "tsv": tsv_records,
    "jsonl": jsonl_records,
    "json": json_array_records,
    "parquet": parquet_records,
}
_BY_SUFFIX = {
    **{f".{name}": name for name in READERS}, ".ndjson": "jsonl", ".pq": "parquet", ".tab": "tsv",
    ".txt": LINES, ".text": LINES,
    ".md": FILES, ".markdown": FILES, ".html": FILES, ".htm": FILES,
}  # fmt: skip
PAGE_SUFFIXES = tuple(suffix for suffix, name in _BY_SUFFIX.items() if name in (FILES, LINES))
SUFFIXES = tuple(_BY_SUFFIX)


def bare_suffix(path: Path) -> str:
    """The ending in lower case, without .gz."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def format_of(path: Path, wanted: str = AUTO, by_content: bool = False) -> str:
    """`wanted`, or for "auto" what the file's name says; raises `InputError` where it says nothing."""
    if wanted != AUTO:
        return wanted
    if by_content:
        return _by_content(path)
    found = _BY_SUFFIX.get(bare_suffix(path))
    if found is None:
        raise InputError(
            f"{path}: its name does not say what it is ({', '.join(SUFFIXES)}, plain or .gz); say it with --format, "
            f"one of {', '.join((*READERS, LINES, FILES))}"
        )
    return found


def _by_content(path: Path) -> str:
    """By the first bytes: Parquet's mark, a bracket, a tag, or what separates the fields of the first line."""
    start = read_start(path)
    if start.startswith(b"PAR1"):
        return "parquet"
    text = start.decode("utf-8-sig", "replace").lstrip()
    if not text:
        raise InputError("standard input is empty")
    if text[0] in "[{":
        return "json" if text[0] == "[" else "jsonl"
    if text.lower().startswith(("<!doctype", "<html", "<head", "<body")):
        return FILES
    header = text.splitlines()[0]
    if "\t" in header:
        return "csv" if '"' in header else "tsv"
    return "csv" if any(separator in header for separator in SEPARATORS) else LINES

"""Files of documents, one a line: JSON (BEIR), tab-separated (MS MARCO), or plain text."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.core.types import Document
from lexigraft.data.readers.json_text import parse_json, why_not
from lexigraft.data.readers.lines import Line, read_lines
from lexigraft.data.readers.records import require_few

Documents = Iterator[tuple[Line, Document]]


def json_documents(path: Path, on_bad_bytes: str = "error") -> Documents:
    """{"_id", "title"?, "text"} a line."""
    for line, record in json_records(path, on_bad_bytes):
        title = record.get("title") or ""
        if not isinstance(title, str):
            raise InputError(f"{line.where}: field 'title' is not a string: {title!r}")
        title = whole_characters(title)
        yield line, Document(text_field(record, "_id", line.where), title, text_field(record, "text", line.where))


def passage_documents(path: Path, on_bad_bytes: str = "error") -> Documents:
    """MS MARCO's collection.tsv: id, text."""
    for line in read_lines(path, on_bad_bytes):
        doc_id, text = split_fields(line, 2, "id and text")
        yield line, Document(checked_id(doc_id, line.where), "", text)


def page_documents(path: Path, on_bad_bytes: str = "error") -> Documents:
    """MS MARCO's msmarco-docs.tsv: id, address, title, text."""
    for line in read_lines(path, on_bad_bytes):
        doc_id, _, title, text = split_fields(line, 4, "id, address, title and text")
        yield line, Document(checked_id(doc_id, line.where), title, text)


def text_lines(path: Path, on_bad_bytes: str = "error") -> Documents:
    """Plain text, one document a line; its id is the file's name and the line's number."""
    name = path.name.removesuffix(".gz").removesuffix(".txt")
    for line in read_lines(path, on_bad_bytes):
        yield line, Document(f"{name}-{line.number}", "", line.text)


# By file name, without .gz; the first that is there is the corpus of a folder.
CORPUS_FILES: dict[str, Callable[[Path, str], Documents]] = {
    "corpus.jsonl": json_documents,
    "collection.tsv": passage_documents,
    "msmarco-docs.tsv": page_documents,
}


def json_records(path: Path, on_bad_bytes: str = "error") -> Iterator[tuple[Line, dict[str, Any]]]:
    for line in read_lines(path, on_bad_bytes):
        try:
            record = parse_json(line.text)
        except (ValueError, RecursionError) as error:  # malformed, thousands of digits, or nested too deeply
            raise InputError(f"{line.where}: {why_not(error)}") from error
        if not isinstance(record, dict):
            raise InputError(f"{line.where}: expected a JSON object, found {type(record).__name__}")
        require_few(len(record), line.where)
        yield line, record


def text_field(record: dict[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        problem = f"field {key!r} is not a string: {value!r}" if key in record else f"field {key!r} is missing"
        raise InputError(
            f"{where}: {problem}; present: {', '.join(record) or 'nothing'} (--fields names others, and reads ids that "
            "are whole numbers)"
        )
    return checked_id(value, where) if key == "_id" else whole_characters(value)


def split_fields(line: Line, n_fields: int, form: str) -> list[str]:
    """The tab-separated fields of a line; the last may hold tabs."""
    fields = line.text.split("\t", n_fields - 1)
    if len(fields) != n_fields:
        raise InputError(f"{line.where}: expected {form} separated by tabs, found {len(fields)} fields")
    return fields


def whole_characters(text: str) -> str:
    """A text as UTF-8 can hold it: a lone surrogate, which JSON can spell, becomes "?". This is done where files are
    read, so that what is counted, encoded, stored and shown is the same. Ids are never changed: see `checked_id`."""
    return text if text.isascii() or _is_utf8(text) else text.encode("utf-8", "replace").decode()


def checked_id(identifier: str, where: str) -> str:
    if not identifier or "\0" in identifier or not _is_utf8(identifier):
        raise InputError(f"{where}: an _id must not be empty or hold NUL characters or lone surrogates: {identifier!r}")
    return identifier


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

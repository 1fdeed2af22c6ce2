"""JSON: an object a line, or one array of objects. Both are streamed: memory holds an object."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.data.readers.documents import json_records
from lexigraft.data.readers.json_text import JsonStream, parse_json
from lexigraft.data.readers.lines import read_lines, read_pieces
from lexigraft.data.readers.records import ITEM, Record, Records, require_few


def jsonl_records(path: Path, on_bad_bytes: str = "error") -> Records:
    """An object a line."""
    empty = True
    for line, values in json_records(path, on_bad_bytes):
        empty = False
        yield Record(line.number, path, values)
    if empty:
        raise InputError(f"{path} is empty: expected a JSON object a line")


def json_array_records(path: Path, on_bad_bytes: str = "error") -> Records:
    """The objects of an array, or of the one array that an object holds. Objects that follow one another, without an
    array, are read a line at a time."""
    text = JsonStream(path, read_pieces(path, on_bad_bytes))
    mark = text.next_mark()
    if mark == "{" and _is_lines(path, on_bad_bytes):
        yield from jsonl_records(path, on_bad_bytes)
        return
    if not mark:
        raise InputError(f"{path} is empty: expected an array of JSON objects")
    number = 0
    for number, values in enumerate(_items(text, mark, path), 1):
        if not isinstance(values, dict):
            raise InputError(f"{path}, item {number}: expected a JSON object, found {type(values).__name__}")
        require_few(len(values), f"{path}, item {number}")
        yield Record(number, path, values, ITEM)
    text.take("")
    if not number:
        raise InputError(f"{path}: its array is empty; there are no records")


def _is_lines(path: Path, on_bad_bytes: str) -> bool:
    """Whether the first line is an object, and there is another line."""
    lines = read_lines(path, on_bad_bytes)
    try:
        first, second = next(lines), next(lines, None)
        return second is not None and isinstance(parse_json(first.text), dict)
    except (InputError, ValueError, RecursionError):  # a line of gigabytes, or the first of an object of several
        return False


def _items(text: JsonStream, mark: str, path: Path) -> Iterator[Any]:
    if mark == "[":
        yield from text.items()
        return
    found = "an object with %d arrays"
    if mark != "{":
        n_arrays, found = 0, type(text.value()).__name__
    else:
        keys, n_arrays = set[str](), 0
        for key in text.fields():
            require_few(len(keys), str(path))
            if key in keys:
                raise InputError(f"{path}: an object has the key {key!r} twice; keep the one that is meant")
            keys.add(key)
            if text.next_mark() != "[":
                text.value()
                continue
            n_arrays += 1
            for item in text.items():
                if n_arrays == 1:
                    yield item
        found %= n_arrays
    if n_arrays != 1:
        raise InputError(f"{path}: expected an array of JSON objects, or an object that holds one, found {found}")

"""JSON: an object a line, streamed, or one array of objects, which is read as a whole."""

import json
from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.data.readers.documents import json_records
from lexigraft.data.readers.json_text import RepeatedKeyError, parse_json
from lexigraft.data.readers.lines import read_whole
from lexigraft.data.readers.records import ITEM, Record, Records


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
    text = read_whole(path, on_bad_bytes)
    if not text.strip():
        raise InputError(f"{path} is empty: expected an array of JSON objects")
    try:
        loaded = parse_json(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and text.lstrip().startswith("{"):
            yield from jsonl_records(path, on_bad_bytes)
            return
        raise InputError(f"{path}:{error.lineno}: not valid JSON: {error.msg} (column {error.colno})") from error
    except RepeatedKeyError as error:
        raise InputError(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:  # thousands of digits, or nested too deeply
        raise InputError(f"{path}: not valid JSON: {error}") from error
    del text
    for number, values in enumerate(_array(loaded, path), 1):
        if not isinstance(values, dict):
            raise InputError(f"{path}, item {number}: expected a JSON object, found {type(values).__name__}")
        yield Record(number, path, values, ITEM)


def _array(loaded: Any, path: Path) -> list[Any]:
    if isinstance(loaded, list):
        found = loaded
    else:
        arrays = [key for key, value in loaded.items() if isinstance(value, list)] if isinstance(loaded, dict) else []
        if len(arrays) != 1:
            many = f"an object with {len(arrays)} arrays" if isinstance(loaded, dict) else type(loaded).__name__
            raise InputError(f"{path}: expected an array of JSON objects, or an object that holds one, found {many}")
        found = loaded[arrays[0]]
    if not found:
        raise InputError(f"{path}: its array is empty; there are no records")
    return found

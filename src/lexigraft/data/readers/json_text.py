"""JSON of users' files, of which nothing is dropped: a key that an object has twice is an error."""

import json
from typing import Any


class RepeatedKeyError(ValueError):
    """An object names one key twice, and only one of its values could be kept."""


def parse_json(text: str) -> Any:
    """The value that `text` spells. Not strict: a raw control character in a string is somebody's data. Raises
    `ValueError` for what is no JSON, `RecursionError` for what is nested too deeply."""
    return _DECODER.decode(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise RepeatedKeyError(f"an object has the key {twice!r} twice; keep the one that is meant")
    return found


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_object)

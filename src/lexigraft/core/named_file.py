"""A file that a setting names, which must be there."""

from pathlib import Path

from lexigraft.core.errors import InputError


def named_file(setting: str, value: str) -> Path:
    """The file that a setting names, which must be there."""
    path = Path(value)
    if not path.is_file():
        raise InputError(f"{setting} = {value!r}: there is no such file; give the path of one, or leave it empty")
    return path

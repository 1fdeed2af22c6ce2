"""Errors as the command line says them. They are worded for Python, whose programs meet them, too: here arguments
become the options that they are."""

import re

OPTIONS = {
    "replacing=True": "--replace",
    "replace=True": "--replace",
    "system=NAME": "--system",
    "vectors=PATH": "--vectors",
    "data=PATH": "--data",
    "out=PATH": "--out",
    "encoder=PATH": "--run RUN or --index INDEX",
    'set={"data.on_duplicate": "skip"}': "--on-duplicate skip",
    "leave these out": "to delete the others give --missing ok",
}
_ARGUMENT = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, OPTIONS))})(?!\w)")


def in_flags(message: str) -> str:
    """The message with options for arguments."""
    return _ARGUMENT.sub(lambda found: OPTIONS[found[0]], message)

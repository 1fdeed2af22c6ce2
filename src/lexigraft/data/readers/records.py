"""A record of a user's file: named values, and the place they stand at."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.bounds import MOST_FIELDS
from lexigraft.core.errors import InputError

LINE, ROW, ITEM = "line", "row", "item"


class Record(NamedTuple):
    """`number` counts lines, rows or items (`unit`) from 1; of a record of several lines it is the first."""

    number: int
    path: Path
    values: Mapping[str, Any]
    unit: str = LINE

    @property
    def where(self) -> str:
        """File and place, for messages; made when asked for, because records are many."""
        return f"{self.path}:{self.number}" if self.unit == LINE else f"{self.path}, {self.unit} {self.number}"


Records = Iterator[Record]


def require_few(n_fields: int, where: str) -> None:
    """Raise where a record has more fields than any real one."""
    if n_fields > MOST_FIELDS:
        raise InputError(
            f"{where}: {n_fields:,} fields, and a record has at most {MOST_FIELDS:,}; keep those that are needed"
        )

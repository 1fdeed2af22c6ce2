"""A record of a user's file: named values, and the place they stand at."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

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

"""What documents can be filtered by: every key of their metadata, with its most frequent values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.dates import written
from lexigraft.index.metadata import Metadata
from lexigraft.index.metadata_files import DATE, LIST, NO_DATE, NUMBER, TEXT, Column

MOST_VALUES = 20
YES_OR_NO = "yes_or_no"


def fields_of(metadata: Metadata | None) -> list[dict[str, Any]]:
    """The keys in order, with their kinds and values."""
    if metadata is None:
        return []
    return [_field(metadata, column) for column in metadata.columns.values()]


def _field(metadata: Metadata, column: Column) -> dict[str, Any]:
    values = _values(metadata, column)
    truths = column.kind == TEXT and bool(values) and set(values) <= {"true", "false"}
    return {"name": column.key, "kind": YES_OR_NO if truths else column.kind, "values": values}


def _values(metadata: Metadata, column: Column) -> list[Any]:
    if column.kind == NUMBER:
        numbers = metadata.numbers(column.key)
        return [int(one) if float(one).is_integer() else float(one) for one in _frequent(numbers[~np.isnan(numbers)])]
    if column.kind == DATE:
        moments = metadata.dates(column.key)
        return [written(int(one)) for one in _frequent(moments[moments != NO_DATE])]
    _, places, table = metadata.lists(column.key) if column.kind == LIST else (None, *metadata.texts(column.key))
    counts = np.bincount(places[places >= 0], minlength=len(table))
    order = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    return [table[int(at)] for at in order if counts[at]]


def _frequent(values: NDArray[Any]) -> list[Any]:
    """The most frequent values, the smaller of equals first."""
    distinct, counts = np.unique(values, return_counts=True)
    return list(distinct[np.argsort(-counts, kind="stable")[:MOST_VALUES]])

"""What documents can be filtered by: every key of their metadata, with its most frequent values."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import taken
from lexigraft.core.dates import written
from lexigraft.index.metadata import DATE, NUMBER, TEXT, Column, Metadata, SegmentMetadata
from lexigraft.index.metadata_values import NO_DATE, Values

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
    key = column.key
    if column.kind == NUMBER:
        numbers = np.concatenate([_of_living(segment, segment.numbers(key)) for segment in metadata.segments])
        return [int(one) if float(one).is_integer() else float(one) for one in _frequent(numbers[~np.isnan(numbers)])]
    if column.kind == DATE:
        moments = np.concatenate([_of_living(segment, segment.dates(key)) for segment in metadata.segments])
        return [written(int(one)) for one in _frequent(moments[moments != NO_DATE])]
    parts = [_counted(segment, values) for segment in metadata.segments if (values := segment.values(key)) is not None]
    if len(parts) == 1 and parts[0][0].numbers is None:  # texts come once: the most frequent need not be looked for
        values, counts = parts[0]
        order = np.argsort(-counts, kind="stable")[:MOST_VALUES]
        return [values.table[int(at)] for at in order if counts[at]]
    texts = Counter[str]()
    for values, counts in parts:
        present = np.flatnonzero(counts)
        for text, count in zip(taken(values.table, present), counts[present].tolist(), strict=True):
            texts[text] += count
    return sorted(texts, key=lambda text: (-texts[text], text))[:MOST_VALUES]


def _of_living(segment: SegmentMetadata, of_documents: NDArray[Any]) -> NDArray[Any]:
    return of_documents if segment.living is None else of_documents[segment.living]


def _counted(segment: SegmentMetadata, values: Values) -> tuple[Values, NDArray[np.int64]]:
    """How many living documents have each value of the table."""
    codes, elements = _of_living(segment, values.codes), values.elements
    if segment.living is not None:
        elements = elements[segment.living[values.owners()]]
    return values, np.bincount(np.concatenate([codes[codes >= 0], elements]), minlength=len(values.table))


def _frequent(values: NDArray[Any]) -> list[Any]:
    """The most frequent values, the smaller of equals first."""
    distinct, counts = np.unique(values, return_counts=True)
    return list(distinct[np.argsort(-counts, kind="stable")[:MOST_VALUES]])

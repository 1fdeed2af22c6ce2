"""Conditions on metadata: KEY=VALUE, KEY!=VALUE, KEY>=VALUE, KEY<=VALUE, to which rows may be found.

Numbers compare as numbers. Texts compare by their characters, so that dates written 2021-05-01 are in order. What has
no value fulfils != alone; a document of which metadata know nothing, because it was added to a live index after they
were made, fulfils no condition. KEY==VALUE is KEY=VALUE. Double quotes around a value are left out: so it may begin or
end with a space, or begin with "=".
"""

import bisect
import math
import operator
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import SettingError
from lexigraft.index.inverted import Index
from lexigraft.index.live.reader import LiveIndex
from lexigraft.index.metadata import NUMBER, Metadata
from lexigraft.search.searching import Allowed

_CONDITION = re.compile(r"\s*([^=!<>]+?)\s*(!=|>=|<=|==|=)\s*(.*?)\s*", re.DOTALL)
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "!=": operator.ne, ">=": operator.ge, "<=": operator.le,
}  # fmt: skip


class Condition(NamedTuple):
    key: str
    sign: str  # one of = != >= <=
    value: str


def parse_condition(text: str) -> Condition:
    """`text` as a condition; raises for one that is none."""
    match = _CONDITION.fullmatch(text)
    if match is None:
        forms = "KEY=VALUE, KEY!=VALUE, KEY>=VALUE or KEY<=VALUE"
        raise SettingError(f"--where {text!r} is not a condition: {forms}")
    key, sign, value = match.groups()
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    return Condition(key, "=" if sign == "==" else sign, value)


def filter_mask(index: Index, metadata: Metadata, conditions: Sequence[Condition]) -> Allowed:
    """One byte a row of the index: 1 where its document fulfils all conditions."""
    return filter_masks(LiveIndex.of_index(index), metadata, conditions)[0]


def filter_masks(index: LiveIndex, metadata: Metadata, conditions: Sequence[Condition]) -> list[Allowed]:
    """One mask a segment, of one byte a row: 1 where its document fulfils all conditions. Deleted rows may have
    either."""
    fulfilled = np.ones(metadata.n_documents + 1, bool)  # the last is where ABSENT, -1, points
    for condition in conditions:
        fulfilled[:-1] &= _fulfilling(metadata, condition)
        fulfilled[-1] = False
    return [fulfilled[metadata.places_of(segment.index)].astype(np.uint8) for segment in index.segments]


def _fulfilling(metadata: Metadata, condition: Condition) -> NDArray[np.bool_]:
    """By document in `doc_id` order."""
    if condition.key not in metadata.columns:
        present = ", ".join(sorted(metadata.columns))
        raise SettingError(f"the documents' metadata have no key {condition.key!r}; present: {present}")
    if metadata.columns[condition.key].kind == NUMBER:
        found = _COMPARE[condition.sign](metadata.numbers(condition.key), _number(condition))
        return np.asarray(found, bool)
    places, values = metadata.texts(condition.key)
    low = bisect.bisect_left(values, condition.value)
    high = low + int(low < len(values) and values[low] == condition.value)  # where what is larger begins
    if condition.sign == ">=":
        return np.asarray(places >= low)
    if condition.sign == "<=":
        return np.asarray((places >= 0) & (places < high))
    same = (places >= low) & (places < high)
    return np.asarray(same if condition.sign == "=" else ~same)


def _number(condition: Condition) -> float:
    with suppress(ValueError):
        if math.isfinite(number := float(condition.value)):
            return number
    raise SettingError(
        f"{condition.key} is a number in all documents, and {condition.value!r} is none: give one, such as "
        f"{condition.key}{condition.sign}2021"
    )

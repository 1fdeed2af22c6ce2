"""What metadata say of one document."""

import numpy as np

from lexigraft.core.dates import written
from lexigraft.index.metadata import ABSENT, Metadata, Scalar, Value
from lexigraft.index.metadata_files import DATE, LIST, NO_DATE, NUMBER, Column
from lexigraft.index.metadata_values import LARGEST_WHOLE


def values_at(metadata: Metadata, place: int) -> dict[str, Value]:
    """The values of the document at a place of the columns, by key; a key that it has no value of is left out."""
    if place == ABSENT:
        return {}
    found = ((key, _value(metadata, column, place)) for key, column in metadata.columns.items())
    return {key: value for key, value in found if value is not None}


def _value(metadata: Metadata, column: Column, place: int) -> Value | None:
    key = column.key
    if column.kind == NUMBER:
        number = metadata.numbers(key)[place]
        return None if np.isnan(number) else _plain(float(number))
    if column.kind == DATE:
        moment = int(metadata.dates(key)[place])
        return None if moment == NO_DATE else written(moment)
    if column.kind == LIST:
        indptr, elements, table = metadata.lists(key)
        texts = [table[at] for at in elements[indptr[place] : indptr[place + 1]].tolist()]
        if not texts:
            return None
        return tuple(_plain(float(text)) for text in texts) if column.of == NUMBER else tuple(texts)
    places, table = metadata.texts(key)
    return None if places[place] < 0 else table[int(places[place])]


def _plain(number: float) -> Scalar:
    """A whole number without its point; not one that may be beyond the 64 bits that engines keep an integer in, and is
    not told apart from its neighbours anyway."""
    return int(number) if number.is_integer() and abs(number) <= LARGEST_WHOLE else number

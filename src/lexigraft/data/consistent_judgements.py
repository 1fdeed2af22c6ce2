"""Judgements that do not contradict each other: one pair of query and document has one grade."""

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from lexigraft.core.errors import InputError
from lexigraft.core.types import Qrel

log = logging.getLogger(__name__)


class Placed(Protocol):
    """A line or record of a file."""

    @property
    def number(self) -> int: ...
    @property
    def unit(self) -> str: ...
    @property
    def where(self) -> str: ...


def consistent(records: Iterable[tuple[Placed, Qrel]], file: Path, on_duplicate: str) -> Iterator[Qrel]:
    """The judgements in their order. A pair that comes again with another grade is an error that names both places or,
    with "skip", keeps the first grade, and a warning counts the others; "keep" yields all of them. The same judgement
    once more contradicts nothing, and stays."""
    first: dict[tuple[str, str], tuple[int, int]] = {}  # (grade, place) of each pair
    n_dropped, example = 0, ""
    for place, qrel in records:
        if on_duplicate == "keep":
            yield qrel
            continue
        grade, number = first.setdefault((qrel.query_id, qrel.doc_id), (qrel.relevance, place.number))
        if grade == qrel.relevance:
            yield qrel
            continue
        pair = f"document {qrel.doc_id!r} for query {qrel.query_id!r}"
        if on_duplicate == "error":
            raise InputError(
                f"{place.where}: {pair} is judged {qrel.relevance}, and {grade} on {place.unit} {number}; keep the one "
                "that is right (to keep the first and go on: --on-duplicate skip)"
            )
        n_dropped, example = n_dropped + 1, example or f"{pair} on {place.unit}s {number} and {place.number}"
    if n_dropped:
        message = "%s: %d judgements dropped, their pair was judged otherwise before (such as %s); the first counts"
        log.warning(message, file, n_dropped, example)

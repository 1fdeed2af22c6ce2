"""Rows as PostgreSQL takes them in: COPY's binary form, with pgvector's binary form of a sparse vector.

PostgreSQL holds any character but U+0000. Ids, and what conditions compare, are therefore escaped, in a way that can be
undone and leaves the order of texts as it is; titles, which are only shown, have U+FFFD in its place.
"""

import json
from collections.abc import Mapping, Sequence
from struct import pack

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.dates import read_period
from lexigraft.engines.engine import EngineError, Row
from lexigraft.index.metadata import DATE, LIST
from lexigraft.index.metadata_values import Value, as_text

MOST_TERMS = 16_000  # of a row, in pgvector
_HEADER = b"PGCOPY\n\xff\r\n\0" + pack(">ii", 0, 0)
_TRAILER = pack(">h", -1)


def escaped(text: str) -> str:
    """Without U+0000. U+0001 stands before a character that says which of the two was meant: texts without either are
    as they were, and two texts compare as before, for 0001 0001 < 0001 0002 < 0002."""
    return text.replace("\1", "\1\2").replace("\0", "\1\1")


def unescaped(text: str) -> str:
    return text.replace("\1\1", "\0").replace("\1\2", "\1")


def utf8(text: str) -> bytes:
    """Halves of surrogate pairs, which UTF-8 cannot hold and readers of documents replace, become question marks."""
    return text.encode("utf-8", "replace")


def stored_id(row_id: str) -> str:
    """A row's id as the table has it."""
    return utf8(escaped(row_id)).decode()


def metadata_json(metadata: Mapping[str, Value], kinds: Mapping[str, str]) -> str:
    """Dates as microseconds from 1970 on, and lists as lists of texts: what conditions compare."""
    stored: dict[str, object] = {}
    for key, value in metadata.items():
        if isinstance(value, tuple) or kinds.get(key) == LIST:
            elements = value if isinstance(value, tuple) else (value,)
            stored[escaped(key)] = [escaped(one if isinstance(one, str) else as_text(one)) for one in elements]
        elif kinds.get(key) == DATE and (period := read_period(str(value))) is not None:
            stored[escaped(key)] = period.start
        else:
            stored[escaped(key)] = escaped(value) if isinstance(value, str) else value
    return json.dumps(stored, ensure_ascii=False, allow_nan=False)


def vector_text(term_ids: NDArray[np.int32], weights: NDArray[np.int32], n_terms: int) -> str:
    """A sparse vector as pgvector reads it; its text counts from 1."""
    pairs = zip(term_ids.tolist(), weights.tolist(), strict=True)
    return f"{{{','.join(f'{term + 1}:{weight}' for term, weight in pairs if weight)}}}/{n_terms}"


def vector_bytes(row: Row, n_terms: int) -> bytes:
    """The same in binary, which counts from 0 and must be in order and without zeros."""
    kept = np.flatnonzero(row.impacts)
    if len(kept) > MOST_TERMS:
        raise EngineError(
            f"{row.row_id[:80]!r} has {len(kept):,} terms, and a row of pgvector {MOST_TERMS:,} at most; prune the "
            "documents (dk), and load that index"
        )
    kept = kept[np.argsort(row.term_ids[kept], kind="stable")]
    terms, impacts = row.term_ids[kept].astype(">i4"), row.impacts[kept].astype(">f4")
    return pack(">iii", n_terms, len(kept), 0) + terms.tobytes() + impacts.tobytes()


def copy_bytes(rows: Sequence[Row], n_terms: int, kinds: Mapping[str, str]) -> bytes:
    """Rows for COPY ... (row_id, title, terms, meta) FROM STDIN (FORMAT BINARY). Of rows with the same id, the last
    one: a statement may not write a row twice."""
    parts = [_HEADER]
    for row in {row.row_id: row for row in rows}.values():
        parts.append(pack(">h", 4))
        for field in (
            utf8(escaped(row.row_id)),
            utf8(row.title.replace("\0", "\ufffd")),
            vector_bytes(row, n_terms),
            b"\1" + utf8(metadata_json(row.metadata, kinds)),  # the version of jsonb's binary form
        ):
            parts += (pack(">i", len(field)), field)
    return b"".join((*parts, _TRAILER))

"""PostgreSQL with pgvector: a table with a sparse vector a row, rows for COPY, and the SQL that loads and searches."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import regex

from lexigraft.core.progress import Progress
from lexigraft.export.engine_files.bulk import Form, Parts, write_vocabulary
from lexigraft.export.engine_files.limits import (
    precision_of,
    require_dimensions,
    require_id,
    require_name,
    require_terms_of_row,
)
from lexigraft.export.engine_files.pgvector_sql import INDEX_ROW, index_sql, load_sql, search_sql, use_of
from lexigraft.export.engine_files.query_bodies import Weights, lost_queries, write_queries
from lexigraft.export.engine_files.stored_rows import StoredRow, StoredRows, odd_names, values_in_utc
from lexigraft.export.source import Source
from lexigraft.export.targets import Exported, Wanted

ENGINE = "PostgreSQL"
ROWS = Form("rows", ".copy")
MOST_DIMENSIONS = 1_000_000_000
MOST_TERMS = 16_000  # of a row
LONGEST_ID = 2_700  # bytes: an entry of a primary key has a third of a page at most
_NUL = regex.compile("\0")
_TO_ESCAPE = re.compile(r"[\\\n\r\t\b\f\v]")
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f", "\v": "\\v"}


def write(wanted: Wanted, folder: Path, progress: Progress) -> Exported:
    """Rows for COPY, the SQL that loads them, and queries as vectors."""
    require_name(ENGINE, wanted.name)
    source = Source.open(wanted.path, wanted.system, wanted.qk, wanted.dk)
    n_terms = source.index.n_terms
    require_dimensions("pgvector", n_terms, MOST_DIMENSIONS)
    rows = StoredRows(source, "writing rows", progress)
    write_vocabulary(folder, source.terms)
    writer = _RowWriter(rows)
    parts = writer.write(folder)
    (folder / "load.sql").write_text(load_sql(wanted.name, rows, n_terms, parts.n_parts), encoding="utf-8")
    (folder / "search.sql").write_text(search_sql(wanted.name, rows.of_passages), encoding="utf-8")
    if rows.longest_row <= INDEX_ROW:
        (folder / "index.sql").write_text(index_sql(wanted.name), encoding="utf-8")
    asked = write_queries(wanted, source, folder, lambda one: vector_text(one, n_terms), MOST_TERMS)
    exact, inexact = precision_of(source.index)
    return Exported(
        f"A table for PostgreSQL with pgvector ({parts.n_parts} files for COPY)",
        [*rows.kept(), *exact],
        [*inexact, *writer.lost(), *odd_names(rows.kinds), *lost_queries(asked)],
        use_of(wanted.name, rows.longest_row),
        {"index": source.index.fingerprint},
        {**rows.facts(), "replaced_nul": writer.n_replaced, "parts": parts.n_parts, "bytes": parts.n_bytes, **asked},
    )


class _RowWriter:
    """Rows in COPY's form of text, with what had to be replaced in them."""

    def __init__(self, rows: StoredRows) -> None:
        self._rows, self._kinds, self._n_terms = rows, rows.kinds, rows.source.index.n_terms
        self.n_replaced = 0

    def write(self, folder: Path) -> Parts:
        with Parts(folder, ROWS) as parts:
            for row in self._rows:
                parts.append(self._line(row))
        return parts

    def _line(self, row: StoredRow) -> bytes:
        require_id(ENGINE, row.row_id, LONGEST_ID, _NUL)
        require_terms_of_row("pgvector", row.row_id, len(row.term_ids), MOST_TERMS)
        shown = [self._without_nul(text) for text in row.shown.values()]
        meta = self._metadata(row)
        fields = [row.row_id, *shown, vector_text(row.terms, self._n_terms), meta]
        return "\t".join(map(copy_text, fields)).encode("utf-8", "replace")

    def _metadata(self, row: StoredRow) -> str:
        values = values_in_utc(row, self._kinds)
        text = json.dumps(values, ensure_ascii=False, allow_nan=False)
        if "\\u0000" not in text:
            return text
        return json.dumps({key: self._cleaned(value) for key, value in values.items()}, ensure_ascii=False)

    def _cleaned(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._without_nul(one) for one in value]
        return self._without_nul(value) if isinstance(value, str) else value

    def _without_nul(self, text: str) -> str:
        if "\0" not in text:
            return text
        self.n_replaced += 1
        return text.replace("\0", "\ufffd")

    def lost(self) -> list[str]:
        said = f"U+0000 in {self.n_replaced:,} values, which PostgreSQL cannot hold: U+FFFD is in its place"
        return ["the order of documents with equal scores", *[said] * bool(self.n_replaced)]


def vector_text(weights: Mapping[int, int] | Weights, n_terms: int) -> str:
    """A sparse vector as pgvector reads it, which counts from 1."""
    return f"{{{','.join(f'{term + 1}:{weight}' for term, weight in weights.items())}}}/{n_terms}"


def copy_text(value: str) -> str:
    """A value in COPY's form of text, in which white space parts values and rows."""
    return _TO_ESCAPE.sub(lambda found: _ESCAPED[found[0]], value)

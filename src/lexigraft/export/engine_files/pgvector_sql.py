"""The SQL beside the rows for PostgreSQL: what makes, fills, searches and indexes the table.

Names were checked before (`limits.require_name`), so they stand in quotes as they are.
"""

from lexigraft.export.engine_files.stored_rows import StoredRows
from lexigraft.export.engine_files.templates import filled

INDEX_ROW = 1_000  # terms of a row, and of a query, that pgvector's HNSW takes
INLINE = 8_160  # bytes of a row that stay in the table itself: a scan need not look up vectors elsewhere


def load_sql(name: str, rows: StoredRows, n_terms: int, n_parts: int) -> str:
    """For psql, run in the folder of the files."""
    shown = ["title", *["document"] * rows.of_passages, *["text"] * rows.keeps_texts]
    columns = ", ".join(["row_id", *shown, "terms", "meta"])
    defined = ",\n".join(
        ['  row_id text COLLATE "C" PRIMARY KEY', *(f"  {one} text NOT NULL" for one in shown),
         f"  terms sparsevec({n_terms}) NOT NULL", "  meta jsonb NOT NULL"]
    )  # fmt: skip
    copies = "\n".join(
        f"\\copy \"{name}\" ({columns}) FROM PROGRAM 'gunzip -c rows-{part:05}.copy.gz'" for part in range(n_parts)
    )
    return filled(LOAD, {"NAME": name, "COLUMNS": defined, "INLINE": str(INLINE), "COPIES": copies})


LOAD = """\
-- Makes the table and fills it, or does nothing where anything fails: psql -d DATABASE -f load.sql
\\set ON_ERROR_STOP on
SET client_encoding = 'UTF8';
BEGIN;
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE "NAME" (
COLUMNS
) WITH (toast_tuple_target = INLINE);
COPIES
COMMIT;
ANALYZE "NAME";
"""


def search_sql(name: str, of_passages: bool) -> str:
    """The exact top 100, for psql. Of passages, the best one of each document stands for it."""
    return (SEARCH_PASSAGES if of_passages else SEARCH).replace("NAME", name)


SEARCH = """\
-- psql -d DATABASE -v query='{1:3,5:1}/N' -f search.sql
SELECT row_id, title, -distance AS score
FROM (
  SELECT row_id, title, terms <#> :'query'::sparsevec AS distance FROM "NAME" ORDER BY distance LIMIT 100
) AS best
WHERE distance < 0
ORDER BY distance;
"""

SEARCH_PASSAGES = """\
-- psql -d DATABASE -v query='{1:3,5:1}/N' -f search.sql
SELECT document AS row_id, min(title) AS title, max(score) AS score
FROM (SELECT document, title, -(terms <#> :'query'::sparsevec) AS score FROM "NAME" OFFSET 0) AS passages
WHERE score > 0
GROUP BY document
ORDER BY score DESC
LIMIT 100;
"""


def index_sql(name: str) -> str:
    """An index that finds most of the best rows, and not all."""
    return f'CREATE INDEX ON "{name}" USING hnsw (terms sparsevec_ip_ops);\n'


def use_of(name: str, longest_row: int) -> str:
    """The README's part on how the files are used."""
    return filled(USE, {"NAME": name, "HNSW": _said_of_index(longest_row)})


def _said_of_index(longest_row: int) -> str:
    if longest_row > INDEX_ROW:
        return (
            f"An index (HNSW) cannot be made: it takes rows of {INDEX_ROW:,} terms at most, and the longest has "
            f"{longest_row:,}. An export with fewer terms a document (`--dk`) can have one."
        )
    return (
        "`index.sql` makes an approximate index (HNSW), for rows and queries of 1,000 terms at most. Its rankings are "
        "not the exact ones; measure what it loses before you use it."
    )


USE = """\
Load everything into a database, in this folder:

```sh
psql -d DATABASE -f load.sql
```

Ask the first query of `queries.jsonl`, which `--queries` writes:

```sh
query=$(head -n 1 queries.jsonl | python3 -c 'import json, sys; print(json.load(sys.stdin)["body"])')
psql -d DATABASE -v query="$query" -f search.sql
```

A query of your own is the text of a vector, `{1:3,5:1}/N`: the number of a term is its line in `vocabulary.jsonl`, \
from 1 as pgvector counts; N is the number of lines. `<#>` is the negative inner product. The search is exact, and \
looks at every row. HNSW

Metadata are in `meta`, dates as moments in UTC: `WHERE (meta ->> 'KEY')::timestamptz >= '2024-01-01T00:00Z'`. Without \
the Z, PostgreSQL reads a time in the zone of your session. pgvector 0.7 or newer is needed.
"""

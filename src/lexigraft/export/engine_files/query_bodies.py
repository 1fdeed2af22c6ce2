"""Queries as an engine takes them: a line of `queries.jsonl` each, with the id and the text of the query."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.export.engine_files.bulk import as_json
from lexigraft.export.source import Source
from lexigraft.export.targets import Wanted

QUERIES = "queries.jsonl"
HITS = 100  # that a written query asks for

Weights = Mapping[int, int]  # by term id


def write_queries(
    wanted: Wanted, source: Source, folder: Path, body_of: Callable[[Weights], Any], most_terms: int | None = None
) -> dict[str, Any]:
    """Write the wanted queries, and return facts of them. A query without any term of the vocabulary finds nothing, and
    engines refuse it: it is left out, and named. Raises where one has more terms than the engine takes."""
    if not wanted.queries:
        return {}
    without: list[str] = []
    with (folder / QUERIES).open("wb") as file:
        for query in wanted.queries:
            term_ids, weights = source.query(query.text)
            if most_terms is not None and len(term_ids) > most_terms:
                raise InputError(
                    f"query {query.query_id!r} has {len(term_ids):,} terms, and the engine takes {most_terms:,}; "
                    "keep fewer (--qk)"
                )
            if not len(term_ids):
                without.append(query.query_id)
                continue
            body = body_of(dict(zip(term_ids.tolist(), weights.tolist(), strict=True)))
            file.write(as_json({"query_id": query.query_id, "text": query.text, "body": body}) + b"\n")
    return {"queries": len(wanted.queries) - len(without), "queries_without_terms": without}


def lost_queries(facts: Mapping[str, Any]) -> list[str]:
    """What is said of queries that were left out."""
    without = facts.get("queries_without_terms", [])
    some = ", ".join(without[:5]) + (", ..." if len(without) > 5 else "")
    return [f"{len(without)} queries that have no term of the vocabulary, and find nothing: {some}"] if without else []

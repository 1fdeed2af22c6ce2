"""Queries as files: their terms weighted, one JSON object a line, or repeated as often as they weigh.

Programs that count the terms of a query take their weights that way; others read them.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lexigraft.core.errors import InputError
from lexigraft.core.progress import Progress
from lexigraft.core.types import Query
from lexigraft.export.source import Source

REPEATED, WEIGHTED = "queries.txt", "queries.jsonl"
MOST_REPEATED = 1 << 20  # terms of a query, repeated: a line of some megabytes


class WeightedQuery(NamedTuple):
    query_id: str
    terms: list[str]
    weights: list[int]

    def repeated(self) -> str:
        return " ".join(" ".join([term] * weight) for term, weight in zip(self.terms, self.weights, strict=True))


def weigh_queries(source: Source, queries: Sequence[Query], progress: Progress) -> Iterator[WeightedQuery]:
    """Every query that has a term, with whole weights."""
    terms = source.index.vocabulary.terms
    for query in progress.track(queries, "encoding queries", len(queries)):
        term_ids, weights = source.query(query.text)
        if len(term_ids):
            yield WeightedQuery(query.query_id, [terms[term] for term in term_ids.tolist()], weights.tolist())


def write_queries(source: Source, queries: Sequence[Query], folder: Path, progress: Progress) -> list[str]:
    """Write queries for PISA: weighted for PyTerrier, and repeated behind their id and a colon for its command line.
    Returns what could not be written, in words."""
    if not queries:
        return [none_given(REPEATED)]
    n_written, fits = 0, True
    with (
        (folder / WEIGHTED).open("w", encoding="utf-8") as weighted,
        (folder / REPEATED).open("w", encoding="utf-8") as text,
    ):
        for query in weigh_queries(source, queries, progress):
            n_written += 1
            require_words([query.query_id], "query id", ":")
            require_words(query.terms, "term")
            record = {"qid": query.query_id, "query_toks": dict(zip(query.terms, query.weights, strict=True))}
            weighted.write(json.dumps(record, ensure_ascii=False) + "\n")
            fits = fits and sum(query.weights) <= MOST_REPEATED
            if fits:
                text.write(f"{query.query_id}:{query.repeated()}\n")
    lost = left_out(len(queries) - n_written)
    if not fits:
        (folder / REPEATED).unlink()
        lost.append(
            f"{REPEATED}, for PISA's command line: a query would repeat its terms more than {MOST_REPEATED:,} times; "
            "export an index of 8 bits (index.bits), or fewer terms of queries (--qk)"
        )
    return lost


def none_given(file: str) -> str:
    """Of an export without queries, whose README has commands that read some."""
    return f"queries: none were given (--queries), so there is no {file} for the commands below"


def left_out(n_queries: int) -> list[str]:
    said = (
        "query has no term of the vocabulary and is"
        if n_queries == 1
        else "queries have no term of the vocabulary and are"
    )
    return [f"{n_queries:,} {said} left out"] if n_queries else []


def require_words(names: Sequence[str], what: str, forbidden: str = "") -> None:
    """Raise unless every name is one word of a line: not empty, without white space, control characters, and what else
    is `forbidden`."""
    for name in names:
        if not name or any(char.isspace() or char < " " or char == "\x7f" or char in forbidden for char in name):
            also = f" or {forbidden!r}" if forbidden else ""
            raise InputError(
                f"the {what} {name!r} is empty, or holds white space, a control character{also}, where the query file "
                "separates its fields; give it another name, or export without --queries"
            )

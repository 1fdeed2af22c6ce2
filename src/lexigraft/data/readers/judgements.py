"""Files of relevance judgements, and of training triples.

    BEIR            query-id <tab> corpus-id <tab> score, with a header line
    TREC, MS MARCO  query, iteration, document, relevance, separated by white space
    any table       .csv, .json, .jsonl or .parquet with fields of any names, or .tsv where they are named

A relevance below 0 is kept: it says "not relevant", as 0 does.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lexigraft.core.errors import InputError
from lexigraft.core.grades import read_grade
from lexigraft.core.types import Qrel
from lexigraft.data.consistent_judgements import consistent
from lexigraft.data.fields import JUDGEMENT, Named, names_any
from lexigraft.data.readers.documents import split_fields
from lexigraft.data.readers.formats import bare_suffix, format_of
from lexigraft.data.readers.lines import Line, read_lines
from lexigraft.data.readers.own import OwnFile

_TABLES = (".csv", ".json", ".jsonl", ".ndjson", ".parquet", ".pq")
_HEADER_SCORES = ("score", "relevance", "rel", "label", "grade")  # how a header line names its last column


class Triple(NamedTuple):
    """A query with a document to prefer and one to rank below it: ids or texts, as the file has them."""

    query: str
    positive: str
    negative: str


def read_judgements(
    path: Path, on_bad_bytes: str = "error", named: Named | None = None, on_duplicate: str = "error"
) -> Iterator[Qrel]:
    """The judgements of a file; `named` are the fields that the user names. A pair that is judged twice with different
    grades is an error or, with "skip", has the first of them."""
    if names_any(named or {}, JUDGEMENT) or bare_suffix(path) in _TABLES:
        own = OwnFile(format_of(path), named or {})
        return consistent(own.judgements(path, on_bad_bytes), path, on_duplicate)
    return consistent(_columns(path, on_bad_bytes), path, on_duplicate)


def _columns(path: Path, on_bad_bytes: str) -> Iterator[tuple[Line, Qrel]]:
    for line in read_lines(path, on_bad_bytes):
        query, document, score = _judgement_fields(line)
        if line.number == 1 and score.lower() in _HEADER_SCORES:
            continue
        yield line, Qrel(query, document, read_grade(score, f"{line.where}: the score"))


def _judgement_fields(line: Line) -> tuple[str, str, str]:
    by_tab = line.text.split("\t")
    if len(by_tab) == 3:
        return by_tab[0], by_tab[1], by_tab[2].strip()
    by_space = line.text.split()
    if len(by_space) == 4:
        return by_space[0], by_space[2], by_space[3]
    raise InputError(
        f"{line.where}: expected query-id, corpus-id and score separated by tabs, or query, iteration, document and "
        f"relevance, found {len(by_tab)} fields"
    )


def read_triples(path: Path, on_bad_bytes: str = "error") -> Iterator[Triple]:
    """MS MARCO's triples.*.tsv (texts) or qidpidtriples.*.tsv (ids): query, positive, negative."""
    for line in read_lines(path, on_bad_bytes):
        yield Triple(*split_fields(line, 3, "query, positive and negative"))


def positives_of_triples(path: Path, on_bad_bytes: str = "error") -> Iterator[Qrel]:
    """The distinct positives of id triples as judgements, in order of appearance."""
    seen: set[tuple[str, str]] = set()
    for query, positive, _ in read_triples(path, on_bad_bytes):
        if (query, positive) not in seen:
            seen.add((query, positive))
            yield Qrel(query, positive, 1)

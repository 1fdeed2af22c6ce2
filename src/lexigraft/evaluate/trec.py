"""TREC run and judgement files, in and out."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from lexigraft.core.errors import InputError
from lexigraft.core.types import Qrel, Ranking


def write_run(file: TextIO, rankings: Iterable[Ranking], tag: str, depth: int | None = None) -> None:
    """Append `query Q0 document rank score tag`, one line a result, the first `depth` of each ranking."""
    for ranking in rankings:
        doc_ids, scores = ranking.doc_ids[:depth], ranking.scores[:depth]
        names = " ".join((ranking.query_id, *doc_ids))
        if " ".join(names.split()) != names or names.count(" ") != len(doc_ids):
            spaced = next(name for name in (ranking.query_id, *doc_ids) if name.split() != [name])
            raise InputError(f"the id {spaced!r} holds a space, which a TREC run cannot")
        query, hits = ranking.query_id, enumerate(zip(doc_ids, scores, strict=True), 1)
        file.writelines(f"{query} Q0 {doc_id} {place} {score:.6f} {tag}\n" for place, (doc_id, score) in hits)


def read_run(path: Path) -> list[Ranking]:
    """Rankings in file order of queries, documents by their rank field."""
    lists: dict[str, list[tuple[int, str, float]]] = {}
    for where, fields in _fields(path, 6, "query Q0 document rank score tag"):
        try:
            lists.setdefault(fields[0], []).append((int(fields[3]), fields[2], float(fields[4])))
        except ValueError as error:
            raise InputError(f"{where}: rank and score must be numbers: {error}") from error
    return [
        Ranking(query, tuple(doc for _, doc, _ in sorted(hits)), tuple(score for _, _, score in sorted(hits)))
        for query, hits in lists.items()
    ]


def read_qrels(path: Path) -> list[Qrel]:
    """Judgements `query iteration document relevance`."""
    found = []
    for where, fields in _fields(path, 4, "query iteration document relevance"):
        try:
            found.append(Qrel(fields[0], fields[2], int(fields[3])))
        except ValueError as error:
            raise InputError(f"{where}: the relevance {fields[3]!r} is not a whole number") from error
    return found


def _fields(path: Path, n_fields: int, form: str) -> Iterator[tuple[str, list[str]]]:
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.split()
            if fields and len(fields) != n_fields:
                raise InputError(f"{path}:{number}: expected '{form}', found {len(fields)} fields")
            if fields:
                yield f"{path}:{number}", fields

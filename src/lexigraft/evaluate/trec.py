"""TREC run and judgement files, in and out."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from lexigraft.core.errors import InputError
from lexigraft.core.types import Qrel, Ranking


def write_run(path: Path, rankings: Iterable[Ranking], tag: str) -> None:
    """`query Q0 document rank score tag`, one line a result."""
    with path.open("w", encoding="utf-8") as file:
        for ranking in rankings:
            for place, (doc_id, score) in enumerate(zip(ranking.doc_ids, ranking.scores, strict=True), 1):
                fields = (ranking.query_id, "Q0", doc_id, str(place), f"{score:.6f}", tag)
                if len(" ".join(fields).split()) != len(fields):
                    raise InputError(
                        f"query {ranking.query_id!r} or document {doc_id!r} holds a space, which a TREC run cannot"
                    )
                file.write(" ".join(fields) + "\n")


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

"""TREC run files, in and out."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from lexigraft.core.errors import InputError
from lexigraft.core.trec_ids import id_of_trec, trec_id
from lexigraft.core.types import Ranking


def write_run(file: TextIO, rankings: Iterable[Ranking], tag: str, depth: int | None = None, form: str = ".6f") -> None:
    """Append `query Q0 document rank score tag`, one line a result, the first `depth` of each ranking; scores in
    this `form`, which must tell them apart, because other programs sort by them; "" writes every digit."""
    for ranking in rankings:
        query = trec_id(ranking.query_id)
        hits = enumerate(zip(ranking.doc_ids[:depth], ranking.scores[:depth], strict=True), 1)
        file.writelines(
            f"{query} Q0 {trec_id(doc_id)} {place} {score:{form}} {tag}\n" for place, (doc_id, score) in hits
        )


def read_run(path: Path) -> list[Ranking]:
    """Rankings in file order of queries; documents by score, as trec_eval orders them, and equal scores by rank. Ids
    are as they were before `write_run`; those of other programs are looked up by `known_as`."""
    lists: dict[str, dict[str, tuple[float, int]]] = {}
    for where, fields in _fields(path, 6, "query Q0 document rank score tag"):
        query, document = id_of_trec(fields[0]), id_of_trec(fields[2])
        hits = lists.setdefault(query, {})
        if document in hits:
            raise InputError(f"{where}: document {document!r} was ranked for query {query!r} already")
        try:
            score, rank = float(fields[4]), int(fields[3])
        except ValueError as error:
            raise InputError(f"{where}: rank and score must be numbers: {error}") from error
        if not math.isfinite(score):
            raise InputError(f"{where}: the score {fields[4]!r} is not a finite number: nothing can be ranked by it")
        hits[document] = (-score, rank)
    rankings = []
    for query, hits in lists.items():
        doc_ids = sorted(hits, key=hits.__getitem__)
        rankings.append(Ranking(query, tuple(doc_ids), tuple(-hits[doc_id][0] for doc_id in doc_ids)))
    return rankings


def _fields(path: Path, n_fields: int, form: str) -> Iterator[tuple[str, list[str]]]:
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    with path.open("rb") as file:  # decoded line by line: wrong bytes that were replaced could make two ids one
        for number, raw in enumerate(file, 1):
            try:
                fields = raw.decode("utf-8-sig" if number == 1 else "utf-8").split()
            except UnicodeDecodeError as error:
                raise InputError(f"{path}:{number} is not UTF-8 ({error.reason}); convert the file") from error
            if fields and len(fields) != n_fields:
                raise InputError(f"{path}:{number}: expected '{form}', found {len(fields)} fields")
            if fields:
                yield f"{path}:{number}", fields

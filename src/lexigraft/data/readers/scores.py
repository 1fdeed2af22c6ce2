"""Files of scores that something gave to documents for queries: a TREC run, or query, document and score a line.

TREC run     query, "Q0", document, rank, score, tag, separated by white space; ids as `core.trec_ids` writes them
plain        query-id, doc-id, score, separated by tabs or, where ids have no white space, by white space
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lexigraft.core.errors import InputError
from lexigraft.core.trec_ids import id_of_trec
from lexigraft.data.readers.lines import Line, read_lines


class ScoredPair(NamedTuple):
    query_id: str
    doc_id: str
    score: float
    rank: int  # the file's own, or the line's number where it has none


def read_scores(path: Path) -> Iterator[ScoredPair]:
    """Stream the pairs of a file, plain or gzip; a header line that names its last column "score" is passed over."""
    for line in read_lines(path):
        query, document, score, rank = _fields(line)
        if line.number == 1 and score.lower() == "score":
            continue
        try:
            pair = ScoredPair(query, document, float(score), int(rank) if rank else line.number)
        except ValueError:
            raise InputError(f"{line.where}: rank and score must be numbers, found {rank!r} and {score!r}") from None
        if not math.isfinite(pair.score):
            raise InputError(f"{line.where}: the score {score!r} is not a finite number")
        yield pair


def _fields(line: Line) -> tuple[str, str, str, str]:
    by_tab = line.text.split("\t")
    if len(by_tab) == 3:
        return by_tab[0].strip(), by_tab[1].strip(), by_tab[2].strip(), ""
    fields = line.text.split()
    if len(fields) == 3:
        return fields[0], fields[1], fields[2], ""
    if len(fields) == 6:
        return id_of_trec(fields[0]), id_of_trec(fields[2]), fields[4], fields[3]
    raise InputError(
        f"{line.where}: expected 'query document score', or a TREC run's 'query Q0 document rank score tag', found "
        f"{len(fields)} fields"
    )

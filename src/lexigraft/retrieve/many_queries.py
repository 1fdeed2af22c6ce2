"""A file of queries searched and ranked, some at a time, in the order of the file."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from lexigraft.core.errors import InputError
from lexigraft.core.plain_files import written_aside
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Query, Ranking
from lexigraft.data.readers.topics import read_queries
from lexigraft.measure.trec import write_run
from lexigraft.retrieve.retriever import Retriever
from lexigraft.search.overlap import TERMS

AT_ONCE = 256  # queries that are encoded together
DEPTH = 1000  # results of each, where nothing else is asked for


def queries_of_file(path: Path) -> list[Query]:
    """The queries of a file, in its order; two of one id are an error."""
    found: dict[str, Query] = {}
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    for line, query in read_queries(path):
        if query.query_id in found:
            raise InputError(f"{line.where}: the query id {query.query_id!r} was used before; ids must be distinct")
        found[query.query_id] = query
    if not found:
        raise InputError(f"{path} holds no queries")
    return list(found.values())


def rank_all(
    retriever: Retriever, queries: Iterable[Query], k: int = DEPTH, where: str | Sequence[str] = (),
    overlap: float = 0.0,
    two_step: int = 0, overlap_of: str = TERMS, threads: int = 0,
) -> Iterator[Ranking]:  # fmt: skip
    """The k best documents of every query, one ranking after the other; `threads` are those of `search_many`."""
    left = iter(queries)
    while some := list(islice(left, AT_ONCE)):
        found = retriever.search_many([query.text for query in some], k, where, overlap, two_step, threads, overlap_of)
        for query, hits in zip(some, found, strict=True):
            yield Ranking(query.query_id, tuple(hit.doc_id for hit in hits), tuple(hit.score for hit in hits))


def write_rankings(rankings: Iterable[Ranking], out: Path, tag: str, n: int, progress: Progress = SILENT) -> int:
    """A TREC run, whole or not at all; returns for how many queries nothing was found."""
    empty = 0
    with written_aside(out) as aside, aside.open("w", encoding="utf-8") as file:
        for ranking in progress.track(rankings, "searching", n):
            empty += not ranking.doc_ids
            write_run(file, [ranking], tag, form="")
    return empty

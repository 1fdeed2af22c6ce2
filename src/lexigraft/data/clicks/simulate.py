"""A click log of which everything is known: what each document is worth, and how positions bias the clicks.

Every query belongs to a topic with words of its own (and some that it shares with other topics, so that words mislead)
and has 8 to 15 documents, each with a true relevance between 0 and 1. A ranker that knows the relevance only in part,
and mistakes each document in its own lasting way, shows them in some sessions, a little differently each time. Whoever
sees a document at position k looks at it with probability (1/k)**eta, and then clicks with its relevance as the
probability.
"""

import gzip
import io
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from lexigraft.core.errors import MissingExtraError
from lexigraft.core.installing import install_extra
from lexigraft.core.plain_files import written_aside
from lexigraft.core.progress import SILENT, Progress
from lexigraft.data.clicks.settings import Simulation

LOG_COLUMNS = ("query", "title", "position", "impressions", "clicks")
TRUTH_COLUMNS = ("query", "title", "relevance")
_OWN_WORDS, _COMMON_WORDS = 40, 20  # of each topic; of none
_AMBIGUOUS_WORDS, _BORROWED = 60, 20  # words of several topics, and how many of them each topic has
_FEWEST_DOCUMENTS, _MOST_DOCUMENTS = 8, 15
_FEWEST_SESSIONS, _MOST_SESSIONS = 4, 8
_FEWEST_VIEWS, _MOST_VIEWS = 10, 60  # of one session
_SESSION_NOISE = 0.1
_SHARED_WORD = 0.6  # highest chance, over the queries, that a title has a word of its query
_SHARED_TITLE = 0.3  # chance that a title was another query's too
_TITLES_REMEMBERED = 40  # of a topic
_ROWS_AT_ONCE = 10_000  # in a Parquet file
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


class LogLine(NamedTuple):
    query: str
    title: str
    position: int
    impressions: int
    clicks: int


class Truth(NamedTuple):
    query: str
    title: str
    relevance: float


class SimulatedQuery(NamedTuple):
    truths: list[Truth]
    lines: list[LogLine]


def simulate(settings: Simulation, seed: int = 0) -> Iterator[SimulatedQuery]:
    """Queries with their lines, as many as give `settings.lines` lines; the last query may be cut."""
    rng = np.random.default_rng(seed)
    words = _words(rng, _COMMON_WORDS + _AMBIGUOUS_WORDS + settings.topics * _OWN_WORDS)
    common, ambiguous = words[:_COMMON_WORDS], words[_COMMON_WORDS : _COMMON_WORDS + _AMBIGUOUS_WORDS]
    own = words[_COMMON_WORDS + _AMBIGUOUS_WORDS :]
    topics = [
        own[topic :: settings.topics] + [ambiguous[place] for place in rng.permutation(_AMBIGUOUS_WORDS)[:_BORROWED]]
        for topic in range(settings.topics)
    ]
    remembered: list[list[str]] = [[] for _ in topics]
    seen: set[str] = set()  # the truth of a query that came twice would be ambiguous
    left = settings.lines
    while left > 0:
        topic = int(rng.integers(len(topics)))
        query = _query(rng, topics[topic], common, seen)
        titles = _titles(rng, query, topics[topic], common, remembered[topic])
        relevance = rng.random(len(titles)).round(4)
        lines = _sessions(rng, query, titles, relevance, settings.eta)[:left]
        left -= len(lines)
        truths = [Truth(query, title, float(value)) for title, value in zip(titles, relevance, strict=True)]
        yield SimulatedQuery(truths, lines)


def _words(rng: np.random.Generator, count: int) -> list[str]:
    """Distinct words that can be spoken."""
    found: dict[str, None] = {}
    while len(found) < count:
        syllables = rng.integers(2, 5)
        found["".join(rng.choice(list(part)) for _ in range(syllables) for part in (_CONSONANTS, _VOWELS))] = None
    return list(found)


def _query(rng: np.random.Generator, topic: list[str], common: list[str], seen: set[str]) -> str:
    length = int(rng.integers(2, 5))
    while True:
        chosen = [topic[place] for place in rng.choice(len(topic), min(length, len(topic)), replace=False)]
        if rng.random() < 0.5:
            chosen.insert(int(rng.integers(len(chosen))), common[int(rng.integers(len(common)))])
        query = " ".join(chosen)
        if query not in seen:
            seen.add(query)
            return query
        length += 1  # a small topic runs out of short queries


def _titles(
    rng: np.random.Generator, query: str, topic: list[str], common: list[str], remembered: list[str]
) -> list[str]:
    """Distinct titles, some of them those of earlier queries of the topic; new ones are remembered."""
    count, titles = int(rng.integers(_FEWEST_DOCUMENTS, _MOST_DOCUMENTS + 1)), dict[str, None]()
    shared_word = _SHARED_WORD * rng.random()  # so that some queries are easy to match by words and others hard
    while len(titles) < count:
        if remembered and rng.random() < _SHARED_TITLE:
            titles[remembered[int(rng.integers(len(remembered)))]] = None
            continue
        shared = [word for word in query.split() if rng.random() < shared_word]
        own = [topic[place] for place in rng.integers(len(topic), size=int(rng.integers(3, 7)))]
        title = [*shared, *own, common[int(rng.integers(len(common)))]]
        titles[" ".join(title[place] for place in rng.permutation(len(title)))] = None
    remembered.extend(title for title in titles if title not in remembered)
    del remembered[:-_TITLES_REMEMBERED]
    return list(titles)


def _sessions(rng: np.random.Generator, query: str, titles: list[str], relevance: Any, eta: float) -> list[LogLine]:
    lines = []
    mistaken = 0.5 * relevance + 0.5 * rng.random(len(titles))
    looked_at = (1.0 / np.arange(1, len(titles) + 1)) ** eta
    for _ in range(int(rng.integers(_FEWEST_SESSIONS, _MOST_SESSIONS + 1))):
        order = np.argsort(-mistaken - rng.normal(0, _SESSION_NOISE, len(titles)), kind="stable")
        views = int(rng.integers(_FEWEST_VIEWS, _MOST_VIEWS + 1))
        clicks = rng.binomial(views, relevance[order] * looked_at).tolist()
        lines += [
            LogLine(query, titles[document], position, views, clicked)
            for position, (document, clicked) in enumerate(zip(order.tolist(), clicks, strict=True), 1)
        ]
    return lines


class Written(NamedTuple):
    lines: int
    queries: int
    pairs: int


def write_simulation(
    settings: Simulation,
    seed: int,
    log: Path,
    truth: Path,
    parquet: Path | None = None,
    progress: Progress = SILENT,
) -> Written:
    """Write the log (gzip where its name ends in .gz) and the truth as TSV, and the log as Parquet too where asked for;
    each appears whole."""
    lines = queries = pairs = 0
    with ExitStack() as stack:
        log_file, truth_file = (stack.enter_context(_text_file(stack, path)) for path in (log, truth))
        table = stack.enter_context(_Table(stack, parquet)) if parquet else None
        log_file.write("\t".join(LOG_COLUMNS) + "\n")
        truth_file.write("\t".join(TRUTH_COLUMNS) + "\n")
        for found in progress.track(simulate(settings, seed), "simulating queries"):
            log_file.writelines("\t".join(map(str, line)) + "\n" for line in found.lines)
            truth_file.writelines("\t".join(map(str, row)) + "\n" for row in found.truths)
            if table:
                table.add(found.lines)
            lines, queries, pairs = lines + len(found.lines), queries + 1, pairs + len(found.truths)
    return Written(lines, queries, pairs)


def _text_file(stack: ExitStack, path: Path) -> IO[str]:
    aside = stack.enter_context(written_aside(path))
    if path.suffix != ".gz":
        return aside.open("w", encoding="utf-8")
    raw = stack.enter_context(aside.open("wb"))
    # Without a name and a time in its header, the same log is the same bytes.
    packed = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
    return io.TextIOWrapper(packed, encoding="utf-8")


class _Table:
    """Rows of the log into a Parquet file, some thousand at a time."""

    def __init__(self, stack: ExitStack, path: Path) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError as error:
            raise MissingExtraError("a click log in Parquet", "pyarrow", install_extra("clicks")) from error
        types = (pyarrow.string(), pyarrow.string(), pyarrow.int32(), pyarrow.int64(), pyarrow.int64())
        self._schema = pyarrow.schema(list(zip(LOG_COLUMNS, types, strict=True)))
        self._batch = pyarrow.record_batch
        self._writer: Any = parquet.ParquetWriter(stack.enter_context(written_aside(path)), self._schema)
        self._rows: list[LogLine] = []

    def __enter__(self) -> "_Table":
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._writer.close()

    def add(self, lines: list[LogLine]) -> None:
        self._rows += lines
        if len(self._rows) >= _ROWS_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            columns = [list(column) for column in zip(*self._rows, strict=True)]
            self._writer.write_batch(self._batch(columns, schema=self._schema))
        self._rows = []

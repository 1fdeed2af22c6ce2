"""A click log, added up per query and document, and filtered (D2, vocabulary study §3.2).

Lines are streamed; memory grows with the distinct (query, document, position) cells only. What comes out is sorted by
text and id, so that nothing after it depends on the order of the lines.
"""

import logging
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.progress import SILENT, Progress
from lexigraft.data.clicks.rows import read_rows
from lexigraft.data.clicks.settings import ClickFilter, Columns
from lexigraft.data.clicks.text import document_id, normal_text, query_id

# A cell's key packs the numbers of query, document and position into one integer.
_DOCUMENT_BITS, _POSITION_BITS = 36, 12

log = logging.getLogger(__name__)


class ClickPair(NamedTuple):
    """A query and a document that was clicked for it; the higher the label, the better the document."""

    query_id: str
    query: str
    doc_id: str
    title: str
    label: int


@dataclass(frozen=True)
class ClickLog:
    """Pairs sorted by (query text, doc_id), and the cells of each, sorted by (pair, position).

    `pair_query`, `pair_document` are places in `queries`, `doc_ids` and `titles`; `cell_pair` is a place in the pairs.
    A cell is one position at which a pair was shown, with its clicks and (where the log tells) impressions.
    """

    queries: Sequence[str]
    doc_ids: Sequence[str]
    titles: Sequence[str]
    pair_query: NDArray[np.int64]
    pair_document: NDArray[np.int64]
    cell_pair: NDArray[np.int64]
    cell_position: NDArray[np.int64]
    cell_clicks: NDArray[np.int64]
    cell_impressions: NDArray[np.int64]
    max_position: int
    lines: int
    dropped: Mapping[str, int]  # lines, by reason
    several_titles: int  # documents that came with more than one title; the first in alphabetical order was kept

    @property
    def n_pairs(self) -> int:
        return len(self.pair_query)

    @property
    def pair_clicks(self) -> NDArray[np.int64]:
        return np.bincount(self.cell_pair, self.cell_clicks, self.n_pairs).astype(np.int64)


def read_click_log(paths: Sequence[Path], columns: Columns, max_position: int, progress: Progress = SILENT) -> ClickLog:
    """Add up the lines of `paths`, as if they were one file. Lines below `max_position` and lines without a visible
    query, title or id are dropped and counted."""
    sums = _Sums(max_position)
    for path in paths:
        for row in progress.track(read_rows(path, columns), f"reading {path.name}"):
            sums.lines += 1
            if row is None:
                sums.dropped["blank line"] += 1
                continue
            query, title = normal_text(row.query), normal_text(row.title)
            identity = normal_text(row.doc_id) if columns.doc_id is not None else title
            if not query:
                sums.dropped["empty query"] += 1
            elif not title:
                sums.dropped["empty title"] += 1
            elif not identity:
                sums.dropped["empty document id"] += 1
            elif row.position > max_position:
                sums.dropped[f"shown below position {max_position}"] += 1
            elif columns.impressions is not None and not row.impressions:
                sums.dropped["shown 0 times"] += 1
            else:
                sums.add(query, identity, title, row.position, row.clicks, row.impressions)
    found = sums.result(ids_given=columns.doc_id is not None)
    names = ", ".join(str(path) for path in paths)
    for reason, count in found.dropped.items():
        log.info("%s: %d of %d lines dropped: %s", names, count, found.lines, reason)
    if found.several_titles:
        log.warning(
            "%s: %d documents came with several titles; the alphabetically first was kept", names, found.several_titles
        )
    return found


class _Sums:
    """What has been read so far."""

    def __init__(self, max_position: int) -> None:
        self.max_position, self.lines = max_position, 0
        self.dropped: Counter[str] = Counter()
        self._queries: dict[str, int] = {}
        self._documents: dict[str, int] = {}
        self._titles: list[str] = []
        self._several_titles: set[int] = set()
        self._cells: dict[int, int] = {}
        self._clicks, self._impressions = array("q"), array("q")

    def add(self, query: str, identity: str, title: str, position: int, clicks: int, impressions: int) -> None:
        q = self._queries.setdefault(query, len(self._queries))
        d = self._documents.setdefault(identity, len(self._documents))
        if d == len(self._titles):
            self._titles.append(title)
        elif title != self._titles[d]:
            self._several_titles.add(d)
            self._titles[d] = min(title, self._titles[d])  # whatever the order of the lines
        key = (q << _DOCUMENT_BITS | d) << _POSITION_BITS | position
        cell = self._cells.setdefault(key, len(self._cells))
        if cell == len(self._clicks):
            self._clicks.append(clicks)
            self._impressions.append(impressions)
        else:
            self._clicks[cell] += clicks
            self._impressions[cell] += impressions

    def result(self, ids_given: bool) -> ClickLog:
        position = np.fromiter((key & (1 << _POSITION_BITS) - 1 for key in self._cells), np.int64, len(self._cells))
        document = np.fromiter(
            (key >> _POSITION_BITS & (1 << _DOCUMENT_BITS) - 1 for key in self._cells), np.int64, len(self._cells)
        )
        query = np.fromiter((key >> _POSITION_BITS + _DOCUMENT_BITS for key in self._cells), np.int64, len(self._cells))
        doc_ids = list(self._documents) if ids_given else [document_id(title) for title in self._documents]
        queries, query_place = _sorted(list(self._queries))
        names, document_place = _sorted(doc_ids)
        titles = [self._titles[old] for old in np.argsort(document_place, kind="stable")]
        query, document = query_place[query], document_place[document]
        order = np.lexsort((position, document, query))
        query, document = query[order], document[order]
        starts = np.flatnonzero(np.diff(query, prepend=-1) | np.diff(document, prepend=-1))
        return ClickLog(
            queries, names, titles, query[starts], document[starts],
            np.repeat(np.arange(len(starts)), np.diff(starts, append=len(query))), position[order],
            np.array(self._clicks, np.int64)[order], np.array(self._impressions, np.int64)[order],
            self.max_position, self.lines, dict(sorted(self.dropped.items())), len(self._several_titles),
        )  # fmt: skip


def _sorted(names: list[str]) -> tuple[list[str], NDArray[np.int64]]:
    """The names in order, and the place of each of the old ones among them."""
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    return [names[old] for old in order], place


class Kept(NamedTuple):
    """The places of the pairs that passed the filter, and how many did not, by reason."""

    pairs: NDArray[np.int64]
    dropped: dict[str, int]


def filter_pairs(clicks: ClickLog, settings: ClickFilter) -> Kept:
    """The pairs with enough clicks, of queries with enough such documents."""
    clicked = clicks.pair_clicks >= settings.min_clicks
    documents = np.bincount(clicks.pair_query, clicked, len(clicks.queries))
    kept = clicked & (documents >= settings.min_documents)[clicks.pair_query]
    dropped = {
        f"fewer than {settings.min_clicks} clicks": int(np.count_nonzero(~clicked)),
        f"query with fewer than {settings.min_documents} such documents": int(np.count_nonzero(clicked & ~kept)),
    }
    for reason, count in dropped.items():
        if count:
            log.info("%d of %d pairs dropped: %s", count, clicks.n_pairs, reason)
    return Kept(np.flatnonzero(kept), dropped)


def labelled_pairs(clicks: ClickLog, kept: NDArray[np.int64], labels: NDArray[np.int64]) -> list[ClickPair]:
    """The pairs at the places `kept` with the label of each (`labels` has one for every pair of the log)."""
    queries = {q: (query_id(clicks.queries[q]), clicks.queries[q]) for q in clicks.pair_query[kept].tolist()}
    rows = zip(
        clicks.pair_query[kept].tolist(), clicks.pair_document[kept].tolist(), labels[kept].tolist(), strict=True
    )
    return [ClickPair(*queries[q], clicks.doc_ids[d], clicks.titles[d], label) for q, d, label in rows]

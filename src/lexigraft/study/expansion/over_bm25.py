"""BM25 with expanded queries or documents, beside plain BM25, on a collection (X3).

OUT/bm25/{vectors,index}/          of the documents as they are, unless an index is given
OUT/counts/                        their terms, counted, for RM3
OUT/doc2query/{vectors,index}/     of the documents with what was generated for them
OUT/SYSTEM/queries/                the query vectors that were searched with (`query-vectors`)
OUT/SYSTEM/run.trec row.json       what they found, and what that is worth
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.core.types import Query, SparseMatrix
from lexigraft.expand import generated, rm3
from lexigraft.expand.generated import REPEATS, open_generated
from lexigraft.expand.settings import Rm3Settings
from lexigraft.index.inverted import Index
from lexigraft.search.encoded_index import EncodedIndex
from lexigraft.search.searcher import Searcher
from lexigraft.study.expansion.report import measured_system
from lexigraft.study.expansion.work import (
    begin,
    lexical_index,
    notes,
    open_lexical,
    require_same_reading,
    require_same_rows,
    term_counts,
)
from lexigraft.vectors.counts import open_counts

PLAIN, RM3, QUERY2DOC, DOC2QUERY = "bm25", "rm3", "query2doc", "doc2query"


def expand_rm3(
    source: str, out: Path, settings: Settings, how: Rm3Settings, index: Path | None = None, split: str = "auto",
    progress: Progress = SILENT,
) -> list[dict[str, Any]]:  # fmt: skip
    """RM3 over the BM25 index at `index` (None: one is made), whose documents are those of `source`. Gives the report's
    rows: plain BM25, then RM3."""
    with begin(source, out, settings, split, progress) as work:
        place = index or lexical_index(work, PLAIN)
        opened, reading = open_lexical(place)
        require_same_reading(work, opened, place)
        counts = open_counts(term_counts(work, opened, reading))
        require_same_rows(work, opened, place, counts.n_rows)
        asked = work.asked(opened)
        plain = _encoded(asked.queries, opened, place)
        searcher = Searcher(opened, settings.search.method)
        expanded = rm3.expanded_queries(plain, searcher, counts, how, progress)
        same = sum(_same_row(plain, expanded, row) for row in range(plain.n_rows))
        return [
            measured_system(work, PLAIN, asked, plain, opened, {}),
            measured_system(work, RM3, asked, expanded, opened, {"unexpanded": same, **asdict(how)}),
        ]


def expand_query2doc(
    source: str, file: Path, out: Path, settings: Settings, repeats: int = REPEATS, index: Path | None = None,
    split: str = "auto", progress: Progress = SILENT,
) -> list[dict[str, Any]]:  # fmt: skip
    """Query2Doc with the texts of `file` over the BM25 index at `index` (None: one is made). Rows as `expand_rm3`."""
    with begin(source, out, settings, split, progress) as work, open_generated(file) as texts:
        place = index or lexical_index(work, PLAIN)
        opened, _ = open_lexical(place)
        asked = work.asked(opened)
        encoder = EncodedIndex(place, opened).encoder
        expanded = generated.expanded_queries(asked.queries, texts, encoder, opened.vocabulary, repeats)
        facts = {"repeats": repeats, **texts.report("queries")}
        return [
            measured_system(work, PLAIN, asked, _encoded(asked.queries, opened, place), opened, {}),
            measured_system(work, QUERY2DOC, asked, expanded, opened, facts),
        ]


def expand_doc2query(
    source: str, file: Path, out: Path, settings: Settings, index: Path | None = None, split: str = "auto",
    progress: Progress = SILENT,
) -> list[dict[str, Any]]:  # fmt: skip
    """DocT5Query with the texts of `file`: a BM25 index of the longer documents, beside that of the documents as they
    are at `index` (None: one is made), whose words and k1 and b both have. Rows as `expand_rm3`."""
    with begin(source, out, settings, split, progress) as work:
        place = index or lexical_index(work, PLAIN)
        opened, reading = open_lexical(place)
        require_same_reading(work, opened, place)
        longer_place = lexical_index(work, DOC2QUERY, file, reading)
        longer, _ = open_lexical(longer_place)
        facts = notes(work.out / DOC2QUERY / "vectors")
        rows = []
        for system, at, there, noted in ((PLAIN, place, opened, {}), (DOC2QUERY, longer_place, longer, facts)):
            asked = work.asked(there)
            rows.append(measured_system(work, system, asked, _encoded(asked.queries, there, at), there, noted))
        return rows


def _encoded(queries: list[Query], index: Index, place: Path) -> SparseMatrix:
    return EncodedIndex(place, index).encode_queries(queries)


def _same_row(left: SparseMatrix, right: SparseMatrix, row: int) -> bool:
    """The same terms with the same weights: feedback may only weigh a query's own words anew."""
    return all(np.array_equal(one, other) for one, other in zip(left.row(row), right.row(row), strict=True))

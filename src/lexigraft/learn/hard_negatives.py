"""The hard negatives of training queries: what a run ranked high for them and no judgement calls relevant (F1)."""

import logging
from array import array
from collections.abc import Collection as Names
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError
from lexigraft.core.trec_ids import known_as
from lexigraft.core.types import Qrel
from lexigraft.data.readers.scores import read_scores
from lexigraft.train.ranking.negatives import HardNegatives
from lexigraft.vocab.expansions import split_expansion

log = logging.getLogger(__name__)


class Candidates(NamedTuple):
    """Candidate i: document doc_ids[documents[i]], as the file names it, is a negative of training query queries[i].
    Queries ascend; of one query, the highest document comes first."""

    queries: NDArray[np.int64]
    documents: NDArray[np.int64]
    doc_ids: list[str]


def read_candidates(path: Path, train: Sequence[Qrel], known: Names[str], depth: int) -> Candidates:
    """For each query of the positive judgements `train`, numbered as they first come, the `depth` highest documents of
    the run at `path` that those do not name. Lines of queries that are not among `known` are counted in a warning."""
    numbers = {query: number for number, query in enumerate(dict.fromkeys(qrel.query_id for qrel in train))}
    documents: dict[str, int] = {}
    queries, found, scores, ranks = array("q"), array("q"), array("d"), array("q")
    n_unknown, example = 0, ""
    for pair in read_scores(path):
        query, document = known_as(pair.query_id, known), pair.doc_id
        if query in numbers:
            queries.append(numbers[query])
            found.append(documents.setdefault(document, len(documents)))
            scores.append(pair.score)
            ranks.append(pair.rank)
        elif query not in known:
            n_unknown, example = n_unknown + 1, example or query
    if n_unknown:
        log.warning("%s: %d lines are left out, their query is unknown (such as %s)", path, n_unknown, example)
    order = np.lexsort((np.array(ranks), -np.array(scores), np.array(queries)))
    asked, ranked = np.array(queries, np.int64)[order], np.array(found, np.int64)[order]
    judged = [(numbers[qrel.query_id], documents.get(qrel.doc_id, -1)) for qrel in train]
    chosen = first_unjudged(asked, ranked, np.array(judged, np.int64).reshape(-1, 2), depth)
    used, inverse = np.unique(ranked[chosen], return_inverse=True)
    doc_ids = list(documents)
    return Candidates(asked[chosen], inverse, [doc_ids[number] for number in used.tolist()])


def first_unjudged(
    queries: NDArray[np.int64], documents: NDArray[np.int64], judged: NDArray[np.int64], depth: int
) -> NDArray[np.int64]:
    """The places of the first `depth` documents of each query that are not among its `judged` ones, each once.

    `queries` ascends, with its `documents` beside it; `judged` [pairs, 2] holds query and document.
    """
    n_documents = max(documents.max(initial=0), judged[:, 1].max(initial=0)) + 1
    judged = judged[judged[:, 1] >= 0]
    keys = queries * n_documents + documents
    places = np.sort(np.unique(keys, return_index=True)[1])
    places = places[~np.isin(keys[places], judged[:, 0] * n_documents + judged[:, 1])]
    within = np.arange(len(places)) - np.searchsorted(queries[places], queries[places])
    chosen: NDArray[np.int64] = places[within < depth]
    return chosen


def _unexpanded(text: str) -> str:
    """What a document says itself: copies stay copies, whatever was added to each."""
    return split_expansion(text)[0]


class Relevant(NamedTuple):
    """The training pairs as texts: the query's row and the text of its document."""

    query_rows: Sequence[int]
    texts: Sequence[str]


def place_candidates(
    candidates: Candidates,
    query_rows: Sequence[int],
    found_texts: Mapping[str, str],
    document_rows: dict[str, int],
    relevant: Relevant,
    setting: str,
) -> HardNegatives:
    """The candidates as rows of texts. `query_rows[n]` is the row of query number n, -1 where it does not train;
    `found_texts` has the texts by id. Documents that have no row yet are given one, at the end of
    `document_rows`. A candidate with the text of a document relevant to its query is none; one that is unknown is
    counted in a warning."""
    numbers: dict[str, int] = {}  # of texts: equal ones have the same
    known = (found_texts.get(name) for name in candidates.doc_ids)
    text_of = [-1 if text is None else numbers.setdefault(_unexpanded(text), len(numbers)) for text in known]
    if -1 in text_of:
        message = "%s: %d of its documents are left out, they are not in the collection (such as %s)"
        log.warning(message, setting, text_of.count(-1), candidates.doc_ids[text_of.index(-1)])
    rows, texts = (
        np.array(values, np.int64)[at]
        for values, at in ((query_rows, candidates.queries), (text_of, candidates.documents))
    )
    own = [
        row * len(numbers) + numbers[said]
        for row, text in zip(*relevant, strict=True)
        if (said := _unexpanded(text)) in numbers
    ]
    usable = np.flatnonzero((rows >= 0) & (texts >= 0) & ~np.isin(rows * len(numbers) + texts, own))
    if not len(usable):
        raise InputError(
            f"{setting}: no line names a training query and a known document that is not relevant to it; are its ids "
            "the collection's? 'lexigraft mine' writes such a file"
        )
    usable = usable[np.argsort(rows[usable], kind="stable")]
    used, inverse = np.unique(candidates.documents[usable], return_inverse=True)
    places = [document_rows.setdefault(candidates.doc_ids[number], len(document_rows)) for number in used.tolist()]
    indptr = np.searchsorted(rows[usable], np.arange(max(relevant.query_rows) + 2)).astype(np.int64)
    return HardNegatives(indptr, np.array(places, np.int64)[inverse], np.full(len(usable), np.nan, np.float32))

"""What a teacher is trained and validated on: training pairs with their hard negatives, as texts (F1)."""

from collections.abc import Set
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError
from lexigraft.core.settings import FinetuneSettings, TeacherSettings
from lexigraft.core.trec_ids import as_others_write
from lexigraft.data.collection import Collection
from lexigraft.learn.hard_negatives import read_candidates
from lexigraft.learn.training_data import HELD_OUT_SHARE, TRAIN, Pairs, judged_pairs, positives, sample
from lexigraft.train.ranking.cross_encoder import RankingLists, Reranking


class TeacherData(NamedTuple):
    """`lists` and `validation` are rows of `queries` and `documents`; no query is in both."""

    queries: list[str]
    documents: list[str]
    lists: RankingLists
    validation: Reranking | None


def teacher_data(collection: Collection, negatives: Path, apart: Set[str], settings: TeacherSettings) -> TeacherData:
    """The positive training pairs of queries that are not `apart`, with hard negatives from the run at `negatives`. A
    twentieth of these queries, or fewer, validates; there, the negatives are ranked together with the own documents."""
    require_training(collection)
    query_text = {query.query_id: query.text for query in collection.queries()}
    judged = [qrel for qrel in positives(collection.qrels(TRAIN), query_text) if qrel.query_id not in apart]
    if not judged:
        raise InputError(f"{collection.name}: no query that may train a teacher has a positive training judgement")
    candidates = read_candidates(negatives, judged, query_text, settings.depth)
    wanted, hard = {qrel.doc_id for qrel in judged}, as_others_write(set(candidates.doc_ids))
    texts = {
        document.doc_id: document.contents
        for document in collection.documents()
        if document.doc_id in wanted or document.doc_id in hard
    }
    named = FinetuneSettings(negatives=str(negatives), n_negatives=1)
    pairs = judged_pairs(collection.name, judged, candidates, query_text, texts, named)
    query_ids = list(dict.fromkeys(qrel.query_id for qrel in judged if qrel.doc_id in texts))
    n_apart = min(settings.validation_queries, int(len(query_ids) * HELD_OUT_SHARE)) if settings.validate_every else 0
    validating = set(sample(query_ids, n_apart))
    lists, validation = _split(pairs, np.array([query_id in validating for query_id in query_ids]))
    if not len(lists.query_of):
        raise InputError(f"{negatives}: no query that trains has a negative there; mine more: lexigraft mine --depth")
    return TeacherData(pairs.queries, pairs.documents, lists, validation)


def require_training(collection: Collection) -> None:
    if TRAIN not in collection.splits:
        raise InputError(
            f"{collection.name} has no training judgements (qrels/train.tsv) to train a teacher on; add them"
        )


def _split(pairs: Pairs, validates: NDArray[np.bool_]) -> tuple[RankingLists, Reranking | None]:
    """Queries without a negative are in neither: nothing is to be ranked there."""
    assert pairs.negatives is not None, "asked for"
    negatives, query_of, document_of = pairs.negatives, np.array(pairs.query_of), np.array(pairs.document_of)
    has_some = np.diff(negatives.indptr) > 0
    trains = (~validates & has_some)[query_of]
    lists = RankingLists(query_of[trains], document_of[trains], negatives)
    rows = np.flatnonzero(validates & has_some)
    if not len(rows):
        return lists, None
    parts = []
    for number, row in enumerate(rows):
        own = document_of[query_of == row]
        others = negatives.documents[negatives.indptr[row] : negatives.indptr[row + 1]]
        found = np.concatenate((own, others))
        parts.append((np.full(len(found), number), np.full(len(found), row), found, np.arange(len(found)) < len(own)))
    return lists, Reranking(*(np.concatenate(column) for column in zip(*parts, strict=True)))

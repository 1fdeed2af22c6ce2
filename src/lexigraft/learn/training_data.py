"""What a model is trained and validated on: the judged pairs of a collection and their hard negatives, as texts."""

import hashlib
import heapq
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError
from lexigraft.core.named_file import named_file
from lexigraft.core.settings import FinetuneSettings
from lexigraft.core.trec_ids import as_others_write, known_as
from lexigraft.core.types import Qrel
from lexigraft.data.collection import CORPUS, QUERIES, Collection
from lexigraft.data.readers.scores import read_scores
from lexigraft.learn.hard_negatives import Candidates, Relevant, place_candidates, read_candidates
from lexigraft.learn.teacher_scores import TeacherScores
from lexigraft.train.ranking.negatives import HardNegatives

TRAIN, DEV = "train", "dev"
HELD_OUT_SHARE = 0.05  # of the training queries at most, where no other judgements can validate

log = logging.getLogger(__name__)


class Pairs(NamedTuple):
    """The texts of judged pairs, each once. Pair i is queries[query_of[i]] and documents[document_of[i]]."""

    queries: list[str]
    documents: list[str]
    query_of: list[int]
    document_of: list[int]
    negatives: HardNegatives | None = None
    teacher: NDArray[np.float32] | None = None  # its scores of the pairs
    query_ids: Sequence[str] = ()
    doc_ids: Sequence[str] = ()  # as TREC files name them


class ValidationSet(NamedTuple):
    """`wanted[i]` is the place in `documents` of the document that query i wants."""

    queries: list[str]
    documents: list[str]
    wanted: list[int]
    query_ids: Sequence[str] = ()
    doc_ids: Sequence[str] = ()  # as TREC files name them


class TrainingData(NamedTuple):
    pairs: Pairs
    validation: ValidationSet | None


class SampledPairs(NamedTuple):
    """Query i wants document i; `relevant` has all (query, document) of the sample that are known to be relevant."""

    queries: list[str]
    documents: list[str]
    relevant: set[tuple[int, int]]


def sample_pairs(collection: Collection, size: int) -> SampledPairs:
    """At most `size` training pairs of different queries and documents, the same ones at every call."""
    if TRAIN not in collection.splits:
        raise InputError(f"{collection.name} has no training judgements (qrels/train.tsv) to take pairs from; add them")
    query_text = {query.query_id: query.text for query in collection.queries()}
    judged = positives(collection.qrels(TRAIN), query_text)
    known = {document.doc_id for document in collection.documents()} & {qrel.doc_id for qrel in judged}
    wants: dict[str, list[str]] = {}
    for qrel in judged:
        if qrel.doc_id in known:
            wants.setdefault(qrel.query_id, []).append(qrel.doc_id)
    own: dict[str, str] = {}  # document to query
    for query_id in sample(wants, len(wants)):
        if len(own) < size and (doc_id := next((d for d in wants[query_id] if d not in own), None)) is not None:
            own[doc_id] = query_id
    texts = {document.doc_id: document.contents for document in collection.documents() if document.doc_id in own}
    place = {doc_id: at for at, doc_id in enumerate(own)}
    relevant = {(at, place[d]) for at, query_id in enumerate(own.values()) for d in wants[query_id] if d in place}
    return SampledPairs(
        [query_text[query_id] for query_id in own.values()], [texts[doc_id] for doc_id in own], relevant
    )


def training_queries(collection: Collection) -> list[str]:
    """The texts of queries with a positive training judgement; none where there are no such judgements."""
    if TRAIN not in collection.splits:
        return []
    wanted = {qrel.query_id for qrel in collection.qrels(TRAIN) if qrel.relevance > 0}
    return [query.text for query in collection.queries() if query.query_id in wanted]


def training_data(collection: Collection, measured_split: str | None, settings: FinetuneSettings) -> TrainingData:
    """The positive training pairs with their hard negatives and teacher scores, where the settings name some, and,
    unless `finetune.validate_every` is 0, what to validate on: dev queries or, where those are what will be measured or
    are absent, a few training queries, which then do not train.

    Texts of pairs and negatives are held in memory, the rest of the corpus is not.
    """
    query_text = {query.query_id: query.text for query in collection.queries()}
    train, validating = _judgements(collection, measured_split, settings, query_text)
    if both := measured_training_queries(collection, measured_split):
        message = "%d training queries are measured, too (such as %s), and do not train"
        log.warning(message, len(both), min(both))
    candidates = None
    if settings.n_negatives:
        run = named_file("finetune.negatives", settings.negatives)
        candidates = read_candidates(run, train, query_text, settings.negatives_depth)
    pool = (
        set(sample((d.doc_id for d in collection.documents()), settings.validation_documents)) if validating else set()
    )
    wanted = {qrel.doc_id for qrel in (*train, *validating)}
    hard = as_others_write(set(candidates.doc_ids)) if candidates else set[str]()
    texts = {
        document.doc_id: document.contents
        for document in collection.documents()
        if document.doc_id in wanted or document.doc_id in pool or document.doc_id in hard
    }
    pairs = judged_pairs(collection.name, train, candidates, query_text, texts, settings)
    return TrainingData(pairs, _validation_set(validating, pool, query_text, texts, settings.validation_documents))


def held_out(collection: Collection, measured_split: str | None, settings: FinetuneSettings) -> list[Qrel]:
    """The positive judgements that fine-tuning with these settings validates on, and never trains on; none where it
    does not validate."""
    query_text = {query.query_id: query.text for query in collection.queries()}
    return _judgements(collection, measured_split, settings, query_text)[1]


def measured_queries(collection: Collection, measured_split: str | None) -> set[str]:
    """The queries that are measured and so must not train, unless it is the training queries that are measured."""
    if measured_split is None or measured_split == TRAIN:
        return set()
    return {qrel.query_id for qrel in collection.qrels(measured_split)}


def measured_training_queries(collection: Collection, measured_split: str | None) -> set[str]:
    """Those that have training judgements too, and must not train by them."""
    measured = measured_queries(collection, measured_split)
    return {qrel.query_id for qrel in collection.qrels(TRAIN) if qrel.query_id in measured} if measured else measured


def queries_apart(collection: Collection, measured_split: str | None, finetune: FinetuneSettings) -> set[str]:
    """The queries that nothing may have learned from which fine-tuning learns from, a teacher or expansions: those that
    are measured, and those by which it validates. A student would otherwise hear their answers."""
    return measured_queries(collection, measured_split) | {
        qrel.query_id for qrel in held_out(collection, measured_split, finetune)
    }


def _judgements(
    collection: Collection, measured_split: str | None, settings: FinetuneSettings, query_text: dict[str, str]
) -> tuple[list[Qrel], list[Qrel]]:
    """The positive judgements that train and those that validate."""
    train = positives(collection.qrels(TRAIN), query_text)
    measured = measured_queries(collection, measured_split)
    train = [qrel for qrel in train if qrel.query_id not in measured]
    if not settings.validate_every:
        return train, []
    validating: list[Qrel] = []
    if DEV in collection.splits and measured_split != DEV:
        validating = positives(collection.qrels(DEV), query_text)
    validating = validating or train
    few = {qrel.query_id for qrel in train}
    limit = settings.validation_queries if validating is not train else int(len(few) * HELD_OUT_SHARE)
    chosen = set(sample({q.query_id for q in validating}, min(limit, settings.validation_queries)))
    validating = [qrel for qrel in validating if qrel.query_id in chosen]
    return [qrel for qrel in train if qrel.query_id not in chosen], validating


def judged_pairs(
    name: str,
    judged: list[Qrel],
    candidates: Candidates | None,
    query_text: dict[str, str],
    texts: dict[str, str],
    settings: FinetuneSettings,
) -> Pairs:
    """The texts of the judgements whose document is known, then those of their negatives."""
    train = [qrel for qrel in judged if qrel.doc_id in texts]
    if not train:
        raise InputError(f"{name}: no training judgement names a known query and document: nothing to learn from")
    query_row = {query_id: row for row, query_id in enumerate(dict.fromkeys(qrel.query_id for qrel in train))}
    document_row = {doc_id: row for row, doc_id in enumerate(dict.fromkeys(qrel.doc_id for qrel in train))}
    query_of = [query_row[qrel.query_id] for qrel in train]
    document_of = [document_row[qrel.doc_id] for qrel in train]
    queries, documents = [query_text[query_id] for query_id in query_row], [texts[doc_id] for doc_id in document_row]
    if candidates is None:
        return Pairs(queries, documents, query_of, document_of, query_ids=list(query_row), doc_ids=list(document_row))
    candidates = candidates._replace(doc_ids=[known_as(doc_id, texts) for doc_id in candidates.doc_ids])
    rows = dict(document_row)
    numbered = [query_row.get(query_id, -1) for query_id in dict.fromkeys(qrel.query_id for qrel in judged)]
    relevant = Relevant(query_of, [texts[qrel.doc_id] for qrel in train])
    negatives = place_candidates(candidates, numbered, texts, rows, relevant, settings.negatives)
    documents += [texts[doc_id] for doc_id in list(rows)[len(documents) :]]
    pairs = Pairs(queries, documents, query_of, document_of, negatives, query_ids=list(query_row), doc_ids=list(rows))
    return _taught(pairs, query_row, rows, settings.teacher) if settings.teacher else pairs


def _taught(pairs: Pairs, query_row: dict[str, int], document_row: dict[str, int], file: str) -> Pairs:
    """The pairs with the teacher's scores of them and of their negatives."""
    assert pairs.negatives is not None, "the settings ask for them"
    teacher = TeacherScores(named_file("finetune.teacher", file), query_row, document_row)
    own = teacher.of(np.array(pairs.query_of, np.int64), np.array(pairs.document_of, np.int64))
    indptr, documents, _ = pairs.negatives
    scores = teacher.of(np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), documents)
    silent = int(np.isnan(own).sum()), int(np.isnan(scores).sum())
    if silent == (len(own), len(scores)):
        raise InputError(f"{file}: no line scores a training pair or a hard negative; are its ids the collection's?")
    if any(silent):
        message = "%s: no score for %d of %d training pairs and %d of %d negatives: nothing is distilled from those"
        log.warning(message, file, silent[0], len(own), silent[1], len(scores))
    return pairs._replace(negatives=HardNegatives(indptr, documents, scores), teacher=own)


def scores_file(setting: str, value: str) -> Path:
    """The same of a file of scores, of which the first line is read: another kind is told before anything trains."""
    path = named_file(setting, value)
    if next(read_scores(path), None) is None:
        raise InputError(f"{setting} = {value!r} is empty; give a file with a line a pair, or leave the setting empty")
    return path


def _validation_set(
    judged: list[Qrel], pool: set[str], query_text: dict[str, str], texts: dict[str, str], n_documents: int
) -> ValidationSet | None:
    first = {qrel.query_id: qrel.doc_id for qrel in reversed(judged) if qrel.doc_id in texts}
    if not first:
        return None
    relevant = {qrel.doc_id for qrel in judged}
    ranked = list(dict.fromkeys([*first.values(), *sorted(pool - relevant)]))[: max(n_documents, len(first))]
    place = {doc_id: at for at, doc_id in enumerate(ranked)}
    queries, wanted = [query_text[query] for query in first], [place[doc_id] for doc_id in first.values()]
    return ValidationSet(queries, [texts[doc_id] for doc_id in ranked], wanted, list(first), ranked)


def positives(qrels: list[Qrel], query_text: dict[str, str]) -> list[Qrel]:
    """The positive judgements of queries that are known."""
    return [qrel for qrel in qrels if qrel.relevance > 0 and qrel.query_id in query_text]


def sample(names: Iterable[str], size: int) -> list[str]:
    """`size` of the names, the same whenever and in whatever order they come: those with the lowest hashes."""
    return heapq.nsmallest(size, names, key=lambda name: hashlib.sha256(name.encode("utf-8", "replace")).digest())


def training_files(collection: Collection) -> dict[str, str]:
    """What a model of a collection depends on, by part; raises where there is nothing to learn from."""
    if not can_train(collection):
        raise InputError(
            f"{collection.name} has no training judgements (qrels/train.tsv) to learn from; add them, or "
            "for 'run' leave models out: --set run.systems=bm25"
        )
    return {part: collection.digest(part) for part in (CORPUS, QUERIES, TRAIN)}


def can_train(collection: Collection) -> bool:
    """Whether it has queries and judgements to learn from."""
    return TRAIN in collection.splits and bool(collection.digest(QUERIES))

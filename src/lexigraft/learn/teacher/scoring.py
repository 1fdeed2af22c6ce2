"""A teacher's scores of the pairs of a run, written as a run: to measure it by, and to distil from (F1)."""

import logging
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.artifact import hash_file
from lexigraft.core.continued_file import continued_file
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.folders import make_folders
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.core.trec_ids import known_as
from lexigraft.core.types import Qrel, Ranking
from lexigraft.data.collection import Collection
from lexigraft.data.readers.scores import read_scores
from lexigraft.learn.backbone_choice import file_hashes
from lexigraft.learn.training_data import positives, scores_file
from lexigraft.measure.trec import write_run
from lexigraft.model.backbone import default_device
from lexigraft.model.cross_encoder import CrossEncoder, Lengths, open_cross_encoder
from lexigraft.model.text_pairs import SubwordTexts, read_subwords
from lexigraft.stages.collect import source_description
from lexigraft.stages.vocabularies import judged_collection
from lexigraft.train.ranking.pair_scores import PairTexts, score_pairs

TAG = "teacher"
EVERY_DIGIT = ".9g"  # of a number of 32 bits
QUERIES_AT_ONCE = 64
DOCUMENTS_AT_ONCE = 4096
SECONDS_BETWEEN_MESSAGES = 15.0

log = logging.getLogger(__name__)


class Scored(NamedTuple):
    queries: int
    pairs: int


class WantedPairs(NamedTuple):
    """Query number i, as TREC files name it, is to be scored with the documents doc_ids[documents[j]] for j from
    indptr[i] to indptr[i + 1], each once."""

    query_ids: list[str]
    doc_ids: list[str]
    indptr: NDArray[np.int64]
    documents: NDArray[np.int64]


def score_run(
    name: str,
    source: str,
    pairs: Path,
    out: Path,
    settings: Settings,
    with_positives: str | None = None,
    lengths: Lengths | None = None,
    progress: Progress = SILENT,
) -> Scored:
    """Score the pairs of the run at `pairs` and, where a split is named, its positive judgements, with the
    cross-encoder `name`; write them to `out` as a run, by score. A killed call is continued by the next."""
    if out.is_dir():
        raise ArtifactError(f"{out} is a folder; give the name of a file for the run")
    depends_on: dict[str, Any] = {"model": name, **file_hashes(Path(name))}
    depends_on["pairs"] = hash_file(scores_file("--pairs", str(pairs)))
    with judged_collection(source, settings.data, progress) as collection:
        labelled = collection.qrels(with_positives) if with_positives is not None else []
        depends_on |= {"data": source_description(source, settings.data), "positives": with_positives}
        wanted = wanted_pairs(pairs, labelled, collection)
        model = open_cross_encoder(name, lengths).to(default_device())
        depends_on |= {"lengths": list(model.lengths)}
        make_folders(out.parent)
        return score_to_file(
            model, collection, wanted, out, out.with_name(f".{out.name}.scoring"), depends_on, progress
        )


def wanted_pairs(run: Path, labelled: Iterable[Qrel], collection: Collection) -> WantedPairs:
    """The pairs of the run at `run` and of the positive judgements `labelled`, each once, in the order of their first
    queries. Lines of unknown queries are counted in a warning."""
    query_text = {query.query_id: query.text for query in collection.queries()}
    queries: dict[str, int] = {}
    documents: dict[str, int] = {}
    asked, found, n_unknown, example = array("q"), array("q"), 0, ""
    lines = ((known_as(pair.query_id, query_text), pair.doc_id) for pair in read_scores(run))
    judged = ((qrel.query_id, qrel.doc_id) for qrel in positives(list(labelled), query_text))
    for pairs in (lines, judged):
        for query, document in pairs:
            if query in query_text:
                asked.append(queries.setdefault(query, len(queries)))
                found.append(documents.setdefault(document, len(documents)))
            else:
                n_unknown, example = n_unknown + 1, example or query
    if n_unknown:
        log.warning("%s: %d lines are left out, their query is unknown (such as %s)", run, n_unknown, example)
    if not queries:
        raise InputError(f"{run}: no line names a query of {collection.name}; are its ids the collection's?")
    keys = np.unique(np.array(asked, np.int64) * len(documents) + np.array(found, np.int64))
    indptr = np.searchsorted(keys // len(documents), np.arange(len(queries) + 1)).astype(np.int64)
    return WantedPairs(list(queries), list(documents), indptr, keys % len(documents))


def score_to_file(
    model: CrossEncoder,
    collection: Collection,
    wanted: WantedPairs,
    out: Path,
    work: Path,
    depends_on: Mapping[str, Any],
    progress: Progress = SILENT,
) -> Scored:
    """Write the scores to `out`, which appears whole or not at all. What is done lies in the folder `work` until then;
    a later call that depends on the same goes on from there."""
    model.eval()
    texts, wanted = _read(model, collection, wanted)
    with continued_file(out, work, depends_on) as part:
        first = part.done.get("queries", 0)
        if first:
            log.info("scoring: continuing after %d queries", first)
        for n_done, rankings in _blocks(model, texts, wanted, first, progress):
            write_run(part.file, rankings, TAG, form=EVERY_DIGIT)
            part.keep(queries=n_done)
    return Scored(int((np.diff(wanted.indptr) > 0).sum()), len(wanted.documents))


def _blocks(
    model: CrossEncoder, texts: PairTexts, wanted: WantedPairs, first: int, progress: Progress
) -> Iterator[tuple[int, list[Ranking]]]:
    """(queries done, rankings) of some queries at a time, from number `first` on."""
    n_queries, n_first = len(wanted.query_ids), int(wanted.indptr[first])
    started = spoken = time.monotonic()
    starts = range(first, n_queries, QUERIES_AT_ONCE)
    for start in progress.track(starts, f"scoring, {QUERIES_AT_ONCE} queries at once", len(starts)):
        end = min(start + QUERIES_AT_ONCE, n_queries)
        bounds = wanted.indptr[start : end + 1]
        documents = wanted.documents[bounds[0] : bounds[-1]]
        scores = score_pairs(model, texts, np.repeat(np.arange(start, end), np.diff(bounds)), documents)
        yield end, list(_rankings(wanted, range(start, end), scores))
        if time.monotonic() - spoken > SECONDS_BETWEEN_MESSAGES:
            spoken = time.monotonic()
            rate = (bounds[-1] - n_first) / (spoken - started)
            left = (len(wanted.documents) - bounds[-1]) / rate
            message = "scoring: %d of %d pairs; %.0f pairs/s, %d:%02d left"
            log.info(message, bounds[-1], len(wanted.documents), rate, left // 60, left % 60)


def _rankings(wanted: WantedPairs, queries: range, scores: NDArray[np.float32]) -> Iterator[Ranking]:
    """The rankings of some queries, whose `scores` stand one after the other."""
    before = wanted.indptr[queries.start]
    for query in queries:
        start, end = wanted.indptr[query], wanted.indptr[query + 1]
        found = zip(
            (-scores[start - before : end - before]).tolist(), wanted.documents[start:end].tolist(), strict=True
        )
        ranked = sorted((score, wanted.doc_ids[document]) for score, document in found)
        yield Ranking(wanted.query_ids[query], tuple(doc for _, doc in ranked), tuple(-score for score, _ in ranked))


def _read(model: CrossEncoder, collection: Collection, wanted: WantedPairs) -> tuple[PairTexts, WantedPairs]:
    """The texts of the pairs as subwords, and the pairs whose document is known; `documents` are rows of the former."""
    queries = {query.query_id: query.text for query in collection.queries()}
    asked = read_subwords(model.tokenizer, [queries[name] for name in wanted.query_ids], model.lengths.query)
    number_of = {name: number for number, name in enumerate(wanted.doc_ids)}
    named = (
        (document, number_of[name])
        for document in collection.documents()
        if (name := known_as(document.doc_id, number_of)) in number_of
    )
    row_of, parts, n_read = np.full(len(number_of), -1, np.int64), [], 0
    while some := list(islice(named, DOCUMENTS_AT_ONCE)):
        for row, (document, number) in enumerate(some, n_read):
            # Whoever has the very id is meant, and another that could be written so only where nobody has it.
            if row_of[number] < 0 or document.doc_id == wanted.doc_ids[number]:
                row_of[number] = row
        parts.append(read_subwords(model.tokenizer, [one.contents for one, _ in some], model.lengths.document))
        n_read += len(some)
    if not n_read:
        raise InputError(f"no pair names a document of {collection.name}; are the ids the collection's?")
    if absent := [name for name, row in zip(wanted.doc_ids, row_of, strict=True) if row < 0]:
        message = "%d documents are left out, they are not in the collection (such as %s)"
        log.warning(message, len(absent), absent[0])
    has_text = row_of[wanted.documents] >= 0
    indptr = np.concatenate(([0], np.cumsum(has_text)))[wanted.indptr].astype(np.int64)
    names = [""] * n_read  # of a document that is not meant nothing is asked
    for number in np.flatnonzero(row_of >= 0).tolist():
        names[row_of[number]] = wanted.doc_ids[number]
    known = WantedPairs(wanted.query_ids, names, indptr, row_of[wanted.documents[has_text]])
    return PairTexts(asked, _joined(parts)), known


def _joined(parts: Sequence[SubwordTexts]) -> SubwordTexts:
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return SubwordTexts(indptr, np.concatenate([part.subwords for part in parts]))

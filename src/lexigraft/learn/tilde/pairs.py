"""What TILDE trains on: the judged pairs of a collection and, where a run is given, its first documents of each
training query (X2), as subwords on disk."""

import heapq
import logging
from collections.abc import Iterator, Set
from pathlib import Path

import numpy as np

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.core.named_file import named_file
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.settings import FinetuneSettings, TildeSettings
from lexigraft.core.trec_ids import as_others_write, known_as
from lexigraft.core.types import Vocabulary
from lexigraft.data.collection import Collection
from lexigraft.data.readers.scores import read_scores
from lexigraft.learn.token_cache import open_aligned, write_aligned
from lexigraft.learn.training_data import TRAIN, queries_apart
from lexigraft.train.language.tilde import TildePairs
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.subwords import SubwordTokenizer

QUERIES, DOCUMENTS, FACTS = "queries", "documents", "pairs.json"

log = logging.getLogger(__name__)


def write_pairs(
    collection: Collection,
    measured_split: str | None,
    finetune: FinetuneSettings,
    settings: TildeSettings,
    tokenizer: SubwordTokenizer,
    draft: Path,
) -> None:
    """Write the pairs as subwords into `draft`. Queries that are measured, or that fine-tuning with the settings
    `finetune` validates on, do not train. The corpus is streamed; ids of pairs and texts of queries are held in
    memory."""
    queries, wanted = _queries_with_documents(collection, measured_split, finetune, settings)
    reader = AlignedReader(tokenizer, Vocabulary([]))
    names = as_others_write({doc_id for _, labelled, added in wanted.values() for doc_id in (*labelled, *added)})
    row_of: dict[str, int] = {}

    def contents() -> Iterator[str]:
        for document in collection.documents():
            if document.doc_id in names and document.doc_id not in row_of:
                row_of[document.doc_id] = len(row_of)
                yield document.contents

    write_aligned(draft, DOCUMENTS, contents(), lambda some: reader.read(some, settings.document_length))
    pairs, n_labelled = list[tuple[int, int]](), 0
    used = dict[int, int]()  # query to its row: one without a known document has none
    for number, labelled, added in wanted.values():
        named = (*labelled, *(known_as(doc_id, row_of) for doc_id in added))
        known = [row_of[doc_id] for doc_id in dict.fromkeys(named) if doc_id in row_of]
        n_labelled += sum(doc_id in row_of for doc_id in labelled)
        pairs += [(used.setdefault(number, len(used)), row) for row in known]
    _require_pairs(collection, settings, wanted, row_of, n_labelled, len(pairs))
    write_aligned(
        draft, QUERIES, (queries[number] for number in used), lambda some: reader.read(some, settings.query_length)
    )
    np.save(draft / "pairs.npy", np.array(pairs, np.int64))
    facts = {"queries": len(used), "documents": len(row_of), "labelled": n_labelled, "added": len(pairs) - n_labelled}
    write_json(draft / FACTS, facts)


def open_pairs(folder: Path) -> tuple[TildePairs, dict[str, int]]:
    """What `write_pairs` left, and what it counted."""
    pairs = np.load(folder / "pairs.npy")
    facts: dict[str, int] = read_sealed(folder / FACTS)
    return TildePairs(open_aligned(folder, QUERIES), open_aligned(folder, DOCUMENTS), pairs[:, 0], pairs[:, 1]), facts


_Wanted = dict[str, tuple[int, dict[str, None], list[str]]]  # by query: its number, labelled, added


def _queries_with_documents(
    collection: Collection, measured_split: str | None, finetune: FinetuneSettings, settings: TildeSettings
) -> tuple[list[str], _Wanted]:
    if TRAIN not in collection.splits:
        raise InputError(
            f"{collection.name} has no training judgements (qrels/train.tsv) for TILDE to learn from; add them"
        )
    texts = {query.query_id: query.text for query in collection.queries()}
    apart = queries_apart(collection, measured_split, finetune)
    queries, wanted = list[str](), _Wanted()
    for qrel in collection.qrels(TRAIN):
        if qrel.relevance > 0 and qrel.query_id in texts and qrel.query_id not in apart:
            if qrel.query_id not in wanted:
                wanted[qrel.query_id] = (len(queries), {}, [])
                queries.append(texts[qrel.query_id])
            wanted[qrel.query_id][1][qrel.doc_id] = None
    if settings.positives:
        _add_ranked(wanted, texts.keys(), settings)
    return queries, wanted


def _add_ranked(wanted: _Wanted, known: Set[str], settings: TildeSettings) -> None:
    """Give every training query the first `n_positives` documents of its ranking."""
    path, n_unknown, example = named_file("tilde.positives", settings.positives), 0, ""
    best: dict[str, list[tuple[float, int, str]]] = {}
    for pair in read_scores(path):
        query = known_as(pair.query_id, known)
        if query in wanted:
            ranked, item = best.setdefault(query, []), (pair.score, -pair.rank, pair.doc_id)
            if len(ranked) < settings.n_positives:
                heapq.heappush(ranked, item)
            else:
                heapq.heappushpop(ranked, item)
        elif query not in known:
            n_unknown, example = n_unknown + 1, example or query
    if not best:
        raise InputError(
            f"tilde.positives = {settings.positives!r}: no line names a training query; are its ids the collection's? "
            "'lexigraft fuse --method borda' writes such a file of several runs over training queries"
        )
    if n_unknown:
        log.warning("%s: %d lines are left out, their query is unknown (such as %s)", path, n_unknown, example)
    for query, ranked in best.items():
        wanted[query][2].extend(doc_id for _, _, doc_id in sorted(ranked, reverse=True))


def _require_pairs(
    collection: Collection,
    settings: TildeSettings,
    wanted: _Wanted,
    row_of: dict[str, int],
    n_labelled: int,
    n_pairs: int,
) -> None:
    """Raise where nothing, or nothing of the run, is known; say how much of the run is not."""
    added = [doc_id for _, _, ranked in wanted.values() for doc_id in ranked]
    unknown = [doc_id for doc_id in added if doc_id not in row_of]
    if added and len(unknown) == len(added):
        raise InputError(
            f"tilde.positives = {settings.positives!r}: none of its documents (such as {unknown[0]}) is in the "
            "collection; is it a run over these documents?"
        )
    if unknown:
        message = "tilde.positives: %d of %d documents are left out, they are not in the collection (such as %s)"
        log.warning(message, len(unknown), len(added), unknown[0])
    if not n_pairs:
        raise InputError(
            f"{collection.name}: no training judgement names a known query and document: nothing to learn from"
        )

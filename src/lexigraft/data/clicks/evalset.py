"""An evaluation set of queries whose words mislead (D3, vocabulary study §4.1).

Every query comes with its best positives and with hard negatives: documents that hold most of its terms and belong to
another cluster of meaning. Queries are taken evenly from the clusters, and evenly from three levels of difficulty, by
how many of their terms their positives hold.
"""

import hashlib
import json
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.clicks.settings import EvalSettings
from lexigraft.data.clicks.termmatch import TermMatcher
from lexigraft.data.write import write_collection

TERCILES = ("low", "middle", "high")
SPLIT = "test"

log = logging.getLogger(__name__)
Terms = Callable[[str], Set[str]]


@dataclass(frozen=True)
class Triplet:
    """A query with what it should find and what it should not; `ratio` is the share of its terms that the positive
    which holds most of them holds."""

    query_id: str
    cluster: int
    ratio: float
    tercile: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...]


@dataclass(frozen=True)
class EvalSet:
    triplets: Sequence[Triplet]  # by query_id
    labels: Mapping[tuple[str, str], int]  # of the positives, by (query_id, doc_id)
    candidates: int
    complete: int
    dropped: Mapping[str, int]  # queries, by reason
    unknown_documents: int  # positive judgements of documents that are not there

    @property
    def doc_ids(self) -> list[str]:
        """The documents that it judges, sorted."""
        return sorted({doc for triplet in self.triplets for doc in (*triplet.positives, *triplet.negatives)})


def make_evalset(
    queries: Mapping[str, str],
    documents: Mapping[str, str],
    positives: Iterable[Qrel],
    clusters: Mapping[str, int],
    terms: Terms,
    settings: EvalSettings,
    seed: int = 0,
    wanted: Set[str] | None = None,
    progress: Progress = SILENT,
) -> EvalSet:
    """`queries` and `documents` are texts by id, `terms` gives the distinct terms of a text. Only queries in `wanted`
    (all, where None) become candidates; the positives of every query with a cluster are what negatives come from, and
    what they may not be. The order of the inputs does not matter.
    """
    dropped: Counter[str] = Counter()
    judged = [qrel for qrel in positives if qrel.relevance > 0]
    unknown = sum(qrel.doc_id not in documents for qrel in judged)
    if unknown:
        log.warning("%d of %d positive judgements dropped: their document is unknown", unknown, len(judged))
    labels = _usable(queries, documents, judged, clusters, dropped)
    wanted = queries.keys() if wanted is None else wanted
    dropped["no positive"] += len((wanted & clusters.keys()) - labels.keys())
    sources = _Sources(documents, labels, clusters, terms)
    candidates = _candidates(wanted & labels.keys(), clusters, settings, seed)
    found: list[Triplet] = []
    for query in progress.track(candidates, "matching queries", len(candidates)):
        asked = terms(queries[query])
        if not asked:
            dropped["no terms in the query"] += 1
            continue
        negatives = sources.negatives(asked, clusters[query], settings)
        if not negatives:
            dropped["no negative above the threshold"] += 1
            continue
        ratio = max(len(asked & terms(documents[doc])) for doc in labels[query]) / len(asked)
        best = sorted(labels[query], key=lambda doc: (-labels[query][doc], doc))[: settings.positives]
        found.append(Triplet(query, clusters[query], ratio, "", tuple(best), negatives))
    for reason, count in sorted(dropped.items()):
        if count:
            log.info("%d queries dropped: %s", count, reason)
    chosen = _choose(found, candidates, settings)
    kept = {(t.query_id, doc): labels[t.query_id][doc] for t in chosen for doc in t.positives}
    return EvalSet(chosen, kept, len(candidates), len(found), dict(sorted(dropped.items())), unknown)


def _usable(
    queries: Mapping[str, str],
    documents: Mapping[str, str],
    positives: Iterable[Qrel],
    clusters: Mapping[str, int],
    dropped: Counter[str],
) -> dict[str, dict[str, int]]:
    """Label of every known positive, by query and document."""
    labels: dict[str, dict[str, int]] = defaultdict(dict)
    for qrel in positives:
        if qrel.doc_id in documents:
            labels[qrel.query_id][qrel.doc_id] = max(qrel.relevance, labels[qrel.query_id].get(qrel.doc_id, 0))
    for query in list(labels):
        if query not in queries or query not in clusters:
            dropped["unknown text" if query not in queries else "no cluster"] += 1
            del labels[query]
    return dict(labels)


def _candidates(names: Iterable[str], clusters: Mapping[str, int], settings: EvalSettings, seed: int) -> list[str]:
    """Queries in rounds: the first round has one of every cluster, the next another of every cluster that has one, and
    so on; so that any beginning of the list is as even over the clusters as they allow."""
    drawn = sorted(names, key=lambda name: hashlib.sha256(f"{seed}\t{name}".encode()).digest())
    rounds: Counter[int] = Counter()
    order = []
    for place, name in enumerate(drawn):
        order.append((rounds[clusters[name]], place, name))
        rounds[clusters[name]] += 1
    return [name for _, _, name in sorted(order)][: settings.n_candidates]


class _Sources:
    """The documents that are positive of some query, what they hold, and in which clusters they are positive."""

    def __init__(
        self,
        documents: Mapping[str, str],
        labels: Mapping[str, Mapping[str, int]],
        clusters: Mapping[str, int],
        terms: Terms,
    ) -> None:
        self._doc_ids = sorted({doc for found in labels.values() for doc in found})
        number = {doc: place for place, doc in enumerate(self._doc_ids)}
        inside: dict[int, set[int]] = defaultdict(set)
        for query, found in labels.items():
            inside[clusters[query]].update(number[doc] for doc in found)
        self._of_cluster: dict[int, NDArray[np.int64]] = {
            cluster: np.fromiter(sorted(numbers), np.int64, len(numbers)) for cluster, numbers in inside.items()
        }
        self._matcher = TermMatcher(terms(documents[doc]) for doc in self._doc_ids)

    def negatives(self, asked: Set[str], cluster: int, settings: EvalSettings) -> tuple[str, ...]:
        """The best matches that are positive in other clusters only; ties by doc_id, which is their order here."""
        matches = self._matcher.above(asked, settings.threshold)
        foreign = ~np.isin(matches.documents, self._of_cluster[cluster], assume_unique=True)
        found, counts = matches.documents[foreign], matches.counts[foreign]
        best = np.lexsort((found, -counts))[: settings.negatives]
        return tuple(self._doc_ids[place] for place in found[best].tolist())


def _choose(found: Sequence[Triplet], candidates: Sequence[str], settings: EvalSettings) -> list[Triplet]:
    """The same number from each tercile of the ratio, in the order of the candidates, which is even over clusters."""
    if len(found) < len(TERCILES):
        raise InputError(
            f"only {len(found)} of {len(candidates)} candidate queries have a positive and a negative, fewer than one "
            f"for each tercile; lower --threshold ({settings.threshold}), or give more queries or more clusters"
        )
    ranked = sorted(found, key=lambda triplet: (triplet.ratio, triplet.query_id))
    edges = [round(len(ranked) * part / len(TERCILES)) for part in range(len(TERCILES) + 1)]
    place = {query: at for at, query in enumerate(candidates)}
    parts = [sorted(ranked[start:end], key=lambda triplet: place[triplet.query_id]) for start, end in pairwise(edges)]
    size = min(settings.queries // len(TERCILES), *map(len, parts))
    if size < settings.queries // len(TERCILES):
        log.warning(
            "%d queries instead of %d: only %d candidates have a positive and a negative",
            size * len(TERCILES), settings.queries, len(found),
        )  # fmt: skip
    chosen = [
        replace(triplet, tercile=name) for name, part in zip(TERCILES, parts, strict=True) for triplet in part[:size]
    ]
    return sorted(chosen, key=lambda triplet: triplet.query_id)


def write_evalset(
    folder: Path,
    found: EvalSet,
    queries: Mapping[str, str],
    documents: Mapping[str, Document],
    background: Iterable[Document] = (),
) -> None:
    """BEIR layout, negatives with relevance 0, and `evalset.jsonl`, a line a query. The corpus is what is judged, then
    the background."""
    qrels = [
        Qrel(t.query_id, doc, found.labels.get((t.query_id, doc), 0))
        for t in found.triplets
        for doc in (*t.positives, *t.negatives)
    ]
    texts = [Query(triplet.query_id, queries[triplet.query_id]) for triplet in found.triplets]
    corpus = chain((documents[doc] for doc in found.doc_ids), background)
    write_collection(folder, corpus, texts, {SPLIT: qrels})
    with (folder / "evalset.jsonl").open("w", encoding="utf-8") as file:
        for triplet in found.triplets:
            file.write(json.dumps(asdict(triplet), ensure_ascii=False) + "\n")

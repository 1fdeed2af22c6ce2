"""The four sets made of clustered click pairs (D2, vocabulary study §3.2.1-3.2.3).

    testset         of every cluster, some queries with their documents, and the documents of some distractor queries
    validset        as the testset, but smaller
    trainset-small  all other clustered queries
    trainset        those and the pairs of further logs

A query of the testset or validset, distractors included, never trains, from whatever log it comes. A document that is
positive in a set is never a distractor there. Titles may repeat across sets.
"""

import hashlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice

from lexigraft.core.errors import InputError
from lexigraft.core.types import Query
from lexigraft.data.clicks.log import ClickPair
from lexigraft.data.clicks.settings import SetSizes

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ClickSet:
    """Pairs sorted by (query_id, doc_id). A distractor query may have lost all its pairs; it is named all the same."""

    positives: Sequence[ClickPair]
    distractors: Sequence[ClickPair] = ()
    distractor_queries: Sequence[Query] = ()


@dataclass(frozen=True)
class ClickSets:
    test: ClickSet
    valid: ClickSet
    train_small: ClickSet
    train: ClickSet
    short_clusters: int  # clusters with fewer queries than the sets want of each
    dropped: Mapping[str, int]  # pairs, by reason


def make_sets(
    pairs: Iterable[ClickPair],
    cluster_of: Mapping[str, int],
    sizes: SetSizes,
    further: Iterable[ClickPair] = (),
    seed: int = 0,
) -> ClickSets:
    """Draw the sets; `cluster_of` has every query of `pairs`. The order of the pairs does not matter.

    A cluster with too few queries gives all it has, proportionally, and trains nothing. Raises where nothing at all is
    left to train on.
    """
    of_query: dict[str, list[ClickPair]] = defaultdict(list)
    for pair in sorted(pairs):
        of_query[pair.query_id].append(pair)
    members: dict[int, list[str]] = defaultdict(list)
    for query in sorted(of_query, key=lambda query: _draw(seed, query)):
        members[cluster_of[query]].append(query)
    drawn, short = _draw_roles(members, sizes)
    test, test_lost = _held_out(drawn["test_queries"], drawn["test_distractors"], of_query)
    valid, valid_lost = _held_out(drawn["valid_queries"], drawn["valid_distractors"], of_query)
    held_out = {query for role, queries in drawn.items() if role != "train" for query in queries}
    small = [pair for query in drawn["train"] for pair in of_query[query]]
    more = list(further)
    added = [pair for pair in more if pair.query_id not in held_out]
    if not small and not added:
        raise InputError(
            f"nothing is left to train on: the sets take {sizes.per_cluster} queries from each cluster, and the "
            f"{len(members)} clusters hold {len(of_query)} together; ask for fewer clusters (--clusters) or smaller "
            "sets (--test-queries, --test-distractors), or give a log of more queries"
        )
    dropped = {
        "distractor document is a positive of the testset": test_lost,
        "distractor document is a positive of the validset": valid_lost,
        "further log's query is in the testset or validset": len(more) - len(added),
    }
    for reason, count in dropped.items():
        if count:
            log.info("%d pairs dropped: %s", count, reason)
    if short:
        log.warning(
            "%d of %d clusters have fewer than the %d queries that the testset and validset want of each: they took "
            "proportionally fewer, and of those clusters nothing trains; fewer clusters or smaller sets help",
            short, len(members), sizes.per_cluster,
        )  # fmt: skip
    return ClickSets(test, valid, ClickSet(sorted(small)), ClickSet(_merged([*small, *added])), short, dropped)


def _draw(seed: int, query: str) -> bytes:
    """A random order of queries that does not depend on which others there are."""
    return hashlib.sha256(f"{seed}\t{query}".encode()).digest()


def _draw_roles(members: Mapping[int, list[str]], sizes: SetSizes) -> tuple[dict[str, list[str]], int]:
    """Queries by role (a field of `SetSizes`, or "train"), and the number of short clusters."""
    # The largest role comes last: of a short cluster it takes what the others leave, so that nothing is cut off.
    wanted = dict(sorted(((f.name, getattr(sizes, f.name)) for f in fields(sizes)), key=lambda role: role[1]))
    last = next(reversed(wanted))
    drawn: dict[str, list[str]] = {role: [] for role in (*wanted, "train")}
    # Shares of short clusters are fractions; what is cut off one is owed to the next, so that over many small clusters
    # even a role that wants one query of each gets its proportion.
    owed = dict.fromkeys(wanted, 0.0)
    short = 0
    for cluster in sorted(members):
        queries, n_queries = iter(members[cluster]), len(members[cluster])
        is_short = n_queries < sizes.per_cluster
        short += is_short
        for role, count in wanted.items():
            if not is_short:
                drawn[role] += islice(queries, count)
            elif role == last:
                drawn[role] += queries
            else:
                owed[role] += count * n_queries / sizes.per_cluster
                taken = list(islice(queries, int(owed[role] + 1e-9)))
                owed[role] -= len(taken)
                drawn[role] += taken
        drawn["train"] += queries
    return drawn, short


def _held_out(
    queries: list[str], distractors: list[str], of_query: Mapping[str, list[ClickPair]]
) -> tuple[ClickSet, int]:
    """A test or valid set, and how many distractor pairs it lost to its positives."""
    positives = [pair for query in queries for pair in of_query[query]]
    positive_documents = {pair.doc_id for pair in positives}
    candidates = [pair for query in distractors for pair in of_query[query]]
    kept = [pair for pair in candidates if pair.doc_id not in positive_documents]
    named = sorted(Query(query, of_query[query][0].query) for query in distractors)
    return ClickSet(sorted(positives), sorted(kept), named), len(candidates) - len(kept)


def _merged(pairs: Iterable[ClickPair]) -> list[ClickPair]:
    """One pair per query and document, labels added up; of several titles of a document the alphabetically first."""
    merged: dict[tuple[str, str], ClickPair] = {}
    titles: dict[str, str] = {}
    for pair in pairs:
        key = pair.query_id, pair.doc_id
        before = merged.get(key)
        merged[key] = pair if before is None else before._replace(label=before.label + pair.label)
        titles[pair.doc_id] = min(pair.title, titles.get(pair.doc_id, pair.title))
    return sorted(pair._replace(title=titles[pair.doc_id]) for pair in merged.values())

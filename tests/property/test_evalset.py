"""The rules of evaluation sets, on any collection, against the rules written out naively."""

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lexigraft.core.errors import InputError
from lexigraft.core.types import Qrel
from lexigraft.data.clicks.evalset import TERCILES, make_evalset
from lexigraft.data.clicks.settings import EvalSettings
from lexigraft.data.clicks.termmatch import TermMatcher

WORDS = st.lists(st.sampled_from("abcde"), max_size=5).map(" ".join)


def terms(text):
    return set(text.split())


@st.composite
def worlds(draw):
    queries = {f"q{n}": draw(WORDS) for n in range(draw(st.integers(8, 14)))}
    documents = {f"d{n}": draw(WORDS) for n in range(draw(st.integers(6, 10)))}
    names = st.lists(st.sampled_from(sorted(documents)), max_size=3, unique=True)
    positives = [Qrel(query, doc, draw(st.integers(0, 3))) for query in queries for doc in draw(names)]
    clusters = {query: draw(st.integers(0, 3)) for query in queries if draw(st.integers(0, 9))}
    return queries, documents, positives, clusters


SETTINGS = EvalSettings(queries=9, positives=2, negatives=3, threshold=0.5)


def evalset_of(world, wanted=SETTINGS, **options):
    try:
        return make_evalset(*world, terms, wanted, **options)
    except InputError:
        assume(False)


@settings(max_examples=50)
@given(worlds(), st.sampled_from([0.0, 0.3, 0.5, 0.9]))
def test_every_triplet_follows_the_rules(world, threshold):
    queries, documents, positives, clusters = world
    wanted = EvalSettings(queries=9, positives=2, negatives=3, threshold=threshold)
    labels = {(q.query_id, q.doc_id): q.relevance for q in positives if q.relevance > 0 and q.query_id in clusters}
    found = evalset_of(world, wanted)
    assert [t.query_id for t in found.triplets] == sorted({t.query_id for t in found.triplets})
    for triplet in found.triplets:
        asked = terms(queries[triplet.query_id])
        own = [doc for query, doc in labels if query == triplet.query_id]
        assert triplet.cluster == clusters[triplet.query_id]

        def share(doc, asked=asked):
            return len(asked & terms(documents[doc])) / len(asked)

        assert triplet.ratio == max(map(share, own))
        assert list(triplet.positives) == sorted(own, key=lambda d: (-labels[triplet.query_id, d], d))[:2]
        in_cluster = {doc for query, doc in labels if clusters[query] == triplet.cluster}
        elsewhere = {doc for query, doc in labels if clusters[query] != triplet.cluster}
        allowed = [doc for doc in elsewhere - in_cluster if share(doc) > threshold]
        assert list(triplet.negatives) == sorted(allowed, key=lambda d: (-share(d), d))[:3]
        assert triplet.positives
        assert triplet.negatives
        assert all(found.labels[triplet.query_id, doc] > 0 for doc in triplet.positives)


@settings(max_examples=50)
@given(worlds())
def test_terciles_are_even_and_ordered(world):
    found = evalset_of(world)
    sizes = Counter(triplet.tercile for triplet in found.triplets)
    assert set(sizes) == set(TERCILES)
    assert len(set(sizes.values())) == 1
    assert sizes["low"] == min(3, found.complete // 3)
    levels = {name: [(t.ratio, t.query_id) for t in found.triplets if t.tercile == name] for name in TERCILES}
    assert max(levels["low"]) < min(levels["middle"])
    assert max(levels["middle"]) < min(levels["high"])


@settings(max_examples=50)
@given(worlds())
def test_every_candidate_is_accounted_for(world):
    found = evalset_of(world)
    after = ("no terms in the query", "no negative above the threshold")
    assert found.candidates == found.complete + sum(found.dropped.get(reason, 0) for reason in after)
    before = found.dropped["no positive"] + found.dropped.get("no cluster", 0)
    # A query without a cluster and without a positive was never in question.
    judged = {qrel.query_id for qrel in world[2] if qrel.relevance > 0}
    assert found.candidates + before == sum(query in world[3] or query in judged for query in world[0])


@settings(max_examples=50)
@given(worlds(), st.randoms(use_true_random=False), st.integers(0, 3))
def test_the_order_of_the_input_does_not_matter(world, random, seed):
    queries, documents, positives, clusters = world

    def shuffled(mapping):
        return dict(random.sample(list(mapping.items()), len(mapping)))

    other = shuffled(queries), shuffled(documents), random.sample(positives, len(positives)), shuffled(clusters)
    assert evalset_of(other, seed=seed) == evalset_of(world, seed=seed)


def even_world():
    """Three clusters of 30, 6 and 6 queries; every document matches every query, and each query owns one."""
    sizes = {0: 30, 1: 6, 2: 6}
    clusters = {f"q{c}-{n}": c for c, size in sizes.items() for n in range(size)}
    queries = dict.fromkeys(clusters, "a b")
    documents = {query.replace("q", "d"): "a b" for query in clusters}
    return queries, documents, [Qrel(q, q.replace("q", "d"), 1) for q in clusters], clusters


def test_candidates_are_even_over_the_clusters():
    found = make_evalset(*even_world(), terms, EvalSettings(queries=18, candidates=18))
    assert Counter(triplet.cluster for triplet in found.triplets) == {0: 6, 1: 6, 2: 6}
    found = make_evalset(*even_world(), terms, EvalSettings(queries=24, candidates=24))
    assert Counter(triplet.cluster for triplet in found.triplets) == {0: 12, 1: 6, 2: 6}  # as far as they go


def test_by_default_five_candidates_a_query_are_drawn():
    found = make_evalset(*even_world(), terms, EvalSettings(queries=3))
    assert found.candidates == 15


def test_only_wanted_queries_are_candidates_but_all_say_what_belongs_together():
    queries, documents, positives, clusters = even_world()
    wanted = {query for query in queries if query.startswith("q0")}
    found = make_evalset(queries, documents, positives, clusters, terms, EvalSettings(queries=9), 0, wanted)
    assert {triplet.query_id[:2] for triplet in found.triplets} == {"q0"}
    assert {doc[:2] for triplet in found.triplets for doc in triplet.negatives} <= {"d1", "d2"}
    assert found.candidates == 30


def test_judgements_of_unknown_documents_are_counted(caplog):
    queries, documents, positives, clusters = even_world()
    more = [*positives, Qrel("q0-0", "absent", 3), Qrel("q0-0", "absent too", 0)]
    found = make_evalset(queries, documents, more, clusters, terms, EvalSettings(queries=3))
    assert found.unknown_documents == 1
    assert "1 of 43 positive judgements dropped: their document is unknown" in caplog.text


def test_too_few_triplets():
    with pytest.raises(InputError, match=r"only 0 of 1 candidate queries.*lower --threshold"):
        make_evalset({"q": "a"}, {"d": "a"}, [Qrel("q", "d", 1)], {"q": 0}, terms, SETTINGS)


@given(st.lists(st.sets(st.sampled_from("abcdefghij")), max_size=12), st.sets(st.sampled_from("abcdefghijk")),
       st.floats(0, 0.99))  # fmt: skip
def test_inverted_lists_find_what_a_scan_finds(documents, asked, threshold):
    found = TermMatcher(documents).above(asked, threshold)
    expected = [
        (number, len(asked & document))
        for number, document in enumerate(documents)
        if asked and len(asked & document) / len(asked) > threshold + 1e-9
    ]
    assert list(zip(found.documents.tolist(), found.counts.tolist(), strict=True)) == expected

"""The rules of the four sets, on any pairs and clusters."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lexigraft.core.errors import InputError
from lexigraft.data.clicks.log import ClickPair
from lexigraft.data.clicks.sets import make_sets
from lexigraft.data.clicks.settings import SetSizes

SIZES = SetSizes(test_queries=2, test_distractors=3, valid_queries=1, valid_distractors=1)


def pair(query, document, label=1):
    return ClickPair(f"q{query:03}", f"query {query}", f"d{document:03}", f"title {document}", label)


@st.composite
def worlds(draw):
    """(pairs, cluster of each query, pairs of a further log) with documents that many queries share."""
    queries = draw(st.lists(st.integers(0, 60), min_size=1, max_size=45, unique=True))
    clusters = {f"q{query:03}": draw(st.integers(0, 3)) for query in queries}
    documents = st.lists(st.integers(0, 25), min_size=1, max_size=5, unique=True)
    pairs = [pair(query, document, draw(st.integers(1, 9))) for query in queries for document in draw(documents)]
    further_queries = draw(st.lists(st.integers(0, 80), max_size=10, unique=True))
    further = [pair(query, document) for query in further_queries for document in draw(documents)]
    return pairs, clusters, further


def sets_of(world, seed=0, sizes=SIZES):
    pairs, clusters, further = world
    try:
        return make_sets(pairs, clusters, sizes, further, seed)
    except InputError:
        assume(False)


def queries_of(pairs):
    return {pair.query_id for pair in pairs}


def held_out(part):
    return queries_of(part.positives) | {query.query_id for query in part.distractor_queries}


@given(worlds(), st.integers(0, 3))
def test_the_exclusion_rules(world, seed):
    pairs, _, further = world
    sets = sets_of(world, seed)
    test, valid = held_out(sets.test), held_out(sets.valid)
    small, train = queries_of(sets.train_small.positives), queries_of(sets.train.positives)
    # No query has two roles, and no query of test or valid trains, through whatever log it comes.
    assert not test & valid
    assert not queries_of(sets.test.positives) & {query.query_id for query in sets.test.distractor_queries}
    assert not queries_of(sets.valid.positives) & {query.query_id for query in sets.valid.distractor_queries}
    assert not (test | valid) & (small | train)
    # Every query has a role: what is not held out trains.
    assert test | valid | small == queries_of(pairs)
    assert train == small | (queries_of(further) - test - valid)
    for part in (sets.test, sets.valid):
        # A positive document is never a distractor, and nothing else is lost: all pairs of a query are there.
        positive = {pair.doc_id for pair in part.positives}
        assert not positive & {pair.doc_id for pair in part.distractors}
        assert set(part.positives) == {pair for pair in pairs if pair.query_id in queries_of(part.positives)}
        distractors = {query.query_id for query in part.distractor_queries}
        assert set(part.distractors) == {
            pair for pair in pairs if pair.query_id in distractors and pair.doc_id not in positive
        }


@given(worlds())
def test_what_was_dropped_is_counted(world):
    pairs, _, further = world
    sets = sets_of(world)
    lost = [reason for reason in sets.dropped if "distractor" in reason]
    written = sum(len(part.positives) + len(part.distractors) for part in (sets.test, sets.valid, sets.train_small))
    assert written + sum(sets.dropped[reason] for reason in lost) == len(pairs)
    from_further = sum(pair.query_id not in held_out(sets.test) | held_out(sets.valid) for pair in further)
    assert sets.dropped["further log's query is in the testset or validset"] == len(further) - from_further


@given(worlds(), st.randoms(use_true_random=False), st.integers(0, 3))
def test_the_order_of_the_input_does_not_matter(world, random, seed):
    pairs, clusters, further = world
    sets = sets_of(world, seed)
    shuffled = random.sample(pairs, len(pairs)), dict(reversed(clusters.items())), random.sample(further, len(further))
    assert sets_of(shuffled, seed) == sets


@given(worlds())
def test_sizes_of_whole_and_short_clusters(world):
    _, clusters, _ = world
    sets = sets_of(world)
    by_cluster = {cluster: [q for q in clusters if clusters[q] == cluster] for cluster in set(clusters.values())}
    short = {cluster for cluster, queries in by_cluster.items() if len(queries) < SIZES.per_cluster}
    assert sets.short_clusters == len(short)
    roles = {
        "test_queries": queries_of(sets.test.positives),
        "test_distractors": {query.query_id for query in sets.test.distractor_queries},
        "valid_queries": queries_of(sets.valid.positives),
        "valid_distractors": {query.query_id for query in sets.valid.distractor_queries},
    }
    assert not queries_of(sets.train_small.positives) & {query for cluster in short for query in by_cluster[cluster]}
    owed = dict.fromkeys(roles, 0.0)
    for role, queries in roles.items():
        wanted = getattr(SIZES, role)
        for cluster, members in by_cluster.items():
            taken = len(queries & set(members))
            if cluster in short:
                owed[role] += wanted * len(members) / SIZES.per_cluster - taken
            else:
                assert taken == wanted
    # Over all short clusters together every role has its proportion, but for what rounding cuts off.
    assert sum(owed.values()) == pytest.approx(0)
    rounded = [debt for role, debt in owed.items() if role != "test_distractors"]
    assert all(debt > -1e-9 for debt in rounded)
    assert sum(rounded) < len(rounded)


def test_another_seed_draws_other_queries():
    pairs = [pair(query, query) for query in range(60)]
    clusters = dict.fromkeys(queries_of(pairs), 0)
    drawn = {tuple(sorted(queries_of(make_sets(pairs, clusters, SIZES, (), seed).test.positives))) for seed in range(9)}
    assert len(drawn) > 5


def test_many_short_clusters_still_make_a_validset():
    pairs = [pair(query, query) for query in range(200)]
    clusters = {f"q{query:03}": query // 5 for query in range(200)}
    sets = make_sets(pairs, clusters, SetSizes(30, 90, 1, 3), [pair(900, 1)])
    assert sets.short_clusters == 40
    assert len(queries_of(sets.test.positives)) == pytest.approx(200 * 30 / 124, abs=1)
    assert len(queries_of(sets.valid.positives)) == pytest.approx(200 * 1 / 124, abs=1)
    assert sets.valid.positives


def test_nothing_left_to_train_on():
    pairs = [pair(query, query) for query in range(7)]
    with pytest.raises(InputError, match=r"nothing is left to train on.*fewer clusters.*smaller sets"):
        make_sets(pairs, dict.fromkeys(queries_of(pairs), 0), SIZES)


def test_labels_of_several_logs_are_added_up():
    pairs = [pair(query, query, 2) for query in range(12)]
    clusters = dict.fromkeys(queries_of(pairs), 0)
    small = make_sets(pairs, clusters, SIZES).train_small.positives
    more = [small[0]._replace(label=5), small[0]._replace(doc_id="new", label=1)]
    train = make_sets(pairs, clusters, SIZES, more).train.positives
    assert {p.doc_id: p.label for p in train if p.query_id == small[0].query_id} == {small[0].doc_id: 7, "new": 1}
    assert len(train) == len(small) + 1

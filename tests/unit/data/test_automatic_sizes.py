"""Clusters and sizes that follow the number of queries, by hand-computed cases and at every size of a log."""

import pytest

from lexigraft.core.types import Query
from lexigraft.data.clicks.automatic_sizes import clusters_for, sizes_for
from lexigraft.data.clicks.log import ClickPair
from lexigraft.data.clicks.sets import make_sets
from lexigraft.data.clicks.settings import SetSizes


@pytest.mark.parametrize(
    ("n_queries", "clusters"),
    [(1, 1), (300, 1), (301, 2), (500, 2), (3_000, 10), (2_999_000, 9_997), (3_000_000, 10_000), (10**9, 10_000)],
)
def test_one_cluster_for_every_300_queries(n_queries, clusters):
    assert clusters_for(n_queries) == clusters


@pytest.mark.parametrize(
    ("n_queries", "sizes"),
    [
        (3, SetSizes(1, 0, 1, 0)),  # a hundredth of a cluster: one to test, one to validate, one to train
        (100, SetSizes(10, 30, 10, 1)),  # a third of a cluster: 30/3, 90/3, 3/3, and a tenth of 100
        (500, SetSizes(25, 75, 25, 2)),  # two clusters of 250, five sixths; a tenth of 500 are 25 of each
        (3_000, SetSizes(30, 90, 10, 3)),  # ten clusters: 10 of each are 100
        (30_000, SetSizes(30, 90, 1, 3)),
        (3_000_000, SetSizes(30, 90, 1, 3)),  # as in the study
    ],
)
def test_sizes_by_hand(n_queries, sizes):
    assert sizes_for(n_queries, clusters_for(n_queries), {}) == sizes


def test_what_is_given_stands_and_the_rest_follows():
    assert sizes_for(2_000, 20, {}) == SetSizes(10, 30, 5, 1)  # 100 queries a cluster; 100/20 = 5 to validate
    assert sizes_for(2_000, 20, {"test_distractors": 0, "valid_queries": 4}) == SetSizes(10, 0, 4, 1)


@pytest.mark.parametrize("n_queries", [3, 4, 5, 10, 37, 124, 299, 300, 301, 599, 1_000])
def test_every_log_of_three_queries_or_more_has_all_three_kinds(n_queries):
    queries = [Query(f"q{number}", f"query {number}") for number in range(n_queries)]
    pairs = [ClickPair(query.query_id, query.text, f"d{query.query_id}", "title", 1) for query in queries]
    clusters = clusters_for(n_queries)
    cluster_of = {query.query_id: number % clusters for number, query in enumerate(queries)}
    sets = make_sets(pairs, cluster_of, sizes_for(n_queries, clusters, {}))
    assert sets.test.positives and sets.valid.positives
    assert len(sets.train_small.positives) >= n_queries // 3
    assert sets.short_clusters == 0

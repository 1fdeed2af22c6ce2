"""The plan of a collection, against numbers worked out by hand."""

import math
from dataclasses import replace

import pytest

from lexigraft.core.errors import SettingError
from lexigraft.plan.arithmetic import GIB, Point, Rates, Work, plan

RATES = Rates(
    gpu_subwords=1e6,
    core_subwords=2000,
    step_ms=90,
    posting_bytes=3,
    document_bytes=30,
    build_documents=50_000,
    curve_postings=0.1,
    curve=[Point(1e6, 0.5, 1.0), Point(5e6, 2.5, 4.0), Point(1e7, 6.0, 9.0)],
)
WORK = Work(documents=1e9, terms=40, subwords=36, steps=2000, gpus=4, node_memory_gib=64, memory_share=0.5)


def test_a_billion_by_hand():
    found = plan(WORK, RATES)
    assert found.postings == 40e9
    assert found.training_gpu_hours == pytest.approx(0.05)  # 2,000 steps of .09 s are 180 s
    assert found.encode_gpu_hours == pytest.approx(10)  # 36e9 subwords at a million a second are 36,000 s
    assert found.encode_hours == pytest.approx(2.5)
    assert found.encode_core_hours == pytest.approx(5000)  # 18,000,000 s
    assert found.vector_bytes == 320e9
    assert found.build_core_hours == pytest.approx(20_000 / 3600)
    assert found.index_bytes == 120e9 + 30e9
    assert found.nodes == 5  # of 32 GiB each, 34.36e9 bytes: 150 / 34.36 = 4.37
    assert found.documents_a_node == 2e8
    assert (found.p50_ms, found.p99_ms) == pytest.approx((120, 180))  # 20 times those of ten million
    assert found.is_beyond_curve
    assert (found.money_once, found.money_a_month) == (None, None)


def test_money_and_copies_by_hand():
    found = plan(replace(WORK, replicas=2, gpu_price=3, node_price=0.5), RATES)
    assert found.nodes == 10
    assert found.documents_a_node == 2e8  # a copy does not make a node's share smaller
    assert found.money_once == pytest.approx(10.05 * 3)
    assert found.money_a_month == pytest.approx(10 * 730 * 0.5)


@pytest.mark.parametrize(
    ("documents", "p50", "p99"),
    [(1e6, 0.5, 1.0), (3e6, 1.5, 2.5), (5e6, 2.5, 4.0), (7.5e6, 4.25, 6.5), (1e7, 6.0, 9.0), (5e5, 0.25, 0.5)],
)
def test_latency_goes_along_the_measured_points(documents, p50, p99):
    found = plan(replace(WORK, documents=documents), RATES)
    assert (found.nodes, found.is_beyond_curve) == (1, False)
    assert (found.p50_ms, found.p99_ms) == pytest.approx((p50, p99))


def test_more_nodes_than_memory_asks_for_make_searches_shorter():
    found = plan(replace(WORK, nodes=200), RATES)
    assert (found.nodes, found.documents_a_node, found.is_beyond_curve) == (200, 5e6, False)
    assert (found.p50_ms, found.p99_ms) == pytest.approx((2.5, 4.0))


def test_latency_goes_by_the_postings_that_a_query_touches():
    found = plan(replace(WORK, documents=1e7, query_postings=0.3), RATES)
    assert (found.p50_ms, found.p99_ms) == pytest.approx((18, 27))


def test_one_node_holds_what_just_fits():
    bytes_a_document = 40 * 3 + 30
    fits = 32 * GIB // bytes_a_document
    assert plan(replace(WORK, documents=fits), RATES).nodes == 1
    assert plan(replace(WORK, documents=fits + 1), RATES).nodes == 2


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"documents": 0}, "documents = 0"),
        ({"documents": -5}, "documents = -5"),
        ({"documents": math.nan}, "documents = nan"),
        ({"documents": math.inf}, "documents = inf"),
        ({"documents": 1e16}, "documents = 1e"),
        ({"terms": 0}, "terms = 0"),
        ({"subwords": -1}, "subwords = -1"),
        ({"gpus": 0.5}, "gpus = 0.5"),
        ({"replicas": 0}, "replicas = 0"),
        ({"nodes": 0.5}, "nodes = 0.5"),
        ({"memory_share": 1.5}, "memory_share = 1.5"),
        ({"gpu_price": -1}, "gpu_price = -1"),
        ({"node_price": math.nan}, "node_price = nan"),
        ({"query_postings": 0}, "query_postings = 0"),
    ],
)
def test_what_is_no_number_of_anything_is_refused(change, named):
    with pytest.raises(SettingError, match="is not allowed") as raised:
        plan(replace(WORK, **change), RATES)
    assert named in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("change", [{"gpu_subwords": 0.0}, {"build_documents": math.nan}, {"posting_bytes": -1.0}])
def test_a_rate_must_be_a_number_above_0(change):
    with pytest.raises(SettingError, match=next(iter(change))):
        plan(WORK, replace(RATES, **change))


def test_nothing_trained_and_nothing_paid_are_in_order():
    found = plan(replace(WORK, steps=0, gpu_price=0, node_price=0), RATES)
    assert (found.training_gpu_hours, found.money_once, found.money_a_month) == (0, 0, 0)

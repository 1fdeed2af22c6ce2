"""What a hybrid is chosen from, and what is chosen."""

import pytest

from lexigraft.comparison.hybrid_choice import WEIGHTS, against_first, best_of, compare_fusions, fusions
from lexigraft.comparison.recommendation import Recommendation, recommend_hybrid
from lexigraft.core.config import load_settings
from lexigraft.core.errors import SettingError
from lexigraft.core.settings import HybridSettings
from lexigraft.core.systems import systems_of
from lexigraft.core.types import Ranking
from lexigraft.search.hybrid import RRF, WEIGHTED, Fusion
from lexigraft.stages.text_searches import HybridChoice

SPARSE = [Ranking("q1", ("a", "b"), (2.0, 1.0)), Ranking("q2", ("c", "d", "e"), (3.0, 2.0, 1.0))]
DENSE = [Ranking("q1", ("c", "b", "a"), (0.9, 0.8, 0.1)), Ranking("q2", ("e", "d", "c"), (0.9, 0.8, 0.7))]
CANDIDATES = list(zip(SPARSE, DENSE, strict=True))
JUDGED = {"q1": {"a": 1}, "q2": {"e": 1}}


def test_the_grid_has_both_systems_alone_so_that_the_best_is_never_worse():
    assert WEIGHTS == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    among = fusions(HybridSettings())
    looked_at = compare_fusions(CANDIDATES, JUDGED, among)
    worth = {(row["method"], row["weight"]): row["MRR@10"] for row in looked_at}
    assert worth[WEIGHTED, 1.0] == pytest.approx((1 + 1 / 3) / 2)  # a first, e third
    assert worth[WEIGHTED, 0.0] == pytest.approx((1 / 3 + 1) / 2)  # a third, e first
    assert worth[RRF, None] == pytest.approx((1 + 1 / 2) / 2)  # c and e of q2 tie, and c comes first
    at = best_of(among, looked_at)
    assert looked_at[at]["MRR@10"] == max(worth.values()) >= max(worth[WEIGHTED, 1.0], worth[WEIGHTED, 0.0])


def test_of_equals_the_weighted_sum_nearest_to_even():
    among = fusions(HybridSettings())
    assert among[best_of(among, [{"MRR@10": 0.5}] * len(among))] == Fusion(WEIGHTED, 0.5)
    assert fusions(HybridSettings(method="rrf")) == [Fusion(RRF)]
    assert fusions(HybridSettings(method="weighted", weight=0.3)) == [Fusion(WEIGHTED, 0.3)]
    assert fusions(HybridSettings(weight=0.3)) == [Fusion(WEIGHTED, 0.3), Fusion(RRF)]


def test_reciprocal_ranks_have_no_weight_to_set():
    with pytest.raises(SettingError, match=r"hybrid\.weight = 0\.3 .*no weights"):
        load_settings(overrides=["hybrid.method=rrf", "hybrid.weight=0.3"])


def test_a_fusion_is_compared_with_its_first_system_query_by_query():
    worse = against_first(CANDIDATES, JUDGED, Fusion(WEIGHTED, 0.0))  # a: 1 to 1/3, e: 1/3 to 1
    assert worse.difference == pytest.approx(0)
    same = against_first(CANDIDATES, JUDGED, Fusion(WEIGHTED, 1.0))
    assert same.difference == 0
    reciprocal = against_first(CANDIDATES, JUDGED, Fusion(RRF))  # a: 1 to 1, e: 1/3 to 1/2
    assert reciprocal.difference == pytest.approx((0 + 1 / 6) / 2)


@pytest.mark.parametrize(
    ("alone", "ahead", "p", "system"),
    [
        (0.6, 0.05, 0.001, "hybrid"),
        (0.6, 0.05, 0.2, "blend"),  # by chance
        (0.6, 0.019, 0.001, "blend"),  # not worth a model that reads queries: less than a twentieth of .4
        (0.6, 0.021, 0.001, "hybrid"),
        (0.94, 0.0029, 0.001, "blend"),  # where little is left to win, or little is found, a twentieth of that
        (0.94, 0.0031, 0.001, "hybrid"),
        (0.15, 0.0074, 0.001, "blend"),
        (0.15, 0.0076, 0.001, "hybrid"),
        (0.6, None, None, "blend"),
    ],
)
def test_a_hybrid_is_recommended_where_it_is_worth_its_milliseconds(alone, ahead, p, system):
    looked_at = [{"MRR@10": alone + (ahead or 0)}, {"MRR@10": alone}]
    choice = HybridChoice(
        ["blend", "dense"], WEIGHTED, 0.5, 100, "blend and dense fused", looked_at=looked_at, ahead=ahead, p=p
    )
    found = recommend_hybrid(Recommendation("blend", "cheap"), "hybrid", choice, {"ms_text_to_ids": 6.31})
    assert found is not None and found.system == system
    if system == "hybrid":
        said = f"; {ahead:.4f} above blend alone (p = 0.001); a query takes 6.3 ms here, most of it to be encoded"
        assert found.why == "blend and dense fused" + said
    other = choice._replace(of=["bm25", "dense"])  # of which nobody knows whether it is ahead of the blend
    assert recommend_hybrid(Recommendation("blend", "cheap"), "hybrid", other, {}) == ("blend", "cheap")
    assert recommend_hybrid(None, "hybrid", choice, {}) is None
    beside = recommend_hybrid(Recommendation("blend", "cheap"), "hybrid", other, {}, lead=0.001)
    assert beside is not None  # of a lead that is known, the hybrid must be ahead by as much again
    least = 0.05 * min(alone, 1 - alone) + 0.001
    assert beside.system == ("hybrid" if ahead and p < 0.05 and ahead > least else "blend")
    without_models = recommend_hybrid(None, "hybrid", other, {})
    assert (without_models is not None) == (system == "hybrid")


def systems(*overrides):
    return {one.name: one for one in systems_of(load_settings(overrides=overrides))}


def test_peers_by_name_and_by_table():
    plain = systems('run.systems=["bm25","esplade","dense","hybrid"]')
    assert [one.kind for one in plain.values()] == ["bm25", "model", "dense", "hybrid"]
    assert (plain["dense"].home, plain["dense"].base) == ("models/dense", "model")
    assert plain["dense"].prunings == plain["hybrid"].prunings == () and not plain["dense"].is_model
    named = systems(
        'run.systems=["bm25","long","mix"]', "systems.long.kind=dense", "systems.long.dense.steps=7",
        "systems.mix.kind=hybrid", 'systems.mix.of=["long","bm25"]', "systems.mix.weight=0.4",
    )  # fmt: skip
    assert named["long"].settings.dense.steps == 7 and named["long"].base == ""
    assert named["mix"].settings.hybrid == HybridSettings(of=("long", "bm25"), weight=0.4)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (['run.systems=["dense","hybrid"]'], "has peers alone"),
        (['run.systems=["bm25","hybrid"]', 'hybrid.of=["bm25","dense"]'], "two systems of the run, of bm25"),
        (['run.systems=["bm25","dense","hybrid"]', 'hybrid.of=["bm25"]'], "two systems of the run, of bm25, dense"),
        (["systems.dense.kind=model"], "systems.dense.kind = 'model' is not allowed: dense"),
        (["systems.x.kind=dense", "systems.x.prune.cost=1"], "a system of kind dense may say model"),
        (["systems.x.kind=hybrid", "systems.x.dense.steps=1"], "a system of kind hybrid may say hybrid"),
        (["dense.steps=1", "dense.epochs=1"], "dense.epochs"),
        (["hybrid.weight=2"], "hybrid.weight"),
    ],
)
def test_what_is_not_allowed(overrides, said):
    with pytest.raises(SettingError, match=said):
        systems(*overrides) if "run.systems" in overrides[0] else load_settings(overrides=overrides)

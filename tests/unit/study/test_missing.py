"""What is still needed: what waits for it, in which order, and when one seed more is."""

from lexigraft.study.design import ABOVE, Arm, Claim, Contrast, Side, Study
from lexigraft.study.evidence import Evidence
from lexigraft.study.missing import missing, seconds_of
from lexigraft.study.outputs import decisions_of
from lexigraft.study.regime import SCALES
from tests.unit.study.test_verdict import ranks
from tests.unit.study.trainings import finished, point

ARMS = (Arm("a", ""), Arm("b", "", weights=(1.0, 2.0)), Arm("d", ""))
CLAIMS = (
    Claim("X1", "", "", (Contrast(Side("a"), ABOVE, Side("b")),)),
    Claim("X2", "", "", (Contrast(Side("a"), ABOVE, Side("d")),)),
)
STUDY = Study("s", "S", "P", "w", (), ARMS, CLAIMS, ())


def asked(some):
    evidence = Evidence(some)
    return missing(STUDY, evidence, decisions_of(STUDY, evidence, SCALES["gpu"]), ["c"], "gpu")


def of(arm, share, seeds=range(3), weights=(None,), **options):
    return [
        finished(arm, seed, {"whole": point(ranks(share, seed))}, weight=weight, **options)
        for seed in seeds
        for weight in weights
    ]


def test_all_is_missing_at_first_and_what_two_claims_wait_for_comes_first():
    found = asked([])
    assert len(found) == 3 + 6 + 3
    assert [one.training.arm for one in found[:3]] == ["a"] * 3
    assert found[0].claims == ("X1", "X2")
    assert found[0].minutes == 2.0


def test_decided_claims_wait_for_nothing():
    some = of("a", 0.9) + of("d", 0.4)
    assert {one.claims for one in asked(some)} == {("X1",)}
    assert {one.training.arm for one in asked(some)} == {"b"}
    assert asked(some + of("b", 0.4, weights=(1.0, 2.0))) == []


def test_the_collection_that_lacks_least_comes_first():
    some = of("a", 0.9) + of("d", 0.4) + of("b", 0.4, [0, 1], weights=(1.0, 2.0))
    evidence = Evidence(some)
    found = missing(STUDY, evidence, decisions_of(STUDY, evidence, SCALES["gpu"]), ["c", "new"], "gpu")
    assert [(one.training.collection, one.training.arm, one.training.seed) for one in found[:2]] == [("c", "b", 2)] * 2
    assert {one.training.collection for one in found[2:]} == {"new"}


def test_where_three_seeds_do_not_tell_apart_one_more_is_asked_for():
    some = of("a", 0.5) + of("d", 0.53) + of("b", 0.1, weights=(1.0, 2.0))
    assert {(one.training.arm, one.training.seed) for one in asked(some)} == {("a", 3), ("d", 3)}


def test_values_that_overlap_may_be_level_with_one_seed_more():
    def looking(arm, values):
        return [
            finished(arm, seed, {"whole": point([1])}, looks={"l": {"v": value}}) for seed, value in enumerate(values)
        ]

    claim = Claim("X3", "", "", (Contrast(Side("a"), ABOVE, Side("d"), "l: v"),))
    study = STUDY._replace(claims=(claim,))
    evidence = Evidence(looking("a", [1, 2, 3]) + looking("d", [2, 3, 4]))
    found = missing(study, evidence, decisions_of(study, evidence, SCALES["gpu"]), ["c"], "gpu")
    assert {(one.training.arm, one.training.seed) for one in found} == {("a", 3), ("d", 3)}


def test_minutes_are_those_of_the_same_arm_then_of_the_collection():
    some = of("a", 0.5, [0], seconds=30.0) + of("d", 0.5, [0], seconds=90.0)
    by_arm = {one.training.arm: one.minutes for one in asked(some)}
    assert by_arm == {"a": 0.5, "b": 1.0, "d": 1.5}
    assert seconds_of(some[0].training._replace(collection="other"), some, "gpu") == 60.0

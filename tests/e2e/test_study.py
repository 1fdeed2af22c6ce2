"""`lexigraft study`: what it says before anything is trained, and what it makes of trainings that were brought."""

import json

import pytest

from lexigraft.study.finished import write_finished
from lexigraft.study.papers import STUDIES
from lexigraft.study.regime import plan_of, scale_of
from tests.topics import topics_of, write_topics
from tests.unit.study.test_verdict import ranks
from tests.unit.study.trainings import finished, point


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_topics(tmp_path_factory.mktemp("data") / "topics", topics_of("kur", "mel"), 20, 6)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("nothing",), "there is no study 'nothing'; one of vocabulary, pretraining"),
        (("vocabulary", "--scale", "huge"), "--scale 'huge' is not known; one of tiny, cpu, gpu"),
        (("vocabulary", "--arms", "esplade,none"), "the study vocabulary has no none; it has splade, esplade"),
        (("vocabulary", "--seeds", "0,x"), "--seeds '0,x' is not allowed: whole numbers"),
        (("vocabulary", "--set", "finetune.batch=1"), "finetune.batch = 1 is not allowed: 2 or more"),
        (("pretraining",), "read general texts: give some (--general FILE)"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_trained(options, said, data, tmp_path, lexigraft):
    name, *others = options
    answer = lexigraft("study", name, "--data", data, "--out", tmp_path / "out", *others)
    assert (answer.status, said in answer.stderr) == (2, True), answer.stderr
    assert not (tmp_path / "out" / "arms").exists()


def test_a_collection_without_training_judgements_is_refused(data, tmp_path, lexigraft):
    (tmp_path / "copy").mkdir()
    for name in ("corpus.jsonl", "queries.jsonl"):
        (tmp_path / "copy" / name).write_bytes((data / name).read_bytes())
    (tmp_path / "copy/qrels").mkdir()
    (tmp_path / "copy/qrels/test.tsv").write_bytes((data / "qrels/test.tsv").read_bytes())
    answer = lexigraft("study", "vocabulary", "--data", tmp_path / "copy", "--out", tmp_path / "out")
    assert (answer.status, "has no training judgements" in answer.stderr) == (2, True)


def test_a_dry_run_says_what_would_be_trained_and_trains_nothing(data, tmp_path, lexigraft):
    asked = ("--data", data, "--out", tmp_path / "out", "--arms", "esplade,rand", "--seeds", "0,1", "--dry-run")
    plan = lexigraft("study", "vocabulary", *asked, "--jobs", 2, "--json").json
    assert {(one["arm"], one["seed"]) for one in plan["processes"]} == {
        (arm, seed) for arm in ("esplade", "rand") for seed in (0, 1)
    }
    n_trainings = 2 * sum(len(STUDIES["vocabulary"].arm(arm).weights) for arm in ("esplade", "rand"))  # two seeds
    assert plan["minutes"] == pytest.approx(n_trainings * 2 / 2)  # two minutes a training, two at a time
    other = ("study", "vocabulary", "--data", data, "--out", tmp_path / "out", "--seeds", "0", "--dry-run", "--json")
    usual, every = lexigraft(*other).json["processes"], lexigraft(*other, "--arms", "all").json["processes"]
    assert {one["arm"] for one in usual} == set(STUDIES["vocabulary"].deciding)
    assert {one["arm"] for one in every} == {arm.name for arm in STUDIES["vocabulary"].arms}
    answer = lexigraft("study", "vocabulary", *asked)
    lines = [line.split() for line in answer.stdout.splitlines() if line.split()[:1] == ["vocabulary"]]
    assert [line[2:6] for line in lines] == [  # the seeds of an arm stand in one line, with the trainings of both
        [arm, "0", "1", str(2 * len(STUDIES["vocabulary"].arm(arm).weights))] for arm in ("esplade", "rand")
    ]
    assert f"about {n_trainings * 2} minutes with --jobs 1" in answer.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.integration
def test_a_process_that_fails_is_named_and_the_others_go_on(data, tmp_path, lexigraft):
    """Its log has what it said; what is not done is tried by the next call."""
    asked = ("study", "vocabulary", "--data", data, "--scale", "tiny", "--out", tmp_path / "out", "--arms", "rand")
    answer = lexigraft(*asked, "--seeds", "0", "--set", "backbone.tokenizer=nowhere")
    assert answer.status == 1
    assert "failed: topics--rand--s0; their logs are in" in answer.stderr
    assert "nowhere" in (tmp_path / "out/logs/topics--rand--s0.txt").read_text()
    assert (tmp_path / "out/verdicts.md").is_file()


def test_nothing_is_begun_after_the_time_is_up(data, tmp_path, lexigraft):
    asked = ("--data", data, "--scale", "tiny", "--out", tmp_path / "out", "--arms", "rand", "--stop-after", 0)
    answer = lexigraft("study", "vocabulary", *asked, "--json")
    assert (answer.status, answer.json["failed"]) == (0, [])
    assert not list((tmp_path / "out").glob("arms/*"))


def test_what_is_missing_is_listed_with_the_claims_that_wait(data, tmp_path, lexigraft):
    asked = ("study", "vocabulary", "--data", data, "--out", tmp_path / "out", "--missing")
    found = lexigraft(*asked, "--json").json
    assert {one["arm"] for one in found} == {"splade", "esplade", "rand", "esplade-strict-mask", "esplade-free"}
    assert "V4" in found[0]["claims"]
    assert "minutes one after the other" in lexigraft(*asked).stdout


def bring(out, arm, share, weight, points):
    for seed in range(3):
        told = {name: point(ranks(share, seed), held_out=0.5) for name in points}
        made = finished(arm, seed, told, weight=weight, collection="c", bm25=point(ranks(0.2)))
        study = STUDIES["vocabulary"]
        by = {**made.made_by, "plan": plan_of(study, study.arm(arm), scale_of("gpu"))}
        write_finished(out, made._replace(study="vocabulary", made_by=by))


def test_trainings_from_another_machine_decide_without_data(tmp_path, lexigraft):
    out, study = tmp_path / "studies" / "vocabulary", STUDIES["vocabulary"]
    for arm, share in (("esplade", 0.9), ("rand", 0.4)):
        for weight in study.arm(arm).weights:
            bring(out, arm, share, weight, study.points)
    bring(out, "rand", 0.95, 0.07, study.points)  # a weight that the study does not have: of a former plan
    answer = lexigraft("study", "vocabulary", "--out", out, "--json")
    assert answer.status == 0, answer.stderr
    claims = answer.json["claims"]
    assert {name: one["verdict"] for name, one in claims.items() if one["verdict"] != "not decided here"} == {
        "V3": "holds", "V4": "holds",
    }  # fmt: skip
    assert claims["V1"]["why"] == "lacks 3 of 3 seeds of splade on c"
    table = lexigraft("study", "claims", "--out", tmp_path / "studies", "--json").json
    assert (table["decided"], table["all"]) == (2, 25)
    assert table["claims"]["V3"]["verdict"] == "holds"
    told = (tmp_path / "studies/claims.md").read_text()
    assert "2 of 25 are decided" in told
    assert "[Contrasts](vocabulary/verdicts.md)" in told
    results = json.loads((out / "results.json").read_text())
    assert results["claims"] == {
        name: {**one, "outcomes": results["claims"][name]["outcomes"]} for name, one in claims.items()
    }

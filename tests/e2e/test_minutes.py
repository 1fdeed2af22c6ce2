"""`run --minutes`: the run finds its own settings, keeps them when it is killed, and leaves them to be repeated."""

import json

import pytest

import lexigraft as lg
from lexigraft.core.artifact import read_manifest
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.own_settings import choosing, plan, rate, trial
from lexigraft.own_settings import chosen as chosen_settings
from lexigraft.train.loop import Loop
from tests.killed import Killed, dies_at_call
from tests.topics import topics_of, write_tiny_bert

TOPICS = topics_of("kur", "mel", "tos", "vip", "zan", "fod", "gix", "bru")
N_DEV, N_TEST = 60, 20
MINUTES = 30  # far more than is needed: what is tested does not depend on how busy the machine is

pytestmark = pytest.mark.usefixtures("one_thread")


def write_pairs(folder, n_train, n_dev, times=1):
    """A document says its own number last, after words of its topic: only who reads it to the end can tell it."""
    documents, queries, qrels = [], [], {"train": [], "dev": [], "test": []}
    for number in range(n_train + n_dev + N_TEST):
        words = TOPICS[number % len(TOPICS)]
        documents.append(Document(f"d{number}", "", f"{' '.join(words[:4] * times)} n{number}"))
        queries.append(Query(f"q{number}", f"{words[4]} n{number}"))
        split = "train" if number < n_train else "dev" if number < n_train + n_dev else "test"
        qrels[split].append(Qrel(f"q{number}", f"d{number}", 1))
    write_collection(folder, documents, queries, {split: found for split, found in qrels.items() if found})
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp("minutes")
    write_pairs(root / "many", 320, N_DEV, times=2)
    write_pairs(root / "few", 320, 10)
    write_pairs(root / "long", 320, N_DEV, times=14)
    (root / "bert").mkdir()
    write_tiny_bert(root / "bert", [topic[0][:3] for topic in TOPICS])
    return root


@pytest.fixture(scope="module", autouse=True)
def short():
    """Trainings end after two passes however long they may take, and trials of learning rates are short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "MOST_PASSES", 2)
        patch.setattr(choosing, "WANTED_PASSES", 1)
        patch.setattr(rate, "RATE_STEPS", 5)
        yield


def values_for(place):
    return {
        "model.backbone": str(place / "bert"), "model.layers": 1, "model.alpha": 1, "vocab.min_count": 1,
        "vocab.stemmer": "none", "finetune.joint_flops": 0.001, "evaluate.timing_runs": 1,
        "prune.budgets": [[0, 0], [2, 3]],
    }  # fmt: skip


def options(place, out, *changes, data="many"):
    settings = [*(f"{name}={value}" for name, value in values_for(place).items()), *changes]
    return ["--data", place / data, "--out", out, *(part for one in settings for part in ("--set", one))]


def chosen(run):
    return json.loads((run / "choices.json").read_text())["settings"]


@pytest.fixture(scope="module")
def made(place, short, tmp_path_factory):
    """A run of a few minutes at most."""
    return lg.run(place / "many", tmp_path_factory.mktemp("made") / "run", set=values_for(place), minutes=MINUTES)


@pytest.mark.integration  # it takes long
def test_a_run_chooses_lengths_steps_and_patience_and_says_by_what(made):
    found = chosen(made.folder)
    assert found["model.query_length"] >= 8
    assert found["model.document_length"] > 16  # the number at the end must be read
    assert found["finetune.batch"] == 32  # of 128: ten steps a pass
    assert found["finetune.steps"] == 20  # two passes
    assert found["finetune.patience"] == choosing.PATIENCE
    assert found["finetune.learning_rate"] in [6e-4 * factor for factor in rate.RATES]
    own = made.report["own_settings"]
    assert own["minutes"] == MINUTES
    assert [choice["about"] for choice in own["choices"]] == [
        "query length", "document length", "batch", "steps", "learning rate", "early stopping",
    ]  # fmt: skip
    assert own["choices"][1]["evidence"]["queries"] == N_DEV
    said = (made.folder / "report.md").read_text()
    assert "chosen by the run itself, for 30 minutes" in said and "validation queries" in said
    assert "own settings" in [stage["stage"] for stage in made.report["stages"]]
    assert not (made.folder / "model/own-settings-trial").exists()


@pytest.mark.integration
def test_the_settings_left_behind_repeat_the_model_without_a_clock(made, place, tmp_path, lexigraft):
    again = tmp_path / "again"
    answer = lexigraft("run", "--data", place / "many", "--out", again, "--config", made.folder / "settings.json")
    assert answer.status == 0, answer.stderr
    assert not (again / "choices.json").exists()
    for part in ("pretrained", "finetuned"):
        first, second = (read_manifest(run / "model" / part) for run in (made.folder, again))
        assert first is not None and second is not None and first.fingerprint == second.fingerprint


@pytest.mark.integration  # it takes long
def test_a_second_call_keeps_the_choices_and_does_nothing(made, place, lexigraft, monkeypatch):
    monkeypatch.setattr(trial.Trials, "finetune_step", None)  # whoever looks at the clock again fails
    before = (made.folder / "choices.json").read_bytes(), read_manifest(made.folder / "model/finetuned")
    again = lg.run(place / "many", made.folder, set=values_for(place), minutes=MINUTES)
    assert ((made.folder / "choices.json").read_bytes(), read_manifest(made.folder / "model/finetuned")) == before
    assert again.report["own_settings"] == made.report["own_settings"]
    assert "chosen by the run itself" in lexigraft("report", "--run", made.folder).stdout


@pytest.mark.integration
def test_a_killed_run_keeps_its_choices(place, tmp_path, lexigraft, monkeypatch):
    run = tmp_path / "run"
    call = ["run", *options(place, run), "--minutes", str(MINUTES)]
    with monkeypatch.context() as patch:
        patch.setattr(Loop, "_save", dies_at_call(Loop._save, 2))
        with pytest.raises(Killed):
            lexigraft(*call)
    before = (run / "choices.json").read_bytes()
    monkeypatch.setattr(trial.Trials, "finetune_step", None)
    answer = lexigraft(*call)
    assert answer.status == 0, answer.stderr
    assert "chosen before" in answer.stderr
    assert (run / "choices.json").read_bytes() == before


@pytest.mark.integration  # it takes long
def test_what_is_set_by_hand_wins(place, tmp_path, lexigraft):
    run = tmp_path / "run"
    by_hand = ["model.document_length=9", "finetune.steps=3", "finetune.learning_rate=0.001", "finetune.patience=0"]
    answer = lexigraft("run", *options(place, run, *by_hand), "--minutes", str(MINUTES), "--json")
    assert answer.status == 0, answer.stderr
    assert not {name.partition("=")[0] for name in by_hand} & set(chosen(run))
    settings = json.loads((run / "settings.json").read_text())
    assert settings["model"]["document_length"] == 9
    assert "finetune.warmup" not in chosen(run)  # which would be in proportion to other steps
    assert settings["finetune"]["steps"] == 3 and settings["finetune"]["learning_rate"] == 0.001
    assert "set by hand and kept: model.document_length" in json.dumps(answer.json["own_settings"])


@pytest.mark.integration  # it takes long
def test_too_few_validation_queries_leave_the_defaults(place, tmp_path, lexigraft):
    run = tmp_path / "run"
    answer = lexigraft("run", *options(place, run, data="few"), "--minutes", str(MINUTES))
    assert answer.status == 0, answer.stderr
    found = chosen(run)
    assert {"model.document_length", "finetune.patience", "finetune.learning_rate"}.isdisjoint(found)
    assert found["finetune.steps"] > 0
    for text in (answer.stderr, answer.stdout, (run / "report.md").read_text()):
        assert "10 validation queries are too few to choose by (at least 50)" in text.replace("\n", " ")


@pytest.mark.integration  # it takes long
def test_less_is_read_where_the_time_is_short_for_three_passes(place, tmp_path, lexigraft, monkeypatch):
    """Numbers at the end of long documents: all of it should be read, but a pace that is given here is too slow."""
    measured = []

    def pace(self):
        length = self.settings.model.document_length
        measured.append(length)
        return plan.Pace(length / 18, 0.01, 0.0, 0.0001, 0.0001)

    monkeypatch.setattr(choosing.Choosing, "_pace", pace)
    monkeypatch.setattr(plan, "MOST_PASSES", 3)
    monkeypatch.setattr(choosing, "WANTED_PASSES", 3)
    answer = lexigraft(
        "run", *options(place, tmp_path / "run", "model.lookup=false", data="long"), "--minutes", "3", "--json"
    )
    assert answer.status == 0, answer.stderr
    # A pass has 10 steps; of about 170 s, 85 % of five sixths are for fine-tuning: three passes at 4 s a step or less.
    choice = next(one for one in answer.json["own_settings"]["choices"] if one["about"] == "document length")
    tried = [int(length) for length in choice["evidence"]["MRR@10 of BM25"]]
    assert max(tried) > 64 and choice["evidence"]["MRR@10 of BM25"][str(max(tried))] > 0.9
    assert choice["settings"] == {"model.document_length": 64}
    assert measured == [16, 64]  # never at the one that is too slow
    assert f"at {max(tried)}: " in choice["why"]


@pytest.mark.integration  # it takes long
def test_several_models_share_the_time_and_keep_what_they_say_themselves(place, tmp_path, lexigraft):
    run = tmp_path / "run"
    systems = ["systems.one.pretrain.steps=2", "systems.two.finetune.steps=4"]
    answer = lexigraft("run", *options(place, run, *systems), "--minutes", str(MINUTES), "--json")
    assert answer.status == 0, answer.stderr
    assert "divided among 2 models" in json.dumps(answer.json["own_settings"])
    steps = {
        name: len(json.loads((run / f"models/{name}/finetuned/history.json").read_text())) for name in ("one", "two")
    }
    assert steps == {"one": chosen(run)["finetune.steps"], "two": 4}
    assert len(json.loads((run / "models/one/pretrained/history.json").read_text())) == 2


@pytest.mark.parametrize("minutes", ["0", "-1", "nan"])
def test_no_time_is_refused(place, tmp_path, lexigraft, minutes):
    answer = lexigraft("run", *options(place, tmp_path / "run"), "--minutes", minutes)
    assert answer.status == 2 and "is not allowed: more than 0" in answer.stderr.replace("\n", " "), answer.stderr


@pytest.mark.parametrize("looks", [False, True])
def test_what_a_short_time_is_not_enough_for_is_left_out_by_name(place, tmp_path, lexigraft, monkeypatch, looks):
    """Without a look at the pace, where not even that fits, and after one."""
    run = tmp_path / "run"
    if looks:
        monkeypatch.setattr(chosen_settings, "LEAST", -1e9)
    answer = lexigraft("run", *options(place, run), "--minutes", "0.01" if looks else "0.0001")
    assert answer.status == 0, answer.stderr
    said, shown = " ".join(answer.stderr.split()), " ".join(answer.stdout.split())
    why = "one pass over the 320 training pairs" if looks else "0 s of the time were left to begin to train"
    assert "left out: esplade, esplade-doc:" in said and why in said
    assert "- left out: esplade, esplade-doc:" in shown and why in shown
    assert said.index("searchable now") < said.index("left out")
    assert {row["system"] for row in json.loads((run / "report.json").read_text())["rows"]} == {"bm25"}
    assert lexigraft("search", "--run", run, "--json", "n3").json["hits"][0]["doc_id"] == "d3"
    refused = lexigraft("run", *options(place, tmp_path / "other", 'run.systems=["esplade"]'), "--minutes", "0.0001")
    assert (refused.status == 2 and "were left to begin to train" in refused.stderr) or looks  # nothing else is there


@pytest.mark.integration  # it takes long
def test_of_two_models_the_first_is_trained_where_the_time_is_enough_for_one(place, tmp_path, lexigraft, monkeypatch):
    # A pass has 10 steps; of some 170 s, 85 % of five sixths are for fine-tuning: 120 s, a pass of one, but not of two
    monkeypatch.setattr(choosing.Choosing, "_pace", lambda self: plan.Pace(8.0, 0.01, 0.0, 0.0001, 0.0001))
    answer = lexigraft("run", *options(place, tmp_path / "run"), "--minutes", "3", "--json")
    assert answer.status == 0, answer.stderr
    assert {row["system"] for row in answer.json["rows"]} == {"bm25", "esplade"}
    said = "left out: esplade-doc: the time is enough for one pass of 1 of 2 models"
    assert said in " ".join(answer.stderr.split()) and said in (tmp_path / "run/report.md").read_text()
    again = lexigraft("run", *options(place, tmp_path / "run"), "--minutes", "3", "--json")
    assert again.status == 0, again.stderr
    assert {row["system"] for row in again.json["rows"]} == {"bm25", "esplade", "esplade-doc"}  # "goes on from here"
    assert "left out" not in again.stderr + (tmp_path / "run/report.md").read_text()

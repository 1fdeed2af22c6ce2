"""A run of several systems: BM25, two models and their prunings in one report and one search; and runs from before."""

import json
import shutil

import numpy as np
import pytest

from lexigraft.core.sealed_json import read_sealed, write_sealed
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.learn import model_training
from lexigraft.stages.finished_run import open_run
from tests.families import STEMS, TINY_TRAINING, write_backbone

CONFIG = f"""
{TINY_TRAINING}[evaluate]
timing_runs = 1
[prune]
budgets = [[0, 0], [2, 3]]
budget = 50
"""
SYSTEMS = """
[systems.impacts]
model.head = "unicoil"
model.own_words = 0.0
pretrain.steps = 0
prune.budgets = [[0, 0], [0, 2]]
[systems.small]
finetune.steps = 1
[systems.long]
kind = "bm25"
lexical.b = 1.0
"""


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a collection of 50 training pairs, and two files of settings."""
    root, rng = tmp_path_factory.mktemp("systems"), np.random.default_rng(0)
    documents, queries, qrels = [], [], {"train": [], "test": []}
    for number in range(60):
        words = [STEMS[number % len(STEMS)] + ending for ending in rng.permutation(list("aeiou"))]
        documents.append(Document(f"d{number}", "", " ".join(words[: 2 + number % 3]) + f" n{number % 7}"))
        queries.append(Query(f"q{number}", " ".join(words[1:3])))
        qrels["test" if number >= 50 else "train"].append(Qrel(f"q{number}", f"d{number}", 1))
    write_collection(root / "topics", documents, queries, qrels)
    one = CONFIG.format(backbone=write_backbone("bert", root / "backbone", loud=5.0))
    (root / "one.toml").write_text(one)
    (root / "several.toml").write_text(one + SYSTEMS)
    return root


@pytest.fixture
def call(place, lexigraft):
    """`run` with one of the files of settings; what it answered, and the stages that were not done before."""

    def run(out, file, *changes):
        options = [part for change in changes for part in ("--set", change)]
        answer = lexigraft(
            "run", "--data", place / "topics", "--out", out, "--config", place / file, "--json", *options
        )
        assert answer.status == 0, answer.stderr
        stages = [line for line in answer.stderr.splitlines() if line.endswith(" MiB")]
        return answer.json, [line.partition(":")[0] for line in stages]

    return run


@pytest.mark.integration  # it takes long
def refused(answer, *parts):
    assert answer.status == 2, answer.stderr
    assert "Traceback" not in answer.stderr
    for part in parts:
        assert part in answer.stderr.replace("\n", " ")


def test_two_models_and_two_bm25s_in_one_report_and_one_search(call, place, tmp_path, lexigraft):
    run = tmp_path / "run"
    report, made = call(run, "several.toml")
    cells = [(row["system"], row["qk"], row["dk"]) for row in report["rows"]]
    given = [
        ("bm25", 0, 0), ("impacts", 0, 0), ("impacts", 0, 2), ("small", 0, 0), ("small", 2, 3), ("long", 0, 0),
    ]  # fmt: skip
    points = {(name, point["qk"], point["dk"]) for name, point in report["operating_points"].items()}
    assert set(cells) == {*given, *points} and [cell for cell in cells if cell in given] == given
    assert {"finetune of impacts", "finetune of small", "vocabulary of small", "encode long (judged)"} <= set(made)
    assert len({row["FLOPS"] for row in report["rows"]}) > 3
    contents = read_sealed(run / "run.json")
    assert contents["models"] == {"impacts": "models/impacts", "small": "models/small"}
    assert not (run / "model").exists()
    assert set(report["operating_points"]) == set(contents["systems"])
    for name in ("impacts", "small"):
        why = report["operating_points"][name]["why"]
        assert "prunings at no more than 50 FLOPS, on 2 training queries" in why
        assert (run / "models" / name / "finetuned/model.safetensors").is_file()
        assert lexigraft("search", "--run", run, "--system", name, "kura", "--json").json["hits"]
    assert open_run(run).system("long").settings.lexical.b == 1.0
    bm25, long = (row for row in report["rows"] if row["system"] in ("bm25", "long"))
    assert bm25["postings"] == long["postings"]
    assert contents["recommended"] == report["recommended"]["system"] in contents["systems"]
    assert lexigraft("search", "--run", run, "kura", "--json").json["hits"]  # by the one that the run recommends
    write_sealed(run / "run.json", {**contents, "recommended": ""})  # of a run that has not ended
    refused(lexigraft("search", "--run", run, "kura"), "several models", "bm25, impacts, small, long")
    write_sealed(run / "run.json", contents)
    refused(lexigraft("encode", "--data", place / "topics", "--model", run, "--out", tmp_path / "v"), "several models")
    refused(lexigraft("search", "--run", run, "--system", "other", "kura"), "no system 'other'; present: bm25, impacts")

    side_by_side = lexigraft("evaluate", "--run", run, "--json").json
    assert {"small (2,3)", "impacts (0,2)", "bm25", "long"} <= set(side_by_side["systems"])
    grid = ("evaluate", "--run", run, "--system", "small", "--qk", "0,1", "--dk", "0", "--budget", "60", "--json")
    assert lexigraft(*grid).json["budget"]["validated_on"] == "training queries that were held out"
    stats = ("index", "stats", "--run", run, "--system", "impacts", "--keep", "0,2", "--out", tmp_path / "stats")
    assert lexigraft(*stats).status == 0
    encode = ("encode", "--data", place / "topics", "--out", tmp_path / "v")
    assert lexigraft(*encode, "--model", run / "models/small").status == 0

    kept, made = call(run, "several.toml")
    assert made == ["report"]
    assert {**kept, "stages": None} == {**report, "stages": None}
    _, again = call(run, "several.toml", "systems.small.finetune.steps=3")
    assert "finetune of small" in again
    assert not any("impacts" in label or "pretrain" in label or "bm25" in label for label in again)
    _, more = call(run, "several.toml", "systems.small.finetune.steps=3", 'run.systems=["bm25","small","esplade"]')
    assert "finetune" in more
    assert not any("small" in label for label in more)
    assert (run / "model/finetuned").is_dir()


@pytest.mark.integration
def test_models_that_held_out_other_queries_share_a_run(call, tmp_path):
    """BM25 says what a search may cost on the queries of each; a second call measures nothing."""
    apart = ("systems.small.finetune.validation_queries=1", "prune.budget=bm25")
    report, made = call(tmp_path / "run", "several.toml", *apart)
    assert {"validate bm25 (qk=0, dk=0)", "validate bm25 (qk=0, dk=0, queries of small)"} <= set(made)
    whys = [report["operating_points"][name]["why"] for name in ("impacts", "small")]
    assert "on 2 training queries" in whys[0]
    assert "on 1 training queries" in whys[1]
    assert call(tmp_path / "run", "several.toml", *apart)[1] == ["report"]


@pytest.mark.integration  # it takes long
def as_before(run):
    """Make of a run what a version left that knew one model a run, and no operating point."""
    contents = read_sealed(run / "run.json")
    (run / "run.json").write_text(json.dumps({name: contents[name] for name in ("views", "systems")}))
    settings = read_sealed(run / "settings.json")
    del settings["systems"], settings["prune"]["budget"]
    (run / "settings.json").write_text(json.dumps(settings))
    (run / "operating_points.json").unlink()
    report = read_sealed(run / "report.json")
    del report["operating_points"], report["made_with"]
    (run / "report.json").write_text(json.dumps(report))
    for folder in run.glob("judged/*/validation-*"):
        shutil.rmtree(folder)


@pytest.mark.integration
def test_a_run_from_before_is_continued_under_its_names(call, tmp_path, lexigraft, monkeypatch):
    monkeypatch.setattr(model_training, "FEWEST_PAIRS", 10)
    run, plain = tmp_path / "run", ("model.head=plain",)
    before, _ = call(run, "one.toml", *plain, 'run.systems=["bm25","esplade"]')
    as_before(run)
    assert open_run(run).system("esplade").home == "model"
    assert lexigraft("search", "--run", run, "kura", "--json").json["hits"]
    after, made = call(run, "one.toml", *plain, "model.lookup=false")
    assert made == ["validate bm25 (qk=0, dk=0)", "report"]
    assert after["rows"] == before["rows"]
    assert after["operating_points"] == before["operating_points"]
    fresh, _ = call(tmp_path / "fresh", "one.toml", *plain)  # where there is no such run, it is called what it is
    assert list(dict.fromkeys(row["system"] for row in fresh["rows"])) == ["bm25", "splade", "splade-doc"]
    contents = read_sealed(tmp_path / "fresh/run.json")
    assert contents["models"] == {"splade": "model", "splade-doc": "models/splade-doc"}
    assert contents["bases"] == {"splade-doc": "model"}  # one vocabulary and one pre-training for both
    assert not (tmp_path / "fresh/models/splade-doc/pretrained").exists()
    stages = [stage["stage"] for stage in fresh["stages"]]
    assert len(stages) == len(set(stages))  # each is said once, however often it is asked for


def test_commands_that_make_one_model_refuse_several(place, tmp_path, lexigraft):
    several = ("--config", place / "several.toml")
    answer = lexigraft("finetune", "--data", place / "topics", "--out", tmp_path / "run", *several)
    refused(answer, "impacts, small, long", "lexigraft run")
    assert not (tmp_path / "run").exists()  # before anything was written

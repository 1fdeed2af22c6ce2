"""Systems of a run that teach others: trained first, heard where they are no worse than BM25, mined for negatives."""

import json

import pytest

from lexigraft.core.artifact import read_manifest
from tests.e2e.test_peers import CONFIG, write_stems
from tests.families import write_backbone

SETTINGS = (
    'run.systems=["bm25","pupil","first"]', "systems.first.finetune.steps=3",
    'systems.pupil.finetune.teachers=["first"]', "systems.pupil.finetune.negatives=teachers",
    "systems.pupil.finetune.n_negatives=1", "systems.pupil.finetune.negatives_depth=5",
)  # fmt: skip
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp("taught")
    write_stems(root / "stems")
    (root / "taught.toml").write_text(CONFIG.format(backbone=write_backbone("bert", root / "backbone", loud=5.0)))
    return root


def call(place, run, *settings):
    options = [part for one in settings for part in ("--set", one)]
    return ["run", "--data", place / "stems", "--out", run, "--config", place / "taught.toml", "--json", *options]


def test_a_pupil_hears_its_teacher_and_depends_on_it(place, tmp_path, lexigraft):
    run = tmp_path / "run"
    first = lexigraft(*call(place, run, *SETTINGS))
    assert first.status == 0, first.stderr
    assert first.stderr.index("finetune of first") < first.stderr.index("finetune of pupil")
    model = run / "models/pupil/finetuned"
    facts = json.loads((model / "teachers.json").read_text())
    assert set(facts) == {"bm25", "first"} and facts["first"]["temperature"] > 0
    heard = facts["first"]["mrr"] >= facts["bm25"]["mrr"]
    assert facts["first"]["heard"] == heard
    assert ("first is worse than BM25 on validation queries" in first.stderr) != heard
    assert ("taught" in json.loads((model / "history.json").read_text())[0]) == heard
    parents = read_manifest(model).parents
    assert parents["teacher first"] == read_manifest(run / "judged/first/vectors").fingerprint
    assert (run / "models/pupil/negatives/negatives.trec").is_file()  # the teacher's
    assert not list((run / "models/pupil").glob("finetune-*"))  # nothing of the lessons stays

    again = lexigraft(*call(place, run, *SETTINGS))
    assert "finetune of pupil: done before" in again.stderr


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (['finetune.teachers=["none"]'], "names 'none', which is no system of this run that has vectors"),
        (["finetune.negatives=teachers", "finetune.n_negatives=1"], "unless finetune.teachers names a system"),
        (['finetune.teachers=["bm25"]', "finetune.taught=0"], "unless finetune.taught gives them a weight"),
        (['finetune.teachers=["bm25"]', "data.passage_words=3"], "finetune.teachers score whole documents"),
    ],
)
def test_bad_input(place, tmp_path, lexigraft, changes, said):
    answer = lexigraft(*call(place, tmp_path / "run", 'run.systems=["bm25","esplade"]', *changes))
    assert (answer.status, said in answer.stderr) == (2, True), answer.stderr
    assert not (tmp_path / "run/model/finetuned").exists()

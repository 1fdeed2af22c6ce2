import json

import pytest

from lexigraft.core.config import given_names, load_settings, settings_as_dict, settings_from_dict, with_values
from lexigraft.core.errors import SettingError
from lexigraft.core.settings import Settings


def test_defaults_file_and_overrides_in_that_order(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("[lexical]\nk1 = 0.9\nb = 0.4\n[prune]\nbudgets = [[0, 0], [7, 20]]\n")
    found = load_settings(file, ["lexical.b=0.5", "lexical.stemmer=none", "run.systems=bm25"])
    assert (found.lexical.k1, found.lexical.b, found.lexical.stemmer) == (0.9, 0.5, "none")
    assert found.prune.budgets == ((0, 0), (7, 20))
    assert found.run.systems == ("bm25",)
    assert found.search == Settings().search


def test_a_whole_number_is_a_float():
    assert load_settings(None, ["lexical.k1=2"]).lexical.k1 == 2.0


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("lexical.k=1", "did you mean 'lexical.k1'"),
        ("lexcial.k1=1", "did you mean 'lexical'"),
        ("lexical.k1=-1", "0 or more"),
        ("lexical.b=1.5", "0 to 1"),
        ("lexical.k1=many", "should be of type float"),
        ("search.k=true", "should be of type int"),
        ("search.k=0", "1 or more"),
        ("search.method=fast", "one of auto, exhaustive"),
        ("model.alpha=[1]", "more than 0, or auto"),
        ("prune.budgets=[[1]]", "pairs of counts"),
        ("prune.budgets=[]", "pairs of counts"),
        ("run.systems=splade", "some of bm25"),
        ("k1=1", "section.key=value"),
        ("lexical.k1", "section.key=value"),
    ],
)
def test_bad_settings_say_what_is_allowed(override, says):
    with pytest.raises(SettingError, match=says):
        load_settings(None, [override])


def test_bad_files(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("lexical = 3")
    with pytest.raises(SettingError, match="is a section"):
        load_settings(file)
    file.write_text("[lexical\n")
    with pytest.raises(SettingError, match="not valid TOML"):
        load_settings(file)


def test_settings_that_need_one_another_may_come_in_any_order(tmp_path):
    given = ["finetune.n_negatives=2", "finetune.kl=1", "finetune.teacher=scores", "finetune.negatives=run"]
    assert load_settings(None, given) == load_settings(None, given[::-1])
    file = tmp_path / "settings.toml"
    file.write_text("[finetune]\nnegatives = 'run'\n")
    assert load_settings(file, given[:1]).finetune.n_negatives == 2
    with pytest.raises(SettingError, match="n_negatives = 2 is not allowed"):
        load_settings(None, given[:1])


TAUGHT = ("teacher.steps=5", "finetune.n_negatives=2", "finetune.kl=1")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ["finetune.n_negatives=2"],
            r"finetune\.n_negatives = 2 .* finetune\.negatives names a run or is bm25, or teacher\.steps",
        ),
        (
            ["finetune.margin_mse=1"],
            r"finetune\.margin_mse = 1\.0 .* finetune\.teacher names a file of scores, or teach",
        ),
        (["finetune.kl=1"], r"finetune\.kl = 1\.0 .* finetune\.teacher names a file of scores, or teacher\.steps"),
        ([*TAUGHT, "finetune.negatives=run"], r"finetune\.negatives = 'run' .* which writes that file itself"),
        ([*TAUGHT, "finetune.negatives=r", "finetune.teacher=s"], r"finetune\.negatives = 'r' .* writes that file"),
        ([TAUGHT[0], "finetune.kl=1"], r"finetune\.n_negatives = 0 .* 1 or more where teacher\.steps"),
        (TAUGHT[:2], r"finetune\.kl = 0\.0 .* more than 0, or finetune\.margin_mse"),
        ([*TAUGHT, "teacher.epochs=1"], r"teacher\.epochs = 1\.0 .* teacher\.steps says how long"),
        (["teacher.n_negatives=60"], r"teacher\.n_negatives = 60 .* at most teacher\.depth, which is 50"),
        (["teacher.batch=0"], r"teacher\.batch = 0 .* 1 or more"),
        (["teacher.dropout=1.0"], r"teacher\.dropout = 1\.0 .* less than 1"),
        (["teacher.learning_rate=0.0"], r"teacher\.learning_rate = 0\.0 .* more than 0"),
    ],
)
def test_a_teacher_is_trained_or_named_and_heard(given, said):
    with pytest.raises(SettingError, match=said):
        load_settings(None, given)


def test_sections_that_need_one_another_may_come_in_any_order():
    assert load_settings(None, TAUGHT) == load_settings(None, TAUGHT[::-1])
    assert load_settings(None, ["finetune.n_negatives=2", "finetune.margin_mse=1", "teacher.epochs=2"]).teacher.trains
    assert not load_settings(None).teacher.trains


def test_settings_come_back_from_json():
    overrides = ['run.systems=["bm25","esplade"]', "model.alpha=auto", "prune.budgets=[[0,0],[3,4]]", "lexical.k1=2"]
    settings = load_settings(None, overrides)
    assert settings_from_dict(json.loads(json.dumps(settings_as_dict(settings)))) == settings


def test_given_names_are_those_that_somebody_said_even_the_default(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("[lexical]\nk1 = 1.2\n[systems.other]\nmodel.layers = 1\n")
    found = given_names(file, ["finetune.steps=5"], "quickstart-full", {"model.alpha": 2})
    assert {"lexical.k1", "finetune.steps", "model.alpha"} < found  # and those of the recipe
    assert found - {"lexical.k1", "finetune.steps", "model.alpha"} == given_names(recipe="quickstart-full") - {
        "finetune.steps"
    }
    assert not any(name.startswith("systems") for name in found)
    assert given_names() == frozenset()


def test_with_values_changes_some_and_checks_them():
    found = with_values(load_settings(None, ["lexical.b=0.5"]), {"finetune.steps": 7, "finetune.learning_rate": 1})
    assert (found.finetune.steps, found.finetune.learning_rate, found.lexical.b) == (7, 1.0, 0.5)
    with pytest.raises(SettingError, match="0 or more"):
        with_values(found, {"finetune.steps": -1})


def test_the_settings_of_a_run_are_a_file_of_settings(tmp_path):
    settings = load_settings(None, ["lexical.b=0.5", "prune.budgets=[[0, 0], [7, 20]]"])
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"source": "pydocs", **settings_as_dict(settings)}))
    assert load_settings(file) == settings
    assert load_settings(file, ["lexical.b=0.25"]).lexical.b == 0.25
    assert "finetune.steps" in given_names(file)
    for content, says in (("{", "is not JSON"), ("[1]", "holds no JSON object"), ('{"a": {}}', "unknown section")):
        file.write_text(content)
        with pytest.raises(SettingError, match=says):
            load_settings(file)

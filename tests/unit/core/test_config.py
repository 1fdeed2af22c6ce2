import json

import pytest

from lexigraft.core.config import load_settings, settings_as_dict, settings_from_dict
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


def test_settings_come_back_from_json():
    overrides = ['run.systems=["bm25","esplade"]', "model.alpha=auto", "prune.budgets=[[0,0],[3,4]]", "lexical.k1=2"]
    settings = load_settings(None, overrides)
    assert settings_from_dict(json.loads(json.dumps(settings_as_dict(settings)))) == settings

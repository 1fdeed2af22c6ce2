"""The systems of a run, as settings say them."""

import json

import pytest

from lexigraft.core.config import load_settings, settings_as_dict, settings_from_dict
from lexigraft.core.errors import SettingError
from lexigraft.core.systems import in_order_of_training, system_of, systems_of

FILE = """
[finetune]
steps = 7
batch = 9

[systems]
small = { model.layers = 2, finetune.steps = 100 }
unicoil = { recipe = "csv-unicoil-small", finetune.batch = 11 }
long = { kind = "bm25", lexical.b = 0.9 }
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "systems.toml"
    path.write_text(FILE)
    return path


def test_a_system_says_what_is_not_as_in_the_run(file):
    settings = load_settings(file, ["finetune.warmup=3", "systems.small.vocab.size=500"])
    small, unicoil, long = (system_of(settings, name) for name in ("small", "unicoil", "long"))
    assert (small.settings.model.layers, small.settings.finetune.steps, small.settings.finetune.batch) == (2, 100, 9)
    assert (small.settings.vocab.size, small.settings.finetune.warmup, small.home) == (500, 3, "models/small")
    assert (unicoil.settings.model.head, unicoil.settings.finetune.batch) == ("unicoil", 11)
    assert unicoil.settings.finetune.steps == 300  # the recipe's, over the run's
    assert unicoil.prunings == ((0, 0), (0, 40))
    assert (long.settings.lexical.b, long.is_model, long.prunings) == (0.9, False, ((0, 0),))
    assert settings.finetune.steps == 7


def test_a_recipe_and_values_of_the_command_line_come_in_order(file):
    recipe = load_settings(file, recipe="csv-unicoil-small")
    assert system_of(recipe, "small").settings.model.head == "unicoil"  # the run's recipe
    other = load_settings(file, ["systems.unicoil.recipe=csv-splade-doc-small", "systems.more.model.head=plain"])
    assert system_of(other, "unicoil").settings.model.head == "plain"
    assert system_of(other, "unicoil").settings.finetune.batch == 11
    assert system_of(other, "more").settings.model.head == "plain"


def test_they_are_kept_with_the_run(file):
    settings = load_settings(file, ['run.systems=["bm25","small"]'])
    again = settings_from_dict(json.loads(json.dumps(settings_as_dict(settings))))
    assert again == settings
    assert [system.settings for system in systems_of(again)] == [system.settings for system in systems_of(settings)]


@pytest.mark.parametrize(
    ("head", "queries", "name"),
    [
        ("grafted", "model", "esplade"), ("plain", "model", "splade"), ("unicoil", "model", "unicoil"),
        ("plain", "words", "splade-doc"), ("random", "model", "esplade-random"), ("grafted", "words", "esplade-doc"),
    ],
)  # fmt: skip
def test_a_model_is_called_what_it_is(head, queries, name):
    own = ("model.own_words=0", "pretrain.steps=0", f"model.head={head}", f"model.queries={queries}")
    settings = load_settings(None, own)
    assert settings.model.usual_name == name
    for called in (name, "esplade"):  # as it is, and as every model was called once
        named = load_settings(None, [*own, f'run.systems=["bm25","{called}"]'])
        assert [(system.name, system.home) for system in systems_of(named)] == [("bm25", ""), (called, "model")]


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (['systems.a/b.model.layers=2'], "cannot be called 'a/b'"),
        (["systems.-a.model.layers=2"], "cannot be called '-a'"),
        (["systems.metadata.model.layers=2"], "cannot be called 'metadata'"),
        (["systems.auto.model.layers=2"], "cannot be called 'auto'"),
        (["systems.a=3"], r"write \[systems.a\]"),
        (["systems.a.recipe=nonsense"], "unknown recipe 'nonsense'"),
        (["systems.a.recipe=3"], "systems.a.recipe = 3 is not allowed"),
        (["systems.a.kind=splade"], "systems.a.kind = 'splade' is not allowed: model or bm25 or dense or grafted or "),
        (["systems.bm25.kind=model"], "systems.bm25.kind = 'model' is not allowed: bm25"),
        (["systems.a.modle.layers=2"], r"unknown key of \[systems.a\]: 'modle'; did you mean 'model'"),
        (["systems.a.model.layer=2"], r"\[systems.a\]: unknown setting 'model.layer'; did you mean 'model.layers'"),
        (["systems.a.model.layers=-2"], r"\[systems.a\]: model.layers = -2"),
        (["systems.a.model=2"], "systems.a.model is a section"),
        (["systems.a.data.split=dev"], r"\[systems.a\] cannot say 'data', which is the run's"),
        (["systems.bm25.model.layers=2"], r"\[systems.bm25\] cannot say 'model'"),
        (["systems.a.run.systems=bm25"], r"\[systems.a\] cannot say run.systems"),
        (
            ["systems.a.model.layers=2", "run.systems=b"],
            "some of bm25, bm25-plain, grafted, blend, a, esplade, dense, hybrid, or auto",
        ),
        (["model.head=plain", 'run.systems=["splade","esplade"]'], "both are the run's own model"),
        (['run.systems=["bm25","bm25"]'], "each system once"),
        (["run.systems=splade"], "some of bm25, bm25-plain, grafted, blend, esplade, dense, hybrid, or auto"),
        (["run.systems=[]"], "some of bm25"),
    ],
)  # fmt: skip
def test_what_is_refused(overrides, said):
    with pytest.raises(SettingError, match=said):
        load_settings(None, overrides)


def test_models_that_start_from_other_rows_do_not_share_pretraining():
    names = 'run.systems=["one","two","three"]'
    tables = ["systems.one.model.graft=neighbours", "systems.two.model.alpha=2", "systems.three.model.calibrate=terms"]
    one, two, three = systems_of(load_settings(overrides=[names, *tables]))
    assert (one.base, two.base, three.base) == ("", "", "models/two")


def test_biases_by_terms_need_a_number_of_terms():
    with pytest.raises(SettingError, match=r"model\.first_terms.*more than 0 with model\.calibrate = terms"):
        load_settings(overrides=["model.calibrate=terms", "model.first_terms=0"])


def in_order(*overrides):
    return [one.name for one in in_order_of_training(systems_of(load_settings(None, overrides)))]


def test_teachers_are_trained_before_those_that_learn_from_them():
    systems = 'run.systems=["b","esplade","hybrid","bm25","dense","c"]'
    taught = ['systems.b.finetune.teachers=["c","dense"]', 'systems.c.finetune.teachers=["dense","bm25"]']
    assert in_order(systems, *taught) == ["bm25", "esplade", "dense", "c", "b"]
    # What all systems of a run are told makes no teacher a pupil.
    assert in_order('run.systems=["bm25","esplade","dense"]', 'finetune.teachers=["dense"]') == [
        "bm25", "dense", "esplade",
    ]  # fmt: skip


def test_who_teaches_all_others_has_no_teacher_unless_it_says_so():
    """The example of docs/howto/training.md."""
    told = [
        'run.systems=["bm25","dense","whole","esplade"]', "systems.whole.finetune.aim=0",
        'finetune.teachers=["whole","dense"]', "finetune.negatives=teachers", "finetune.n_negatives=1",
    ]  # fmt: skip
    assert in_order(*told) == ["bm25", "dense", "whole", "esplade"]
    whole, own = (system_of(load_settings(None, told), name) for name in ("whole", "esplade"))
    assert (whole.teachers, whole.settings.finetune.negatives, whole.settings.finetune.n_negatives) == ((), "", 0)
    assert (own.teachers, own.settings.finetune.miner) == (("whole", "dense"), "whole")
    itself = [*told, 'systems.whole.finetune.teachers=["dense"]']
    assert system_of(load_settings(None, itself), "whole").settings.finetune.miner == "dense"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["systems.a.finetune.validate_every=0"], "a would train on queries by which b, its pupil, validates"),
        (["systems.a.finetune.validation_queries=9"], "finetune.validation_queries of at least 250"),
        (["data.passage_words=9"], "score whole documents"),
        (['run.systems=["a","b"]'], "are measured beside bm25; add it to run.systems"),
    ],
)
def test_lessons_that_cannot_be(changes, said):
    told = ['run.systems=["bm25","a","b"]', "systems.a.model.layers=2", 'systems.b.finetune.teachers=["a"]']
    with pytest.raises(SettingError, match=said):
        in_order(*told, *changes)


@pytest.mark.parametrize(
    ("teachers", "said"),
    [
        (["b", "a"], "a, b wait for each other; one of them must have no teacher"),
        (["b", "other"], "finetune.teachers of b names 'other', which is no system of this run"),
        (["hybrid", "bm25"], "finetune.teachers of a names 'hybrid', which is no system of this run that has vectors"),
    ],
)
def test_teachers_that_cannot_be(teachers, said):
    named = [f'systems.{name}.finetune.teachers=["{teacher}"]' for name, teacher in zip("ab", teachers, strict=True)]
    with pytest.raises(SettingError, match=said):
        in_order('run.systems=["bm25","a","b","hybrid"]', *named)

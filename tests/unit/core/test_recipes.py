import pytest

from lexigraft.core.config import changed_settings, load_settings
from lexigraft.core.errors import SettingError
from lexigraft.core.recipes import list_recipes, read_recipe, recipe_names
from lexigraft.core.settings import Settings
from lexigraft.core.systems import in_order_of_training, systems_of

OURS = ("quickstart", "quickstart-full", "long")
PAPERS = ("emlm", "emlm-lr-h", "esplade-100k", "rand-100k", "splade-32k", "rescale")


@pytest.mark.parametrize("name", recipe_names())
def test_every_shipped_recipe_is_in_order(name):
    recipe = read_recipe(name)
    assert recipe.about and recipe.title != name
    written = {f"{section}.{key}" for section, values in recipe.settings.items() for key in values}
    changed = changed_settings(load_settings(recipe=name))  # an unknown key or a value out of range would raise
    assert set(changed) <= written
    assert bool(recipe.paper) == (name not in OURS)


def test_the_papers_are_there_with_a_small_one_beside_each():
    scale = {recipe.name: recipe.scale for recipe in list_recipes()}
    assert all(scale[name] == "paper" and scale[f"{name}-small"] == "small" for name in PAPERS)


def test_the_long_run_trains_teachers_first_and_pre_trains_once():
    systems = {one.name: one for one in in_order_of_training(systems_of(load_settings(recipe="long")))}
    assert list(systems) == ["bm25", "esplade", "dense", "taught"]
    plain, taught, dense = (systems[name].settings for name in ("esplade", "taught", "dense"))
    assert taught.finetune.teachers == ("esplade", "dense") and not plain.finetune.teachers
    assert (plain.mlm, plain.pretrain, plain.model) == (taught.mlm, taught.pretrain, taught.model)  # so it is shared
    assert plain.mlm.trains and not dense.mlm.trains  # language modelling is for the models of terms


def test_settings_of_the_papers():
    esplade, splade = load_settings(recipe="esplade-100k"), load_settings(recipe="splade-32k")
    seen = esplade.finetune.batch, esplade.finetune.steps, esplade.finetune.joint_flops, esplade.finetune.dual
    assert seen == (3072, 400_000, 5.0, False)
    assert (splade.finetune.qk, splade.finetune.dk, splade.finetune.dual) == (500, 1000, True)
    low, high = load_settings(recipe="emlm").pretrain, load_settings(recipe="emlm-lr-h").pretrain
    assert (low.horizon, high.horizon, low.steps, high.steps) == (0, 2_900_000, 600_000, 600_000)
    assert 7 < low.steps * low.batch / low.texts < 9  # maskings of a text
    rescaled = load_settings(recipe="rescale")
    assert (rescaled.finetune.flops_q, rescaled.finetune.flops_d, rescaled.finetune.joint_flops) == (5e-5, 3e-5, 0)
    assert rescaled.finetune.ramp == pytest.approx(rescaled.finetune.steps / 3, rel=0.01)


@pytest.mark.parametrize("name", PAPERS)
def test_the_papers_models_have_no_part_of_ours(name):
    for scale in (name, f"{name}-small"):
        model = load_settings(recipe=scale).model
        assert (model.own_words, model.pooled, model.pooling) == (0.0, "all", "max")


def test_recipe_then_file_then_overrides(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text('[recipe]\ntitle = "Mine"\n[lexical]\nk1 = 0.7\nb = 0.1\n[search]\nk = 7\n')
    file = tmp_path / "settings.toml"
    file.write_text("[lexical]\nk1 = 0.8\nb = 0.2\n")
    found = load_settings(file, ["lexical.b=0.3"], str(own))
    assert (found.search.k, found.lexical.k1, found.lexical.b) == (7, 0.8, 0.3)
    assert found.model == Settings().model
    assert read_recipe(str(own)).title == "Mine"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[lexical]\nk = 1\n", "did you mean 'lexical.k1'"),
        ('[recipe]\ntilte = "x"\n', "did you mean 'recipe.title'"),
        ("[recipe]\ntitle = 3\n", "should be a text"),
        ('[recipe]\nscale = "huge"\n', "paper or small"),
        ("recipe = 1\n", "is a section"),
        ("[lexical\n", "not valid TOML"),
    ],
)
def test_bad_recipes(text, says, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(text)
    with pytest.raises(SettingError, match=says):
        load_settings(recipe=str(file))


def test_unknown_recipes(tmp_path):
    with pytest.raises(SettingError, match="did you mean 'esplade-100k'"):
        read_recipe("esplade-100")
    with pytest.raises(SettingError, match="there is no recipe file"):
        read_recipe(str(tmp_path / "none.toml"))
    (tmp_path / "own.toml").write_text('[recipe]\ntitle = "x"\n')
    with pytest.raises(SettingError, match="give it as --recipe"):
        load_settings(tmp_path / "own.toml")


def test_settings_of_the_corpus_vocabulary_study():
    splade, unicoil = load_settings(recipe="csv-splade-doc"), load_settings(recipe="csv-unicoil")
    for one in (splade, unicoil):
        assert (one.mlm.epochs, one.finetune.kl, one.finetune.in_batch, one.finetune.temperature) == (10, 1.0, 0.0, 1.0)
        longest = one.model.document_length + one.tilde.trains * one.model.expansion_length
        assert one.mlm.length == longest <= one.backbone.positions  # no position is first read after pre-training
    assert (splade.finetune.steps, splade.finetune.flops_d, splade.backbone.pieces) == (50_000, 0.009, 100_000)
    assert splade.finetune.ramp == pytest.approx(splade.finetune.steps / 3, rel=0.01)
    assert (unicoil.tilde.epochs, unicoil.finetune.epochs, unicoil.tilde.top, unicoil.tilde.keep) == (5, 5, 200, 40)
    assert {name for name in recipe_names() if name.startswith("csv-")} == {
        "csv-splade-doc", "csv-splade-doc-small", "csv-unicoil", "csv-unicoil-small"}  # fmt: skip


@pytest.mark.parametrize("keep", ["41", "0"])
def test_words_that_would_never_be_read_are_refused(keep):
    with pytest.raises(SettingError, match=r"tilde\.keep = .* model\.expansion_length"):
        load_settings(overrides=[f"tilde.keep={keep}"], recipe="csv-unicoil")
    load_settings(overrides=[f"tilde.keep={keep}", "model.expansion_length=200"], recipe="csv-unicoil")

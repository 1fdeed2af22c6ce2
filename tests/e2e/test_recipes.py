"""Recipes, what is said of a head, and the alpha that is chosen for it, on a tiny backbone made here."""

import json

import pytest
import torch

from lexigraft.core.recipes import recipe_names
from lexigraft.model.encoder import open_encoder
from tests.e2e import test_model

backbone, collection = test_model.backbone, test_model.collection
TRAINED = ["esplade-100k-small", "rand-100k-small"]


def sets(*settings):
    return [part for setting in settings for part in ("--set", setting)]


def short(backbone):
    """Only how much is trained, and of what: all else is the recipe's."""
    few = ("pretrain.steps=2", "pretrain.batch=8", "finetune.steps=4", "finetune.batch=8")
    return sets(f"model.backbone={backbone}", *few)


def test_list_and_show(lexigraft):
    listed = lexigraft("recipe", "list", "--json").json
    assert [one["name"] for one in listed] == recipe_names()
    shown = lexigraft("recipe", "list").stdout
    assert "esplade-100k-small" in shown
    for paper in {one["paper"] for one in listed} - {""}:
        assert shown.count(paper) == 1  # below the table, by a number
    shown = lexigraft("recipe", "show", "splade-32k", "--json").json
    assert (shown["changed"]["finetune.joint_flops"], shown["changed"]["finetune.qk"]) == (3.0, 500)
    text = lexigraft("recipe", "show", "splade-32k").stdout
    assert "[finetune]" in text and "arXiv 2509.16621" in text
    wrong = lexigraft("recipe", "show", "splade-30k")
    assert (wrong.status, "did you mean 'splade-32k'" in wrong.stderr) == (2, True)
    far = lexigraft("recipe", "show", "nope")  # near to none: no guess
    assert (far.status, "did you mean" in far.stderr, "Known: csv-splade-doc, " in far.stderr) == (2, False, True)


@pytest.mark.parametrize("alpha", ["0", "-1", "nan", "true", "large"])
def test_a_wrong_alpha(alpha, tmp_path, lexigraft):
    answer = lexigraft("finetune", "--data", tmp_path, "--out", tmp_path / "run", "--alpha", alpha)
    assert answer.status == 2
    assert "model.alpha = " in answer.stderr and "more than 0, or auto" in answer.stderr


@pytest.fixture(scope="module")
def three_layers(backbone, tmp_path_factory):
    """The tiny backbone with as many layers as the small recipes take."""
    import transformers

    folder = tmp_path_factory.mktemp("three-layers")
    transformers.AutoTokenizer.from_pretrained(backbone).save_pretrained(folder)
    config = transformers.AutoConfig.from_pretrained(backbone, num_hidden_layers=3)
    torch.manual_seed(0)
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("name", TRAINED)
def test_a_small_recipe_trains(name, three_layers, collection, tmp_path, lexigraft):
    run = tmp_path / "run"
    answer = lexigraft("finetune", "--data", collection, "--out", run, "--recipe", name, "--json", *short(three_layers))
    assert answer.status == 0, answer.stderr
    encoder = open_encoder(run / "model/finetuned")
    assert (encoder.meta.query_terms, encoder.meta.stemmer, encoder.head.own) == (200, "none", None)
    assert encoder.meta.head == ("random" if name.startswith("rand") else "grafted")
    again = lexigraft("vocab", "learn", "--data", collection, "--out", run, "--recipe", name, *short(three_layers))
    assert "vocabulary: done before" in again.stderr


def inflated(backbone, *more):
    return sets(
        f"model.backbone={backbone}", "model.layers=0", "model.own_words=0", "model.inflate=100", "pretrain.steps=2",
        "pretrain.batch=8", "vocab.min_count=1", "vocab.stemmer=none", "finetune.steps=4", "finetune.batch=16",
        "finetune.learning_rate=0.003", "finetune.head_rate=1", "finetune.frozen_layers=0", "finetune.joint_flops=0.01",
        *more,
    )  # fmt: skip


@pytest.fixture
def pretrained(backbone, collection, tmp_path, lexigraft):
    run = tmp_path / "run"
    assert lexigraft("pretrain", "--data", collection, "--out", run, *inflated(backbone)).status == 0
    return run


@pytest.mark.integration  # it takes long
def test_an_inflated_head_is_said_to_be_too_large_and_auto_divides_it(
    pretrained, backbone, collection, tmp_path, lexigraft
):
    found = lexigraft("model", "diagnose", pretrained, "--data", collection, "--pairs", 16, "--json").json
    assert found["norms"]["mean_norm"] >= 2
    assert (found["tied"], found["head"], found["activations"]["n_pairs"]) == (False, "grafted", 16)
    losses = [one["first_loss"] for one in found["by_alpha"].values()]
    assert losses == sorted(losses, reverse=True)
    assert found["alpha"] > 1 and f"--alpha {found['alpha']:g}" in found["predictions"][0]
    printed = lexigraft("model", "diagnose", pretrained / "model/pretrained", "--data", collection).stdout
    assert "first loss" in printed and "--alpha auto" in printed

    arguments = ["finetune", "--data", collection, "--out", pretrained, "--alpha", "auto", *inflated(backbone)]
    answer = lexigraft(*arguments)
    assert answer.status == 0, answer.stderr
    choice = json.loads((pretrained / "model/finetuned/alpha.json").read_text())
    assert choice["alpha"] > 1
    assert f"alpha: {choice['alpha']:g} is taken" in answer.stderr
    assert [probe["alpha"] for probe in choice["probes"]][:5] == [1, 2, 4, 8, 16]
    best = max(choice["probes"], key=lambda probe: (probe["score"], -probe["last_loss"], -probe["alpha"]))
    assert best["alpha"] == choice["alpha"]
    assert lexigraft(*arguments, "--again").status == 0
    assert json.loads((pretrained / "model/finetuned/alpha.json").read_text()) == choice  # the same at every call
    assert not list((pretrained / "model").glob("*probe*"))


def test_inflating_multiplies_the_rows_alone(backbone, collection, tmp_path, lexigraft):
    heads = []
    for number, factor in enumerate((1, 8)):
        run = tmp_path / str(number)
        options = inflated(backbone, "pretrain.steps=0", f"model.inflate={factor}", "model.own_words=2")
        assert lexigraft("pretrain", "--data", collection, "--out", run, *options).status == 0
        heads.append(open_encoder(run / "model/pretrained").head)
    assert torch.allclose(heads[1].weight, 8 * heads[0].weight)
    assert torch.equal(heads[1].bias, heads[0].bias)
    assert torch.equal(heads[1].own, heads[0].own)


def test_a_head_that_is_not_too_large_is_left_alone(backbone, collection, tmp_path, lexigraft):
    run = tmp_path / "run"
    options = inflated(backbone, "model.inflate=1", "finetune.steps=2")
    answer = lexigraft("finetune", "--data", collection, "--out", run, "--alpha", "auto", *options)
    assert answer.status == 0, answer.stderr
    choice = json.loads((run / "model/finetuned/alpha.json").read_text())
    assert (choice["alpha"], choice["probes"]) == (1.0, [])


def test_a_backbone_is_looked_at_by_itself(backbone, collection, tmp_path, lexigraft):
    arguments = ["model", "diagnose", "--backbone", backbone, "--set", "model.layers=0", "--json"]
    alone = lexigraft(*arguments).json
    assert (alone["head"], alone["tied"], alone["activations"], alone["width"]) == ("plain", True, None, 32)
    tried = lexigraft(*arguments, "--data", collection, "--pairs", 8).json
    assert tried["norms"] == alone["norms"]
    assert tried["activations"]["first_loss"] > 0
    for bad, says in [
        (["model", "diagnose"], "not both"),
        (["model", "diagnose", tmp_path, "--backbone", backbone], "not both"),
        (["model", "diagnose", tmp_path], "neither a model nor a run"),
        (["finetune", "--data", collection, "--out", tmp_path / "x", "--alpha", "-1"], "more than 0, or auto"),
        (["finetune", "--data", collection, "--out", tmp_path / "x", "--alpha", "big"], "model.alpha"),
    ]:
        answer = lexigraft(*bad)
        assert (answer.status, says in answer.stderr) == (2, True), answer.stderr


@pytest.mark.parametrize("name", ["csv-splade-doc-small", "csv-unicoil-small"])
def test_a_chain_from_the_corpus_alone(name, collection, tmp_path, lexigraft):
    """Tokenizer, encoder, masked language model, expansion, ranking: no backbone is given, and search answers."""
    few = [
        'run.systems=["bm25","esplade"]', "backbone.pieces=120", "backbone.width=32", "backbone.heads=2",
        "model.layers=1", "mlm.steps=4", "mlm.batch=8",
    ]  # fmt: skip
    few += ["finetune.steps=6", "finetune.batch=16", "finetune.validate_every=0", "evaluate.timing_runs=1"]
    few += ["tilde.steps=4", "tilde.batch=8"] if name.startswith("csv-unicoil") else []
    run = tmp_path / "run"
    answer = lexigraft("run", "--data", collection, "--out", run, "--recipe", name, "--json", *sets(*few))
    assert answer.status == 0, answer.stderr
    meta = open_encoder(run / "model/finetuned").meta
    unicoil = name.startswith("csv-unicoil")
    assert (meta.head, meta.queries) == (("unicoil", "model") if unicoil else ("plain", "words"))
    assert (run / "model/tilde").is_dir() == (meta.expansion_length > 0) == unicoil
    hits = lexigraft("search", "--run", run, "kura kure", "--k", 3, "--json").json["hits"]
    assert len(hits) == 3


def test_the_papers_chains_are_whole(lexigraft):
    for name in ("csv-splade-doc", "csv-unicoil"):
        changed = lexigraft("recipe", "show", name, "--json").json["changed"]
        assert (changed["mlm.epochs"], changed["finetune.kl"], changed["teacher.epochs"]) == (10, 1.0, 1)
        assert changed["model.backbone"] == "scratch"

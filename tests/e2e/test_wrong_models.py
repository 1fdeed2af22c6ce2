"""Folders that are no model, or not the kind that is needed: one line says so, and nothing is left behind."""

import shutil

import pytest
import transformers

from tests.e2e.test_bad_input import one_line_error
from tests.e2e.test_model import backbone, collection  # noqa: F401
from tests.families import write_backbone

FEW = ("pretrain.steps=0", "finetune.steps=1", "finetune.batch=8", "finetune.validate_every=0", "vocab.min_count=1")


def train(lexigraft, stage, data, run, backbone, *changes):  # noqa: F811
    settings = (f"model.backbone={backbone}", "model.layers=1", *FEW, *changes)
    return lexigraft(stage, "--data", data, "--out", run, *(part for one in settings for part in ("--set", one)))


def test_a_run_stands_for_its_model(backbone, collection, tmp_path, lexigraft):  # noqa: F811
    """Its fine-tuned one; one that is only pre-trained has no vectors yet, but has logits."""
    run, encode = tmp_path / "run", ("encode", "--data", collection, "--out", tmp_path / "vectors", "--model")
    assert train(lexigraft, "pretrain", collection, run, backbone).status == 0
    one_line_error(lexigraft(*encode, run), "run/model/pretrained was pre-trained and not fine-tuned", "finetune")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    said = lexigraft("model", "logits", "--model", run, "--data", collection, "--texts", 5, "--json").json
    assert (said["model"], said["documents"]) == (str(run / "model/pretrained"), 5)
    assert train(lexigraft, "finetune", collection, run, backbone).status == 0
    assert "160 documents" in lexigraft(*encode, run).stdout


@pytest.mark.parametrize("command", ["encode", "logits"])
def test_a_folder_that_is_no_model(command, collection, tmp_path, lexigraft):  # noqa: F811
    call = ["encode", "--out", tmp_path / "out"] if command == "encode" else ["model", "logits"]
    for folder in (collection, tmp_path / "absent"):
        answer = lexigraft(*call, "--data", collection, "--model", folder)
        one_line_error(answer, f"{folder} is neither a model nor a run with one", "lexigraft model import")
    assert not list(tmp_path.iterdir())


def test_a_failed_builder_leaves_nothing(collection, tmp_path, tmp_path_factory, lexigraft):  # noqa: F811
    damaged = shutil.copytree(collection, tmp_path_factory.mktemp("damaged") / "data")
    with (damaged / "corpus.jsonl").open("a") as file:
        file.write("{\n")
    answer = lexigraft("index", "--data", damaged, "--out", tmp_path / "index")
    one_line_error(answer, "not valid JSON")
    assert not list(tmp_path.iterdir())


def test_backbones_that_are_none(backbone, collection, tmp_path, lexigraft):  # noqa: F811
    def refused(folder, *changes):
        answer = train(lexigraft, "finetune", collection, tmp_path / "run", folder, *changes)
        assert not (tmp_path / "run/model/pretrained").exists()
        return answer

    causal, tokenizer = tmp_path / "causal", transformers.AutoTokenizer.from_pretrained(backbone)
    sizes = {"n_embd": 8, "n_layer": 1, "n_head": 1, "n_positions": 32}
    transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=len(tokenizer), **sizes)).save_pretrained(causal)
    one_line_error(refused(causal), f"'{causal}': it has no tokenizer", "save the one it was trained with")
    tokenizer.save_pretrained(causal)
    one_line_error(refused(causal), f"'{causal}' is no masked language model", "GPT2LMHeadModel", "such as BERT")
    one_line_error(lexigraft("model", "diagnose", "--backbone", causal), "is no masked language model")
    one_line_error(refused(backbone, "model.layers=3"), "has 2 layers, not 3; model.layers may be 2 at most (0: all)")
    one_line_error(refused(tmp_path / "absent"), "absent'", "give a folder that is there, 'embedded', or a hub name")
    mlm = ("model", "mlm", "--texts", collection, "--out", tmp_path / "mlm", "--steps", 1, "--backbone")
    one_line_error(lexigraft(*mlm, causal), "is no masked language model")
    one_line_error(lexigraft(*mlm, backbone, "--length", 2000), "reads at most 512 subwords")
    assert [path.name for path in tmp_path.iterdir() if "mlm" in path.name] == []
    made = tmp_path / "made"
    assert train(lexigraft, "pretrain", collection, made, backbone).status == 0
    one_line_error(refused(made / "model/pretrained"), "is a model that Lexigraft made, not a backbone", "--model")


def test_positions_that_a_family_never_uses_are_not_counted(collection, tmp_path, lexigraft):  # noqa: F811
    roberta = write_backbone("roberta", tmp_path / "roberta")
    positions = transformers.AutoConfig.from_pretrained(roberta).max_position_embeddings
    mlm = ("model", "mlm", "--texts", collection, "--out", tmp_path / "mlm", "--steps", 1, "--backbone", roberta)
    one_line_error(lexigraft(*mlm, "--length", positions), f"reads at most {positions - 2} subwords")

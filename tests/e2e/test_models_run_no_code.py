"""Models that others made are data: their code is not run, whoever says yes, and pickled weights are not opened."""

import io
import json
import pickle
import shutil
import sys

import pytest
import torch
import transformers

from lexigraft.core.errors import InputError
from lexigraft.core.pretrained import model_of_config
from tests.e2e.test_bad_input import one_line_error
from tests.families import write_backbone

CODE = """
from pathlib import Path
Path({mark!r}).touch()
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast
class OwnConfig(BertConfig):
    model_type = "bert_of_ours"
class OwnModel(BertForMaskedLM):
    config_class = OwnConfig
class OwnTokenizer(BertTokenizerFast):
    pass
"""
MODEL = {"AutoConfig": "own.OwnConfig", "AutoModelForMaskedLM": "own.OwnModel", "AutoModel": "own.OwnModel"}
TOKENIZER = {"AutoTokenizer": [None, "own.OwnTokenizer"]}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return write_backbone("bert", tmp_path_factory.mktemp("plain"))


@pytest.fixture
def model(plain, tmp_path, monkeypatch):
    """A model of others in a folder with code that leaves a mark, and somebody who answers every question with yes."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 50))
    folder = shutil.copytree(plain, tmp_path / "theirs")
    (folder / "own.py").write_text(CODE.format(mark=str(tmp_path / "mark")))
    return folder


def change(file, **entries):
    file.write_text(json.dumps({**json.loads(file.read_text()), **entries}))


def commands(folder, data, out):
    """Every way to a model of others."""
    negatives = data / "negatives.trec"
    negatives.write_text("q4 Q0 d1 1 2.0 t\n")
    few = ("--set", "pretrain.steps=0", "--set", "finetune.steps=1", "--set", "vocab.min_count=1")
    return [
        ("model", "import", folder, "--out", out),
        ("model", "diagnose", "--backbone", folder),
        ("model", "mlm", "--backbone", folder, "--texts", data, "--out", out, "--steps", 1),
        ("finetune", "--data", data, "--out", out, "--set", f"model.backbone={folder}", *few),
        ("teacher", "train", "--data", data, "--out", out, "--backbone", folder, "--negatives", negatives),
        ("expand", "generate", "--of", "documents", "--model", folder, "--data", data, "--out", f"{out}.jsonl"),
    ]


@pytest.mark.parametrize("command", range(6), ids=["import", "diagnose", "mlm", "finetune", "teacher", "generate"])
@pytest.mark.parametrize("kind", ["unknown family", "known family", "tokenizer"])
def test_code_in_a_models_folder_is_never_run(kind, command, model, collection, tmp_path, lexigraft):
    if kind == "tokenizer":
        change(model / "tokenizer_config.json", auto_map=TOKENIZER, tokenizer_class="OwnTokenizer")
    else:
        change(model / "config.json", auto_map=MODEL, **({"model_type": "theirs"} if kind == "unknown family" else {}))
    answer = lexigraft(*commands(model, collection, tmp_path / "out")[command])
    one_line_error(answer, f"{model}/", "names code to be run when the model is opened (auto_map)", "never run")
    assert not (tmp_path / "mark").exists()
    assert sys.stdin.read() == "y\n" * 50, "nobody was asked"


@pytest.mark.parametrize(
    ("command", "name"),
    [*enumerate(["pytorch_model.bin"] * 6), (0, "model.pt"), (0, "model.ckpt"), (0, "weights.pkl")],
)
def test_pickled_weights_are_never_opened(command, name, model, collection, tmp_path, lexigraft):
    class Leaves:
        def __reduce__(self):
            return (open, (str(tmp_path / "mark"), "w"))

    (model / "model.safetensors").unlink()
    (model / name).write_bytes(pickle.dumps({"bert.embeddings.word_embeddings.weight": Leaves()}))
    answer = lexigraft(*commands(model, collection, tmp_path / "out")[command])
    one_line_error(answer, f"{model / name} is a pickle", "convert it to safetensors", "save_pretrained(NEW)")
    assert not (tmp_path / "mark").exists()


def test_of_both_forms_the_safe_one_is_opened(model, plain, tmp_path, lexigraft):
    (model / "own.py").unlink()
    torch.save({}, model / "pytorch_model.bin")
    assert lexigraft("model", "import", model, "--out", tmp_path / "out").status == 0


def test_a_saved_model_of_ours_that_somebody_gave_code_to(model, plain, tmp_path, lexigraft):
    """Its parts lie in a folder of `transformers`, too."""
    config = transformers.AutoConfig.from_pretrained(plain)
    config.auto_map = MODEL
    with pytest.raises(InputError, match="names code to be run"):
        model_of_config(transformers.AutoModelForMaskedLM, config)
    assert sys.stdin.read() == "y\n" * 50


def test_compiled_code_from_a_hub_is_code(model, tmp_path, lexigraft):
    change(model / "config.json", attn_implementation="somebody/kernel")
    answer = lexigraft("model", "import", model, "--out", tmp_path / "out")
    one_line_error(answer, "names code to be run when the model is opened (attn_implementation)")

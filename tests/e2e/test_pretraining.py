"""Pre-training end to end on tiny backbones made here: texts, validation, pictures, and a head for who has none."""

import json
import logging

import numpy as np
import pytest
import torch
import transformers

from lexigraft.core.artifact import read_manifest
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.learn import training_curves
from lexigraft.model.backbone import load_backbone
from lexigraft.model.encoder import open_encoder
from lexigraft.model.masked_lm import load_masked_lm
from lexigraft.train.language.logits import measure_logits
from tests.killed import Killed

WORDS = [f"{stem}{ending}" for stem in ("kur", "mel", "tos", "vip") for ending in ("", "a", "e", "i", "o")]
SIZES = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "hidden_size": 16}
MASKED_LM = {
    "bert": lambda n: transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=n, **SIZES)),
    "roberta": lambda n: transformers.RobertaForMaskedLM(transformers.RobertaConfig(vocab_size=n, **SIZES)),
    "distilbert": lambda n: transformers.DistilBertForMaskedLM(
        transformers.DistilBertConfig(vocab_size=n, dim=16, n_layers=2, n_heads=2, hidden_dim=32)
    ),
    "albert": lambda n: transformers.AlbertForMaskedLM(
        transformers.AlbertConfig(vocab_size=n, embedding_size=8, **SIZES)
    ),
}


def make_backbone(folder, family="bert", with_head=True):
    """Its WordPiece knows letters and stems: "kura" is two subwords, "kur" is one."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    pieces += WORDS[::5]
    transformers.BertTokenizerFast(vocab={piece: number for number, piece in enumerate(pieces)}).save_pretrained(folder)
    torch.manual_seed(0)
    model = MASKED_LM[family](len(pieces))
    (model if with_head else model.base_model).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    return make_backbone(tmp_path_factory.mktemp("backbone"))


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """240 texts of one stem's words each, so that a masked word can be guessed from its neighbours."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS[5 * (n % 4) : 5 * (n % 4) + 5], 6)) for n in range(240)]
    documents = [Document(f"d{n}", "", text) for n, text in enumerate(texts)]
    queries = [Query(f"q{n}", f"{WORDS[n % 20]} {WORDS[(n + 1) % 20]}") for n in range(40)]
    folder = tmp_path_factory.mktemp("data") / "stems"
    write_collection(folder, documents, queries, {"train": [Qrel(f"q{n}", f"d{n}", 1) for n in range(40)]})
    return folder


def pretraining(collection, backbone, run, *changes):
    settings = [
        f"model.backbone={backbone}", "model.layers=0", "vocab.min_count=1", "vocab.stemmer=none",
        "vocab.stopwords=none", "pretrain.steps=24", "pretrain.batch=16", "pretrain.learning_rate=0.01",
        "pretrain.validate_every=10", "pretrain.validation_texts=12", *changes,
    ]  # fmt: skip
    return ["pretrain", "--data", collection, "--out", run, "--json", *(p for s in settings for p in ("--set", s))]


@pytest.fixture(scope="module")
def pretrained(collection, backbone, tmp_path_factory):
    from lexigraft.core.config import load_settings
    from lexigraft.whole_run import train_until

    run = tmp_path_factory.mktemp("run") / "run"
    call = pretraining(collection, backbone, run)
    settings = load_settings(None, [call[place + 1] for place, part in enumerate(call) if part == "--set"])
    return train_until(str(collection), run, settings, "pretrain")


def test_both_subword_sets_are_measured_every_so_often_and_at_the_end(pretrained):
    history = json.loads((pretrained / "history.json").read_text())
    measured = [place + 1 for place, values in enumerate(history) if "first_accuracy" in values]
    assert measured == [10, 20, 24]
    for values in (history[place - 1] for place in measured):
        assert values.keys() >= {"first_loss", "later_loss", "later_accuracy"}
        assert 0 <= values["first_accuracy"] <= 1
    assert history[23]["later_loss"] < history[9]["later_loss"]  # it learned something of texts that never trained
    facts = json.loads((pretrained / "pretraining.json").read_text())
    assert facts["validation_texts"] == 12
    assert facts["texts"] == 280  # documents and training queries
    assert facts["training_texts"] <= facts["texts"] - facts["without_terms"] - 12
    assert (pretrained / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_without_steps_no_text_is_read(collection, backbone, tmp_path, lexigraft):
    answer = lexigraft(*pretraining(collection, backbone, tmp_path / "run", "pretrain.steps=0"))
    assert answer.status == 0, answer.stderr
    folder = tmp_path / "run/model/pretrained"
    assert json.loads((folder / "history.json").read_text()) == []
    assert not (folder / "pretraining.json").exists() and not (tmp_path / "run/model/pretrain-texts").exists()
    assert open_encoder(folder).head.weight.isfinite().all()


def test_other_texts_a_few_of_them_and_those_without_terms(collection, backbone, tmp_path, lexigraft):
    source = tmp_path / "other.txt"
    source.write_text(
        "\n".join([*(f"{word} zzz {word}" for word in WORDS), "zzz", "xyz", f"{WORDS[0]} zzz {WORDS[0]}"])
    )
    changes = [f"pretrain.source={source}", "pretrain.texts=7", "pretrain.validate_every=0", "pretrain.steps=2"]
    answer = lexigraft(*pretraining(collection, backbone, tmp_path / "run", *changes))
    assert answer.status == 0, answer.stderr
    assert "2 of 23 texts hold no term and are left out" in answer.stderr
    folder = tmp_path / "run/model/pretrained"
    assert json.loads((folder / "pretraining.json").read_text()) == {
        "texts": 23, "without_terms": 2, "training_texts": 7, "validation_texts": 0,
    }  # fmt: skip
    before = read_manifest(folder)
    source.write_text(f"{WORDS[0]} {WORDS[1]}\n")
    again = lexigraft(*pretraining(collection, backbone, tmp_path / "run", *changes))
    assert "pretrain.texts: there are 1 distinct texts with terms, not 7" in again.stderr
    assert read_manifest(folder).parents["texts"] != before.parents["texts"]
    source.write_text("")
    nothing = lexigraft(*pretraining(collection, backbone, tmp_path / "run", *changes))
    assert (nothing.status, "there is no text to pre-train on" in nothing.stderr) == (2, True)


def test_without_terms_of_several_subwords_it_goes_on(backbone, tmp_path, lexigraft):
    stems = WORDS[::5]
    documents = [Document(f"d{n}", "", f"{stems[n % 4]} {stems[n // 4 % 4]} {stems[n // 16]}") for n in range(40)]
    write_collection(tmp_path / "c", documents, [Query("q", stems[0])], {"train": [Qrel("q", "d0", 1)]})
    answer = lexigraft(*pretraining(tmp_path / "c", backbone, tmp_path / "run", "pretrain.steps=2"))
    assert answer.status == 0, answer.stderr
    assert "no text holds a term of several subwords: nothing to validate on" in answer.stderr
    assert "first_loss" not in answer.json


def test_pictures_are_the_same_bytes_for_the_same_history(tmp_path):
    history = [{"loss": 1.0 / (n + 1), "rank": 0.5, "L0_q": n, "L0_d": 2 * n} for n in range(30)]
    history[9]["R@10"] = 0.5
    for name in ("a.png", "b.png"):
        training_curves.draw(history, tmp_path / name)
    history[5]["loss"] = 3.0
    training_curves.draw(history, tmp_path / "c.png")
    a, b, c = ((tmp_path / f"{name}.png").read_bytes() for name in "abc")
    assert a == b != c
    training_curves.draw([], tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()


def test_logits_of_a_pretrained_model(pretrained, collection, tmp_path, lexigraft):
    call = ["model", "logits", "--model", pretrained, "--data", collection]
    found = lexigraft(*call, "--texts", 50, "--json", "--out", tmp_path / "deep/logits.json").json
    assert json.loads((tmp_path / "deep/logits.json").read_text()) == found
    assert (found["documents"], found["length"], found["terms"]) == (50, 16, 20)
    assert found["doc-score-avg@10"] > found["doc-score-avg@all"]
    assert found["doc-score-avg@100"] == pytest.approx(found["doc-score-avg@all"])  # there are only 20
    assert 0 <= found["non-neg-terms-avg"] <= 20
    shown = " ".join(lexigraft(*call, "--texts", 0).stdout.split())  # titles wrap
    assert "of 240 documents, 20 terms" in shown
    assert "logit-score-std" in shown
    (tmp_path / "empty.txt").write_text("?!\n")
    refused = lexigraft(*call[:4], "--data", tmp_path / "empty.txt")
    assert (refused.status, "no document of" in refused.stderr) == (2, True)


def test_logits_are_those_of_the_texts_own_subwords(pretrained):
    """The mean of all logits, by the model itself, text by text: special tokens left out, no padding."""
    encoder, texts = open_encoder(pretrained), [f"{WORDS[1]} {WORDS[0]}", WORDS[7], "?"]
    means = []
    for text in texts[:2]:
        subwords = torch.tensor([encoder.reader().read([text], 16).subwords.tolist()])
        hidden = encoder.body(subwords, torch.ones_like(subwords))[0, 1:-1]
        means.append((hidden @ encoder.head.weight.T + encoder.head.bias).mean().item())
    statistics = measure_logits(encoder, texts, 16)
    assert (statistics.n_documents, statistics.n_tokens) == (2, 5)
    assert statistics.result()["doc-score-avg@all"] == pytest.approx(np.mean(means), rel=0.02, abs=0.02)


def mlm(backbone, texts, out, *more):
    options = ["--steps", 40, "--batch", 32, "--learning-rate", 0.01, "--warmup", 4, "--length", 12]
    return ["model", "mlm", "--backbone", backbone, "--texts", texts, "--out", out, *options, "--json", *more]


def test_a_backbone_without_a_head_gets_one_and_learns(collection, tmp_path, lexigraft):
    bare = make_backbone(tmp_path / "bare", with_head=False)
    assert not load_backbone(str(bare)).body.has_mlm_head
    answer = lexigraft(*mlm(bare, collection, tmp_path / "made"))
    assert answer.status == 0, answer.stderr
    history = json.loads((tmp_path / "made/history.json").read_text())
    assert answer.json["head"] == "added"
    assert answer.json["loss"] < history[0]["loss"] - 0.5
    assert answer.json["accuracy"] > history[0]["accuracy"]
    opened = load_backbone(str(tmp_path / "made"))
    assert opened.body.has_mlm_head
    model = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "made")
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    assert model.get_output_embeddings().bias.detach().abs().sum() > 0  # trained, saved and loaded
    start = transformers.AutoModel.from_pretrained(bare).get_input_embeddings().weight
    assert not torch.equal(start, model.get_input_embeddings().weight)
    assert "done before" in lexigraft(*mlm(bare, collection, tmp_path / "made")).stderr
    assert not list(tmp_path.glob(".made*"))
    run = lexigraft(*pretraining(collection, tmp_path / "made", tmp_path / "run", "pretrain.steps=2"))
    assert run.status == 0, run.stderr
    assert open_encoder(tmp_path / "run/model/pretrained").meta.mlm_head == "own"


def test_a_head_of_its_own_is_trained_further_and_pressed_sparse(backbone, collection, tmp_path, lexigraft):
    plain = lexigraft(*mlm(backbone, collection, tmp_path / "plain"), "--layers", 1).json
    assert plain["head"] == "own"
    pressed = lexigraft(*mlm(backbone, collection, tmp_path / "pressed"), "--layers", 1, "--flops", 0.1)
    history = json.loads((tmp_path / "pressed/history.json").read_text())
    assert history[0]["loss"] == pytest.approx(history[0]["mlm"] + history[0]["pressure"])
    assert history[-1]["pressure"] < history[0]["pressure"]
    assert "pressure" not in json.loads((tmp_path / "plain/history.json").read_text())[0]
    assert pressed.status == 0


@pytest.mark.parametrize("family", MASKED_LM)
def test_heads_of_every_family(family, tmp_path):
    """Saved and opened again, a model with an added head gives the same logits, from the encoder's own weights."""
    bare = make_backbone(tmp_path / "bare", family, with_head=False)
    made = load_masked_lm(str(bare), 0, seed=1).eval()
    assert (made.head, made.is_tied) == ("added", True)
    subwords = torch.tensor([[2, 7, 40, 9, 3]])
    mask = torch.ones_like(subwords)
    encoder = transformers.AutoModel.from_pretrained(bare).eval()
    inner = made.body.model.base_model(input_ids=subwords, attention_mask=mask).last_hidden_state
    torch.testing.assert_close(inner, encoder(input_ids=subwords, attention_mask=mask).last_hidden_state)
    with torch.no_grad():
        made.bias.add_(torch.arange(len(made.bias)) / 100)
    logits = made(subwords, mask) @ made.weight.T + made.bias
    made.save(tmp_path / "saved")
    opened = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "saved").eval()
    torch.testing.assert_close(opened(input_ids=subwords, attention_mask=mask).logits, logits)
    again = load_masked_lm(str(tmp_path / "saved"), 0, seed=2).eval()
    assert again.head == "own"
    torch.testing.assert_close(again(subwords, mask) @ again.weight.T + again.bias, logits)


def test_a_killed_training_continues(backbone, collection, tmp_path, lexigraft, monkeypatch, caplog):
    from lexigraft.train.language import mlm as module

    def die_at_30(step, *rest, rows_of_step=module.rows_of_step):
        if step == 30:
            raise Killed
        return rows_of_step(step, *rest)

    call = mlm(backbone, collection, tmp_path / "out", "--checkpoint-every", 20)
    with monkeypatch.context() as patch:
        patch.setattr(module, "rows_of_step", die_at_30)
        with pytest.raises(Killed):
            lexigraft(*call)
    assert not (tmp_path / "out").exists()
    caplog.set_level(logging.INFO)
    answer = lexigraft(*call)
    assert "mlm: continuing after step 20 of 40" in answer.stderr
    lexigraft(*mlm(backbone, collection, tmp_path / "whole", "--checkpoint-every", 20))
    weights = [load_backbone(str(tmp_path / name)).subword_weight for name in ("out", "whole")]
    torch.testing.assert_close(*weights)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--length", 2), "mlm.length = 2 is not allowed: 3 or more"),
        (("--length", 5000), "reads at most 512 subwords"),
        (("--steps", 0), "mlm.steps = 0 is not allowed: 1 or more"),
        (("--texts", "nowhere"), "there is no collection at nowhere"),
        (("--backbone", "nothing-here/at-all"), "no backbone can be loaded"),
    ],
)
def test_bad_input(change, message, backbone, collection, tmp_path, lexigraft):
    answer = lexigraft(*mlm(backbone, collection, tmp_path / "out", *change))
    assert (answer.status, message in answer.stderr.replace("\n", " ")) == (2, True), answer.stderr
    assert not (tmp_path / "out").exists()


def test_texts_that_the_backbone_cannot_read(backbone, tmp_path, lexigraft):
    (tmp_path / "t.txt").write_text("한국어\n")
    answer = lexigraft(*mlm(backbone, tmp_path / "t.txt", tmp_path / "out"))
    assert (answer.status, "no text holds a word that the backbone's tokenizer knows" in answer.stderr) == (2, True)

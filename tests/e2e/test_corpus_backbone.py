"""Encoders for a corpus's own vocabulary: drawn in any size, and trained as masked language models in a run."""

import json
import logging
import shutil

import pytest
import torch

from lexigraft.core.artifact import read_manifest
from lexigraft.core.config import load_settings
from lexigraft.core.errors import InputError
from lexigraft.model.backbone import find_backbone, load_backbone, state_hash
from lexigraft.model.encoder import open_encoder
from lexigraft.whole_run import train_until
from tests.e2e.test_pretraining import WORDS, backbone, collection  # noqa: F401
from tests.killed import Killed


@pytest.fixture(scope="module")
def second(tmp_path_factory):
    """Texts of other pairs of words than the collection's."""
    file = tmp_path_factory.mktemp("second") / "second.txt"
    file.write_text("\n".join(f"{WORDS[n % 20]} {WORDS[(3 * n + 5) % 20]} {WORDS[(7 * n) % 20]}" for n in range(50)))
    return file


SMALL = (
    "model.backbone=scratch", "model.layers=1", "model.head=plain", "backbone.pieces=70", "backbone.width=16",
    "backbone.heads=2", "backbone.positions=32", "mlm.steps=6", "mlm.batch=16", "mlm.warmup=2", "mlm.length=12",
    "mlm.learning_rate=0.01", "mlm.checkpoint_every=2", "pretrain.steps=1", "pretrain.batch=8",
)  # fmt: skip


def train(collection, run, *changes, stage="pretrain", from_stage=None):  # noqa: F811
    return train_until(str(collection), run, load_settings(None, [*SMALL, *changes]), stage, from_stage)


def parts(run, *names):
    return {name: read_manifest(run / "model" / name) for name in names}


@pytest.fixture(scope="module")
def both(collection, second):  # noqa: F811
    """The collection, and the settings that make its encoder go on with the second corpus."""
    return collection, (f"mlm.second={second}", "mlm.second_steps=4", "mlm.sampled=20")


@pytest.fixture(scope="module")
def trained(both, tmp_path_factory):
    run = tmp_path_factory.mktemp("run") / "run"
    train(both[0], run, *both[1])
    return run


def test_a_run_trains_its_fresh_encoder_on_one_corpus_and_goes_on_with_a_second(trained):
    first, then = (json.loads((trained / f"model/{part}/mlm.json").read_text()) for part in ("mlm", "mlm-second"))
    assert (first["texts"], first["steps"], then["texts"], then["steps"]) == (280, 6, 50, 4)
    assert (first["head"], first["backbone"]) == ("own", "scratch")
    assert "accuracy" not in first
    assert 0 <= first["sampled_accuracy"] <= 1
    sources = [str(trained / "model" / part) for part in ("backbone", "mlm", "mlm-second")]
    drawn, after, last = (state_hash(load_backbone(source).body) for source in sources)
    assert len({drawn, after, last}) == 3
    model = open_encoder(trained / "model/pretrained")
    config = find_backbone(sources[2]).config
    assert (config.hidden_size, config.num_attention_heads, config.max_position_embeddings) == (16, 2, 32)
    assert model.meta.backbone == "scratch"
    assert len(model.vocabulary) == config.vocab_size  # the pieces of its own tokenizer are its terms
    left = {path.name for path in (trained / "model").iterdir()}
    assert not left & {"mlm-checkpoint", "mlm-texts", "mlm-second-checkpoint", "mlm-second-texts"}


def test_what_is_done_is_kept_and_a_change_redoes_what_depends_on_it(both, trained, tmp_path):
    run, (data, changes) = tmp_path / "run", both
    shutil.copytree(trained, run)
    names = ("backbone", "vocabulary", "mlm", "mlm-second", "pretrained")
    before = parts(run, *names)
    train(data, run, *changes, "mlm.checkpoint_every=3")  # which decides nothing
    assert parts(run, *names) == before
    train(data, run, *changes, "mlm.second_steps=5")
    after = parts(run, *names)
    assert [name for name in names if after[name] != before[name]] == ["mlm-second", "pretrained"]
    train(data, run)  # without a second corpus, and with the full softmax
    assert "accuracy" in json.loads((run / "model/mlm/mlm.json").read_text())
    last = parts(run, *names)
    assert last["pretrained"].config["trained"] == last["mlm"].fingerprint
    assert [name for name in names[:3] if last[name] != before[name]] == ["mlm"]


def test_killed_within_either_corpus_it_ends_with_the_same_weights(both, trained, tmp_path, monkeypatch, caplog):
    from lexigraft.train.language import mlm as module

    data, changes = both
    caplog.set_level(logging.INFO)
    for part, n_rows in (("mlm", 280), ("mlm-second", 50)):

        def die_at_3(step, n, *rest, n_rows=n_rows, rows_of_step=module.rows_of_step):
            if (step, n) == (3, n_rows):
                raise Killed
            return rows_of_step(step, n, *rest)

        with monkeypatch.context() as patch:
            patch.setattr(module, "rows_of_step", die_at_3)
            with pytest.raises(Killed):
                train(data, tmp_path, *changes)
        assert not (tmp_path / "model" / part).exists()
    train(data, tmp_path, *changes)
    assert caplog.text.count("mlm: continuing after step 2 of") == 2
    for name in ("mlm", "mlm-second"):
        ours, whole = (load_backbone(str(run / "model" / name)).subword_weight for run in (tmp_path, trained))
        torch.testing.assert_close(ours, whole)


def test_a_given_backbone_by_epochs_with_a_grafted_head(collection, backbone, second, tmp_path, lexigraft):  # noqa: F811
    settings = [
        f"model.backbone={backbone}", "model.layers=1", "mlm.epochs=0.5", "mlm.batch=20", "mlm.length=12",
        f"mlm.source={second}", "vocab.min_count=1", "pretrain.steps=1", "pretrain.batch=8",
    ]  # fmt: skip
    call = ["pretrain", "--data", collection, "--out", tmp_path, *(part for one in settings for part in ("--set", one))]
    answer = lexigraft(*call)
    assert answer.status == 0, answer.stderr
    facts = json.loads((tmp_path / "model/mlm/mlm.json").read_text())
    assert (facts["texts"], facts["steps"]) == (50, 1)  # half a pass; 50 texts are two steps of 20
    assert find_backbone(str(tmp_path / "model/mlm")).config.num_hidden_layers == 1
    assert not (tmp_path / "model/mlm-second").exists()
    assert "mlm: done before" in lexigraft(*call).stderr


@pytest.mark.integration  # several trainings
def test_the_report_says_what_both_trainings_came_to_and_from_mlm_does_them_again(both, tmp_path, lexigraft):
    data, changes = both
    few = (*SMALL, *changes, "run.systems=esplade", "model.own_words=0", "finetune.steps=1", "finetune.batch=4")
    rest = ("finetune.validate_every=0", "prune.budgets=[[0, 0]]")
    call = ["run", "--data", data, "--out", tmp_path, *(part for one in (*few, *rest) for part in ("--set", one))]
    answer = lexigraft(*call, "--json")
    assert answer.status == 0, answer.stderr
    stages = {line["stage"]: line for line in answer.json["stages"]}
    trained = ["backbone", "vocabulary", "mlm", "mlm-second", "pretrain"]
    assert list(stages)[:7] == ["collect", "texts (judged)", *trained]
    facts = json.loads((tmp_path / "model/mlm-second/mlm.json").read_text())
    assert stages["mlm-second"].items() >= {"steps": 4, "loss": facts["loss"]}.items()
    before = parts(tmp_path, "mlm", "mlm-second")
    again = lexigraft(*call, "--from", "mlm", "--set", "mlm.learning_rate=0.02").stderr
    assert "vocabulary: done before" in again
    assert "mlm: done before" not in again
    assert all(new != old for new, old in zip(parts(tmp_path, *before).values(), before.values(), strict=True))


def test_a_second_corpus_that_is_missing_is_said_before_the_first_is_read(collection, tmp_path):  # noqa: F811
    with pytest.raises(InputError, match="there is no collection at nowhere"):
        train(collection, tmp_path, "mlm.second=nowhere", "mlm.second_steps=1")
    assert not (tmp_path / "model/mlm").exists()


def fresh(out, *options):
    return ["model", "fresh", "--out", out, "--json", *options]


def test_a_fresh_encoder_of_a_chosen_size_and_its_masked_language_model(collection, tmp_path, lexigraft):  # noqa: F811
    pieces, made, learned = tmp_path / "pieces", tmp_path / "made", tmp_path / "learned"
    assert lexigraft("vocab", "wordpiece", "--data", collection, "--out", pieces, "--size", 55).status == 0
    size = ("--layers", 2, "--width", 24, "--heads", 3, "--positions", 40, "--seed", 5)
    answer = lexigraft(*fresh(made, "--tokenizer", pieces, *size))
    assert answer.json == {
        "backbone": str(made), "pieces": 55, "layers": 2, "width": 24, "heads": 3, "positions": 40,
    }  # fmt: skip
    assert "done before" in lexigraft(*fresh(made, "--tokenizer", pieces, *size)).stderr
    assert lexigraft(*fresh(learned, "--texts", collection, "--pieces", 55, *size)).status == 0
    for name in ("tokenizer.json", "vocab.txt", "model.safetensors", "config.json"):
        assert (made / name).read_bytes() == (learned / name).read_bytes()
    assert lexigraft(*fresh(learned, "--texts", collection, "--pieces", 55, *size[:-1], 6)).status == 0
    assert (made / "model.safetensors").read_bytes() != (learned / "model.safetensors").read_bytes()
    call = ["model", "mlm", "--backbone", made, "--texts", collection, "--out", tmp_path / "mlm", "--length", 12]
    options = ["--epochs", 0.5, "--batch", 30, "--sampled", 15, "--json"]
    found = lexigraft(*call, *options).json
    assert (found["head"], found["tied"], found["steps"], found["subwords"]) == ("own", True, 4, 55)
    assert found.keys() & {"accuracy", "sampled_accuracy"} == {"sampled_accuracy"}
    assert "among those drawn" in lexigraft(*call, *options[:-1]).stdout
    assert load_backbone(str(tmp_path / "mlm")).width == 24


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give --tokenizer, or --texts"),
        (("--texts", "{data}", "--tokenizer", "x"), "give --tokenizer, or --texts"),
        (("--tokenizer", "x", "--pieces", 5), "leave them out with --tokenizer"),
        (("--texts", "{data}", "--width", 10, "--heads", 4), "backbone.width = 10 is not allowed: a multiple of"),
        (("--texts", "{data}", "--heads", 0), "backbone.heads = 0 is not allowed: 1 or more"),
        (("--texts", "{data}", "--layers", -1), "model.layers = -1 is not allowed"),
        (("--tokenizer", "{data}"), "there is no tokenizer in"),
        (("--texts", "nowhere"), "there is no collection at nowhere"),
    ],
)
def test_bad_sizes(options, message, collection, tmp_path, lexigraft):  # noqa: F811
    answer = lexigraft(*fresh(tmp_path / "out", *(str(part).format(data=collection) for part in options)))
    assert (answer.status, message in " ".join(answer.stderr.split())) == (2, True), answer.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (("mlm.steps=1", "mlm.epochs=1"), "mlm.epochs = 1.0 is not allowed: 0, because mlm.steps says"),
        (("mlm.steps=1", "mlm.second=x"), "mlm.second = 'x' is not allowed: empty, unless mlm.second_steps"),
        (("mlm.second=x", "mlm.second_steps=1"), "mlm.second = 'x' is not allowed: empty, unless mlm.steps"),
        (("mlm.steps=1", "mlm.second_steps=1"), "mlm.second = '' is not allowed: a corpus"),
        (("mlm.source=x",), "mlm.source = 'x' is not allowed: empty, unless mlm.steps"),
        (("mlm.sampled=-1",), "mlm.sampled = -1 is not allowed: 0 or more"),
    ],
)
def test_bad_settings(changes, message, collection, tmp_path, lexigraft):  # noqa: F811
    sets = [part for one in changes for part in ("--set", one)]
    answer = lexigraft("pretrain", "--data", collection, "--out", tmp_path / "run", *sets)
    assert (answer.status, message in " ".join(answer.stderr.split())) == (2, True), answer.stderr


def test_the_size_of_a_backbone_that_is_not_fresh_is_said_to_mean_nothing(collection, backbone, tmp_path, caplog):  # noqa: F811
    changes = (f"model.backbone={backbone}", "mlm.steps=0", "model.layers=0")
    train(collection, tmp_path, *changes, stage="vocabulary")
    assert "is not from scratch: the settings of [backbone] mean nothing" in caplog.text

"""The training of a dense encoder: it learns, resumes to the same bytes, and its batches count as they should."""

import numpy as np
import pytest
import torch

from lexigraft.core.config import load_settings
from lexigraft.core.stopping import StoppedError
from lexigraft.learn.dense_training import how_long, lengths, read_pairs, training_plan
from lexigraft.learn.training_data import Pairs, TrainingData, ValidationSet
from lexigraft.model.backbone import load_backbone, state_hash
from lexigraft.model.dense_encoder import DenseEncoder
from lexigraft.train import loop
from lexigraft.train.ranking.dense import DenseTrainingPlan, train_dense
from lexigraft.train.ranking.negatives import HardNegatives
from tests.families import STEMS, write_backbone

pytestmark = pytest.mark.usefixtures("one_thread")
PLAN = DenseTrainingPlan(
    steps=12, batch=8, learning_rate=3e-3, warmup=0, dropout=0.1, temperature=0.05, symmetric=True, n_negatives=0,
    checkpoint_every=5, validate_every=6,
)  # fmt: skip


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    return write_backbone("bert", tmp_path_factory.mktemp("dense") / "bert", loud=5.0)


def data(n=32, negatives=None):
    queries = [f"{STEMS[i % 8]}a {STEMS[(i + 1) % 8]}" for i in range(n)]
    documents = [f"{STEMS[i % 8]} {STEMS[(i + 1) % 8]}o n{i % 5}" for i in range(n)]
    rows = list(range(n))
    return TrainingData(
        Pairs(queries, documents, rows, rows, negatives), ValidationSet(queries[:8], documents, rows[:8])
    )


def trained(backbone, folder, plan=PLAN, negatives=None):
    torch.manual_seed(0)
    encoder = DenseEncoder.of(load_backbone(str(backbone), 2), 8, 12)
    pairs, validation = read_pairs(encoder, data(negatives=negatives))
    training = train_dense(encoder, pairs, plan, folder / "checkpoint", {"recipe": 1}, 0, validation)
    return encoder, training


def test_learns_and_keeps_what_validation_chose(backbone, tmp_path):
    _, training = trained(backbone, tmp_path, PLAN._replace(steps=40, validate_every=20))
    losses = [values["loss"] for values in training.history]
    assert len(losses) == 40 and np.mean(losses[-8:]) < 0.8 * np.mean(losses[:8])
    assert [step for step, values in enumerate(training.history, 1) if "R@10" in values] == [20, 40]
    assert training.best_step in (20, 40)


def test_a_stopped_training_ends_with_the_same_weights(backbone, tmp_path, monkeypatch):
    whole, _ = trained(backbone, tmp_path / "whole")
    looked_at = []

    def asked():
        looked_at.append(1)
        return len(looked_at) == 7

    with monkeypatch.context() as patch:
        patch.setattr(loop.stopping, "is_asked", asked)
        with pytest.raises(StoppedError):
            trained(backbone, tmp_path / "parts")
    again, training = trained(backbone, tmp_path / "parts")
    assert len(training.history) == 12 and state_hash(again) == state_hash(whole)


def test_hard_negatives_join_the_batch(backbone, tmp_path):
    indptr = np.arange(33, dtype=np.int64)
    hard = HardNegatives(indptr, (np.arange(32) + 8) % 32, np.full(32, np.nan, np.float32))
    plan = PLAN._replace(steps=1, n_negatives=1, dropout=0.0)
    _, with_them = trained(backbone, tmp_path / "hard", plan, hard)
    _, without = trained(backbone, tmp_path / "easy", plan._replace(n_negatives=0))
    assert with_them.history[0]["loss"] > without.history[0]["loss"]  # more documents to tell the own one from


def test_what_0_stands_for():
    usual = load_settings(overrides=["finetune.steps=30", "pretrain.steps=10", "finetune.batch=16"])
    assert how_long(usual) == {"batch": 16, "steps": 40, "epochs": 0.0}
    assert lengths(usual) == (usual.model.query_length, usual.model.document_length)
    plan = training_plan(usual, n_pairs=100)
    assert (plan.steps, plan.batch, plan.warmup_steps) == (40, 16, 4)
    passes = load_settings(overrides=["finetune.epochs=2", "pretrain.steps=10", "finetune.batch=10"])
    assert training_plan(passes, n_pairs=100).steps == 30
    own = load_settings(overrides=["dense.epochs=3", "dense.batch=20", "dense.warmup=2", "dense.query_length=9"])
    assert training_plan(own, n_pairs=100)[:2] == (15, 20) and training_plan(own, 100).warmup_steps == 2
    assert lengths(own)[0] == 9

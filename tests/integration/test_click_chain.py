"""From a click log to a trained model and its measures among a background, where the truth of the log is known."""

import json
from collections import defaultdict

import numpy as np
import pytest

import lexigraft as lg
from lexigraft.data.collection import open_collection
from tests.integration.test_click_data import true_relevance

pytestmark = pytest.mark.integration
SETS = (
    "--correct", "estimated", "--impressions-column", "impressions", "--clusters", 12, "--test-queries", 8,
    "--test-distractors", 4, "--valid-queries", 1, "--valid-distractors", 3, "--backbone", "none",
)  # fmt: skip
TINY = (
    'run.systems=["esplade"]', "model.backbone=scratch", "model.layers=1", "model.alpha=1",
    "vocab.min_count=1", "vocab.stemmer=none", "pretrain.steps=30", "pretrain.batch=16", "pretrain.learning_rate=0.003",
    "finetune.steps=100", "finetune.batch=16", "finetune.learning_rate=0.003", "finetune.aim=0", "finetune.dual=false",
    "finetune.joint_flops=0.01", "finetune.frozen_layers=0", "finetune.validate_every=100", "prune.budget=none",
    "evaluate.timing_runs=1",
)  # fmt: skip
RELEVANT = 0.5  # half of what a query was shown reaches this: relevance is drawn evenly between 0 and 1


def test_a_log_becomes_a_model_that_finds_what_is_relevant(tmp_path, lexigraft):
    def made(*arguments):
        answer = lexigraft(*arguments, "--json")
        assert answer.status == 0, answer.stderr
        return answer.json

    log, sets, run = tmp_path / "log.tsv", tmp_path / "sets", tmp_path / "run"
    made("data", "simulate", "--out", log, "--lines", 40_000, "--topics", 12)
    made("data", "clicks", log, "--out", sets, *SETS)
    made("run", "--data", sets / "trainset", "--out", run, *(part for one in TINY for part in ("--set", one)))
    losses = [step["rank"] for step in json.loads((run / "model/finetuned/history.json").read_text())]
    assert np.mean(losses[-20:]) < 0.9 * np.mean(losses[:20])  # it learned from the log's labels
    call = ("data", "evalset", sets / "testset", "--queries", 60, "--threshold", 0.3)
    behind = ("--background", sets / "testset", "--background", sets / "trainset")
    made(*call, "--out", tmp_path / "alone")
    report = made(*call, *behind, "--out", tmp_path / "eval")

    check_labels(sets, tmp_path / "eval", true_relevance(tmp_path / "log.truth.tsv"))
    recall = {}
    for name in ("alone", "eval"):
        made("encode", "--data", tmp_path / name, "--model", run, "--out", tmp_path / f"{name}-vectors")
        made("index", "--vectors", tmp_path / f"{name}-vectors", "--out", tmp_path / f"{name}-index")
        found = lg.evaluate(tmp_path / f"{name}-index", tmp_path / name, measures=["R@10"])
        assert found.queries == report["queries"] == 60
        recall[name] = found.means["R@10"]
    assert report["documents"] > 5 * len(list(open_collection(tmp_path / "alone").documents()))
    # Ten documents drawn blindly have 10 in `documents` of the positives.
    assert recall["eval"] > 20 * 10 / report["documents"]
    assert recall["eval"] < recall["alone"]  # what a background is for


def check_labels(sets, evaluation, truth):
    """Positives are relevant, negatives are not, and higher labels mean more relevance."""
    shown = defaultdict(list)
    for (query, _), relevance in truth.items():
        shown[query].append(relevance)
    test = open_collection(sets / "testset").qrels("test")
    drawn = np.concatenate([shown[query] for query in {qrel.query_id for qrel in test}])
    chance = np.mean(drawn >= RELEVANT)
    assert 0.4 < chance < 0.6
    clicked = np.array([truth[qrel.query_id, qrel.doc_id] for qrel in test])
    assert np.mean(clicked >= RELEVANT) > chance  # by little: two clicks are enough to be kept
    triplets = [json.loads(line) for line in (evaluation / "evalset.jsonl").read_text().splitlines()]
    best = np.array([truth[one["query_id"], doc] for one in triplets for doc in one["positives"]])
    worst = np.array([truth.get((one["query_id"], doc), 0.0) for one in triplets for doc in one["negatives"]])
    assert np.mean(best >= RELEVANT) > 0.85
    assert np.mean(worst >= RELEVANT) < 0.05

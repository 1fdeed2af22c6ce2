"""A log of 200,000 lines through everything; a correction of position bias brings labels nearer to the truth."""

import json
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from lexigraft.data.clicks.text import document_id, query_id
from lexigraft.data.collection import open_collection
from tests.e2e.test_clicks import SETS, check_evalset

pytestmark = pytest.mark.integration
LINES = 200_000


def lexigraft(*arguments):
    """(seconds, JSON that the command printed)"""
    started = time.perf_counter()
    command = [sys.executable, "-m", "lexigraft", *map(str, arguments), "--json"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.perf_counter() - started, json.loads(answer.stdout)


def true_relevance(path: Path):
    rows = (line.rstrip("\n").split("\t") for line in path.read_text().splitlines()[1:])
    return {(query_id(query), document_id(title)): float(relevance) for query, title, relevance in rows}


def mean_tau(sets: Path, truth):
    """Kendall's tau of label and true relevance, a query at a time, over all pairs of all sets."""
    rows = defaultdict(list)
    for name in ("testset", "validset", "trainset-small"):
        collection = open_collection(sets / name)
        for qrel in collection.qrels(SETS[name]):
            rows[qrel.query_id].append((qrel.relevance, truth[qrel.query_id, qrel.doc_id]))
    taus = [kendalltau(*zip(*pairs, strict=True)).statistic for pairs in rows.values()]
    return float(np.nanmean(taus)), len(rows)


def test_two_hundred_thousand_lines(tmp_path, capsys):
    def say(text):
        with capsys.disabled():
            sys.stdout.write(text + "\n")

    log = tmp_path / "log.tsv"
    seconds, made = lexigraft("data", "simulate", "--out", log, "--lines", LINES)
    assert made["lines"] == LINES
    assert len(log.read_bytes().splitlines()) == LINES + 1
    say(f"\nsimulate: {seconds:.1f} s, {made['queries']} queries")
    truth, taus = true_relevance(tmp_path / "log.truth.tsv"), {}
    common = (
        "--impressions-column", "impressions", "--clusters", 40, "--test-queries", 10, "--test-distractors", 20,
        "--valid-queries", 1, "--valid-distractors", 3,
    )  # fmt: skip
    for method in ("none", "power", "estimated"):
        out = tmp_path / method
        call = ("data", "clicks", log, "--out", out, *common, "--backbone", "none", "--correct", method)
        seconds, report = lexigraft(*call)
        taus[method], n_queries = mean_tau(out, truth)
        say(f"clicks, {method}: {seconds:.1f} s, mean tau {taus[method]:.3f} over {n_queries} queries")
    say("estimated: " + ", ".join(f"{p:.3f}" for p in report["correction"]["propensities"]))
    assert report["correction"]["propensities"] == pytest.approx(1 / np.arange(1, 11), rel=0.1)
    assert taus["power"] > taus["none"] + 0.05
    assert taus["estimated"] > taus["none"] + 0.05
    source = tmp_path / "estimated/testset"
    seconds, report = lexigraft("data", "evalset", source, "--out", tmp_path / "eval", "--queries", 90)
    say(f"evalset: {seconds:.1f} s, {report['complete']} complete of {report['candidates']} candidates")
    rows = [line.split("\t") for line in (source / "clusters.tsv").read_text().splitlines()[1:]]
    triplets = check_evalset(source, tmp_path / "eval", {query: int(cluster) for query, cluster in rows})
    assert len(triplets) == report["queries"] == 90

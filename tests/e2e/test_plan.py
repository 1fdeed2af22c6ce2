"""`lexigraft plan`: a table, JSON, a run's own numbers, and one line for what is no number."""

import pytest

from lexigraft.index.store import open_index
from lexigraft.stages.layout import RunFolder
from tests.topics import topics_of, write_topics


def test_a_billion_in_a_table_with_its_sources(lexigraft):
    answer = lexigraft("plan", "--documents", "1e9", "--terms", "40", "--gpu-price", "2")
    assert answer.status == 0, answer.stderr
    for part in ("1,000,000,000 documents of 40 terms", "320 GB", "give --node-price", "docs/results/ten_million.json"):
        assert part in answer.stdout


def test_rates_that_are_given_replace_those_that_were_measured(lexigraft):
    given = ("--posting-bytes", 3, "--document-bytes", 30, "--gpu-subwords", 1e6, "--subwords", 36, "--gpus", 4)
    found = lexigraft("plan", "--documents", "1e9", *given, "--latency", "1e6:1:2", "--nodes", 1000, "--json").json
    assert found["plan"]["index_bytes"] == 150e9
    assert found["plan"]["encode_hours"] == pytest.approx(2.5)
    assert (found["plan"]["p50_ms"], found["plan"]["p99_ms"]) == (1, 2)
    assert found["sources"]["posting_bytes"] == found["sources"]["curve"] == "given"
    assert found["sources"]["step_ms"].startswith("docs/results/training_step.json")
    assert found["plan"]["money_once"] is None


def test_a_run_says_how_many_terms_and_bytes(lexigraft, tmp_path):
    write_topics(tmp_path / "topics", topics_of("kur", "mel", "tos"), n_train=20, n_test=10)
    made = lexigraft("run", "--data", tmp_path / "topics", "--out", tmp_path / "run", "--set", 'run.systems=["bm25"]')
    assert made.status == 0, made.stderr
    found = lexigraft("plan", "--documents", "1e6", "--run", tmp_path / "run", "--json").json
    index = open_index(RunFolder(tmp_path / "run").index("judged", "bm25", 0))
    assert found["asked"]["terms"] == index.meta.n_postings / 30
    words = len(index.stream)
    assert found["rates"]["posting_bytes"] == pytest.approx((2 * words + 128) / index.meta.n_postings)
    assert str(tmp_path / "run") in found["sources"]["posting_bytes"]
    report = lexigraft("report", "--run", tmp_path / "run", "--json").json
    assert found["asked"]["query_postings"] == report["rows"][0]["FLOPS"]
    assert found["asked"]["subwords"] == 30  # words are no subwords: BM25 says nothing of these
    own = lexigraft("plan", "--documents", "1e6", "--run", tmp_path / "run", "--terms", 7, "--json").json
    assert (own["asked"]["terms"], own["sources"]["terms"]) == (7, "given")


@pytest.mark.parametrize(
    "options",
    [
        ("--documents", "0"),
        ("--documents", "nan"),
        ("--documents", "inf"),
        ("--documents", "1e9", "--terms", "-1"),
        ("--documents", "1e9", "--latency", "many"),
        ("--documents", "1e9", "--system", "bm25"),
        ("--documents", "1e9", "--run", "nowhere"),
        ("--documents", "1e9", "--memory-share", "2"),
    ],
)
def test_what_is_wrong_is_one_line(options, lexigraft):
    answer = lexigraft("plan", *options)
    assert (answer.status, answer.stdout) == (2, "")
    assert answer.stderr.startswith("error: ")
    assert answer.stderr.count("\n") == 1

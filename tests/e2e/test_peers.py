"""A dense system and a hybrid in the run of a sparse one: one report, one search, one comparison."""

import json
import logging
import subprocess
import sys

import numpy as np
import pytest

from lexigraft.core.config import load_settings
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.types import Document, Qrel, Query, Ranking
from lexigraft.data.sources import open_source
from lexigraft.data.write import write_collection
from lexigraft.learn import model_training
from lexigraft.learn.usual_systems import with_systems
from lexigraft.retrieve.retriever import Retriever
from lexigraft.search.hybrid import Fusion, HybridTextSearch
from lexigraft.search.text_search import SparseTextSearch
from lexigraft.search.weighted_fusion import weighted_sum
from lexigraft.stages.layout import RunFolder
from lexigraft.stages.text_searches import open_text_search, read_choice
from tests.conftest import index_of, sparse_matrix
from tests.families import STEMS, TINY_TRAINING, write_backbone

CONFIG = f"""
[run]
systems = ["bm25", "esplade", "dense", "hybrid"]
{TINY_TRAINING}[dense]
steps = 8
validate_every = 4
learning_rate = 0.003
[evaluate]
timing_runs = 1
[prune]
budgets = [[0, 0]]
budget = 50
"""
pytestmark = pytest.mark.usefixtures("one_thread")


def write_stems(folder, n=60):
    rng = np.random.default_rng(0)
    documents, queries, qrels = [], [], {"train": [], "test": []}
    for number in range(n):
        words = [STEMS[number % len(STEMS)] + ending for ending in rng.permutation(list("aeiou"))]
        documents.append(
            Document(f"d{number}", f"Title {number}", " ".join(words[: 2 + number % 3]) + f" n{number % 7}")
        )
        queries.append(Query(f"q{number}", " ".join(words[1:3])))
        qrels["test" if number >= 50 else "train"].append(Qrel(f"q{number}", f"d{number}", 1))
    write_collection(folder, documents, queries, qrels)
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp("peers")
    write_stems(root / "stems")
    (root / "peers.toml").write_text(CONFIG.format(backbone=write_backbone("bert", root / "backbone", loud=5.0)))
    return root


@pytest.fixture
def call(place, lexigraft):
    """`run` with some changes; what it answered, and the stages that were not done before."""

    def run(out, *changes):
        options = [part for change in changes for part in ("--set", change)]
        answer = lexigraft(
            "run", "--data", place / "stems", "--out", out, "--config", place / "peers.toml", "--json", *options
        )
        assert answer.status == 0, answer.stderr
        stages = [line for line in answer.stderr.splitlines() if line.endswith(" MiB")]
        return answer.json, {line.partition(":")[0] for line in stages} - {"report"}

    return run


def test_in_the_report_a_search_and_a_comparison(call, place, lexigraft):
    run = place / "run"
    report, made = call(run)
    assert {"train of dense", "encode dense (judged)", "evaluate dense", "evaluate hybrid"} <= made
    rows = {row["system"]: row for row in report["rows"] if (row["qk"], row["dk"]) == (0, 0)}
    dense, hybrid = rows["dense"], rows["hybrid"]
    assert dense["FLOPS"] is None and dense["width"] == 16
    assert dense["ms_encode"] > 0 and dense["ms_text_to_ids"] > 0  # two measurements: on busy cores either may be more
    assert all(row["index_bytes"] > 0 for row in report["rows"])
    sizes = {file.name: file.stat().st_size for file in (run / "judged/dense/vectors").iterdir()}
    assert dense["index_bytes"] == sum(sizes.values()) - sizes["manifest.json"]
    assert sizes["vectors.npy"] == 128 + 4 * 16 * 60
    choice = report["hybrids"]["hybrid"]
    sparse, other = choice["of"]
    assert other == "dense" and sparse == report["recommended"]["system"]
    points = report["operating_points"]
    taken = next(row for row in report["rows"] if row["system"] == sparse and row["dk"] == points[sparse]["dk"])
    assert hybrid["FLOPS"] > 0 and hybrid["index_bytes"] == taken["index_bytes"] + dense["index_bytes"]
    worth = {(one["method"], one["weight"]): one["MRR@10"] for one in choice["looked_at"]}
    assert len(worth) == 12
    assert worth[choice["method"], choice["weight"]] >= max(worth["weighted", 0.0], worth["weighted", 1.0])
    shown = (run / "report.md").read_text()
    assert "multiplies 16 numbers of every document" in shown and f"hybrid: {choice['why']}" in shown
    assert (run / "report.png").is_file()
    assert call(run)[1] == set()  # a second call does nothing
    assert call(run, "dense.learning_rate=0.001")[1] == {
        "train of dense", "encode dense (judged)", "evaluate dense", "choose the fusion of hybrid", "evaluate hybrid",
    }  # fmt: skip
    for system in ("dense", "hybrid"):
        found = lexigraft("search", "--run", run, "--system", system, "kura kure", "--k", 3, "--json").json
        assert len(found["hits"]) == 3 and found["hits"][0]["text"] and found["hits"][0]["title"].startswith("Title")
        assert "Title" in lexigraft("search", "--run", run, "--system", system, "kura").stdout
    compared = lexigraft("evaluate", "--run", run, "--json").json
    assert {"bm25", "dense", "hybrid"} <= set(compared["systems"])
    assert {one["system"] for one in compared["comparisons"]} >= {"dense", "hybrid"}
    refused = lexigraft("explain", "--run", run, "--system", "dense", "kura", "d1")
    assert refused.status == 2 and "is a dense system, whose scores have no terms" in refused.stderr.replace("\n", " ")
    refused = lexigraft("search", "--run", run, "--system", "dense", "kura", "--qk", 3)
    assert refused.status == 2 and "it has no terms to keep" in refused.stderr
    refused = lexigraft("search", "--run", run, "--system", "dense", "kura", "--cost", 0.5)
    assert refused.status == 2 and "dense is not pruned" in refused.stderr
    for command in (("bench", "search", "--system", "dense"), ("evaluate", "--system", "hybrid", "--budget", "bm25")):
        refused = lexigraft(*command, "--run", run)
        said = f"{command[-1] if command[0] == 'bench' else 'hybrid'} of {run} is a"
        assert refused.status == 2 and said in refused.stderr.replace("\n", ""), refused.stderr


def test_a_hybrid_is_its_two_systems_fused(call, place):
    run = place / "run"
    call(run)
    folder = RunFolder(run)
    choice = read_choice(folder, "hybrid")
    queries = ["kura kure", "mela", "tosi zana"]
    with Retriever.open(run, "hybrid") as hybrid:
        together = hybrid.search_many([*queries, " "], k=5)
        assert len(hybrid) == 60
        # Which kernel multiplies matrices depends on their sizes, so a query alone may differ in its last bits.
        one_by_one = [hybrid.search(query, k=5) for query in queries]
        for hits, alone in zip(together, one_by_one, strict=False):
            assert [hit.doc_id for hit in hits] == [hit.doc_id for hit in alone]
            assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in alone], abs=1e-6)
        assert together[3] == [] and hybrid.unknown_words("kura") == [] and not hybrid.in_passages
        with pytest.raises(SettingError, match="searched as a whole, without where"):
            hybrid.search("kura", where="year > 3")
        with pytest.raises(InputError, match="hybrid system, whose scores have no terms"):
            hybrid.terms("kura")
    for query, hits in zip(queries, one_by_one, strict=True):
        parts = []
        for name in choice.of:
            with Retriever.open(run, name) as retriever:
                found = retriever.search(query, k=choice.depth)
                parts.append(Ranking("", tuple(hit.doc_id for hit in found), tuple(hit.score for hit in found)))
        expected = choice.fusion.fuse(parts, 5)
        assert [(hit.doc_id, hit.score) for hit in hits] == list(zip(expected.doc_ids, expected.scores, strict=True))
    fixed = weighted_sum(parts, 0.3, 5)
    assert Fusion("weighted", 0.3).fuse(parts, 5) == fixed


def test_systems_over_different_documents_are_refused_by_name(call, place):
    call(place / "run")
    ours = open_text_search(RunFolder(place / "run"), "judged", "dense")

    def hybrid(name, ids):
        index_of(sparse_matrix([{0: 1.0}] * len(ids), 1, ids), place / name)
        return HybridTextSearch(["ours", "theirs"], [ours, SparseTextSearch(place / name)], Fusion("rrf"), 10)

    same = [f"d{number}" for number in range(60)]
    assert hybrid("same", same).n_documents == 60
    with pytest.raises(
        InputError, match=r"ours and theirs are over different documents \(60 documents and 2 documents"
    ):
        hybrid("fewer", same[:2])
    with pytest.raises(InputError, match=r"over different documents \(only ours has 'd59'\)"):
        hybrid("others", [*same[:-1], "other"])


def test_passages_are_folded(call, place):
    run = place / "passages"
    report, _ = call(run, "data.passage_words=2", 'run.systems=["bm25","dense"]', "dense.bits=16")
    assert report["collection"]["passages"]
    with Retriever.open(run, "dense") as dense:
        assert dense.in_passages and len(dense) > 60
        found = dense.search("kura kure", k=60)
        assert len(found) == 60 == len({hit.doc_id for hit in found})


def test_auto_has_peers_where_they_are_asked_for_and_nobody_gave_a_time(place, monkeypatch, caplog):
    monkeypatch.setattr(model_training, "FEWEST_PAIRS", 10)
    collection = open_source(str(place / "stems"))
    asked = load_settings(overrides=["run.peers=true", "model.lookup=false"])
    assert with_systems(asked, collection).run.systems == ("bm25", "esplade", "dense", "hybrid")
    with caplog.at_level(logging.INFO):
        assert with_systems(asked, collection, timed=True).run.systems == ("bm25", "esplade")
    assert "--minutes: the peers, dense and hybrid, are left out" in caplog.text
    monkeypatch.setattr(model_training, "FEWEST_PAIRS", 1000)
    assert with_systems(asked, collection).run.systems == ("bm25", "bm25-plain")


def test_searching_loads_no_torch(call, place):
    call(place / "run")
    program = (
        "import sys\nfrom lexigraft.cli.app import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        "print([name for name in ('torch', 'transformers', 'onnx') if name in sys.modules], file=sys.stderr)"
    )
    command = [
        sys.executable,
        "-c",
        program,
        "search",
        "--run",
        str(place / "run"),
        "--system",
        "hybrid",
        "kura",
        "--json",
    ]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(found.stdout)["hits"] and found.stderr.splitlines()[-1] == "[]"

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
from lexigraft.learn import model_training, usual_systems
from lexigraft.learn.usual_systems import with_systems
from lexigraft.measure.sequential import DEPTH
from lexigraft.retrieve.explaining import Explainer
from lexigraft.retrieve.open_judging import open_judging
from lexigraft.retrieve.retriever import Retriever
from lexigraft.search.hybrid import Fusion, HybridTextSearch
from lexigraft.search.text_search import SparseTextSearch
from lexigraft.search.weighted_fusion import weighted_sum
from lexigraft.serve.answer_schemas import EXPLANATION
from lexigraft.stages.layout import RunFolder
from lexigraft.stages.text_searches import open_text_search, read_choice
from tests.conftest import index_of, sparse_matrix
from tests.families import STEMS, TINY_TRAINING, write_backbone
from tests.serving import InProcess

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
        assert hybrid.answer("kura", k=1).notices == ()
        with pytest.raises(SettingError, match="searched as a whole, without where"):
            hybrid.search("kura", where="year > 3")
        with pytest.raises(InputError, match="hybrid system, which has no terms to list"):
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


FUSIONS = [Fusion("weighted", 0.3), Fusion("weighted", 1.0), Fusion("rrf")]


@pytest.mark.parametrize("fusion", FUSIONS, ids=str)
def test_the_score_of_a_hybrid_is_taken_apart(call, place, fusion):
    call(place / "run")
    query, (name, _) = "kura kure", read_choice(RunFolder(place / "run"), "hybrid").of
    with Retriever.open(place / "run", "hybrid") as hybrid, Retriever.open(place / "run", name) as terms:
        hybrid._held.other.opened.fusion = fusion
        found = hybrid.search(query, k=60)
        for hit in (*found[:3], found[-1]):
            why = hybrid.explain(query, hit.doc_id)
            assert why.score == hit.score == sum(part.adds for part in why.whole.parts)
            assert why.contributions == terms.explain(query, hit.doc_id).contributions
            assert why.points * why.scale == terms.explain(query, hit.doc_id).score
            explained = Explainer(hybrid).explain_result(query, hit.doc_id)
            assert (explained.score, explained.whole) == (hit.score, why.whole)
            assert explained.shared == Explainer(terms).explain_result(query, hit.doc_id).shared
            assert why.whole.said.endswith(f": {fusion.described}") and "the meaning (dense) adds" in why.whole.said
        ranks = {hit.doc_id: hit.rank for hit in terms.search(query, k=60)}
        assert all(hybrid.explain(query, doc_id).whole.parts[0].rank == rank for doc_id, rank in ranks.items())
        with pytest.raises(InputError, match="there is no document 'd60'"):
            hybrid.explain(query, "d60")
        with pytest.raises(InputError, match="text is empty"):
            hybrid.explain(" ", "d1")
    with pytest.raises(SettingError, match="was closed"):
        hybrid.explain(query, "d1")


def test_explanations_of_peers_say_what_the_meaning_adds(call, place, tmp_path, lexigraft):
    run = place / "run"
    call(run)
    hybrid = ("explain", "--run", run, "--system", "hybrid")
    shown = lexigraft(*hybrid, "kura kure", "d1")
    assert (shown.status, "by hybrid" in shown.stdout) == (0, True)
    assert "the meaning (dense) adds" in shown.stdout.splitlines()[-1]
    as_json = lexigraft(*hybrid, "kura kure", "d1", "--json").json
    assert sum(part["adds"] for part in as_json["whole"]["parts"]) == pytest.approx(as_json["score"])
    assert "'kura kure' becomes" in lexigraft(*hybrid, "kura kure").stdout
    assert lexigraft(*hybrid, "kura", "d1", "--against-system", "bm25", "--html", tmp_path / "why.html").status == 0
    assert "the meaning (dense) adds" in (tmp_path / "why.html").read_text()
    with Retriever.open(run, "dense") as dense:
        (hit,) = dense.search("kura", k=1)
        why = dense.explain("kura", hit.doc_id)
        assert (why.score, why.contributions, why.whole.parts[0].rank) == (hit.score, (), 1)
    of_dense = ("explain", "--run", run, "--system", "dense")
    assert lexigraft(*of_dense, "kura", hit.doc_id).stdout.splitlines() == [
        f"{hit.doc_id} scores {hit.score:.3f} for 'kura' by dense",
        "dense compares meanings as a whole: its score has no terms to take apart",
    ]
    assert lexigraft(*of_dense, "kura").stdout == (
        "A dense system compares meanings as a whole: a text has no terms there.\n"
    )
    unknown = lexigraft(*of_dense, "kura", "d60")
    assert unknown.status == 2 and "there is no document 'd60'" in unknown.stderr
    server = InProcess([run])
    told = server.post("/explain", query="kura kure", doc_id="d1", system="hybrid")
    assert (told["score"], told["whole"]["said"]) == (as_json["score"], as_json["whole"]["said"])
    assert [one["term"] for one in told["contributions"]] == [one["term"] for one in as_json["contributions"]]
    told = server.post("/explain", query="kura", doc_id=hit.doc_id, system="dense")
    assert (told["score"], told["contributions"]) == (hit.score, []) and set(told) == set(EXPLANATION["properties"])
    assert server.post("/explain", query="kura", doc_id="d1", system="bm25")["whole"] is None
    asked = {"query": "kura", "doc_id": "d60", "system": "hybrid"}
    assert "there is no document 'd60' in hybrid" in server.refused(404, "POST", "/explain", json=asked)
    assert "query is empty" in server.refused(422, "POST", "/explain", json={**asked, "query": " "})
    assert "without qk" in server.refused(422, "POST", "/explain", json={**asked, "qk": 3})


def test_systems_without_terms_are_judged(call, place):
    """By the command and by the page alike; texts are shown by the system that has terms."""
    run = place / "run"
    call(run)
    server = InProcess([run], may_judge=True)
    for system in ("dense", "hybrid"):
        question = open_judging(run, system).ask("kura kure")
        found = [hit.doc_id for hit in Retriever.open(run, system).search("kura kure", DEPTH)]
        assert list(question.second) == found and len(question.first) == DEPTH
        told = server.post("/judgements/question", question="kura kure", system=system)["documents"]
        assert [one["doc_id"] for one in told] == list(question.doc_ids) and all(one["text"] for one in told)
    with pytest.raises(SettingError, match="neither dense nor hybrid has terms"):
        open_judging(run, "hybrid", "dense")
    asked = {"system": "hybrid", "baseline": "dense"}
    assert "no texts to show" in server.refused(422, "GET", "/judgements", params=asked)


@pytest.mark.parametrize("system", ["bm25", "esplade", "dense", "hybrid"])
def test_every_system_says_that_no_word_is_known(call, place, system, lexigraft):
    call(place / "run")
    answer = lexigraft("search", "--run", place / "run", "--system", system, "kuraa", "--json", "--no-text").json
    (said,) = answer["notices"]
    assert said.startswith("no word of the query is in the collection: kuraa; did you mean kura")
    assert lexigraft("search", "--run", place / "run", "--system", system, "-kura", "--json").json["notices"] == [
        '"-word" has no meaning here yet: read as plain words'
    ]


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
        for doc_id in (found[7].doc_id, f"{found[7].doc_id}#0"):
            why = dense.explain("kura kure", doc_id)
            assert (why.score, why.whole.parts[0].rank) == (found[7].score, 8)


def test_auto_has_peers_where_they_are_asked_for_and_nobody_gave_a_time(place, monkeypatch, caplog):
    monkeypatch.setattr(model_training, "FEWEST_PAIRS", 10)
    collection = open_source(str(place / "stems"))
    asked = load_settings(overrides=["run.peers=true", "model.lookup=false"])
    monkeypatch.setattr(usual_systems, "why_no_graft", lambda settings: "")
    assert with_systems(asked, collection).run.systems == ("bm25", "esplade", "grafted", "dense", "hybrid")
    monkeypatch.setattr(usual_systems, "why_no_graft", lambda settings: "there is no encoder")
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

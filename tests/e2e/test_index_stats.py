"""`index stats`: indexes of runs and lone ones side by side, as a user would call it."""

import json
import shutil

import pytest

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.index.store import open_index
from tests.families import write_backbone


@pytest.fixture
def run(collection, tmp_path, lexigraft):
    folder = tmp_path / "run"
    settings = ("--set", 'run.systems=["bm25","bm25-plain"]', "--set", "prune.lexical=[[0,0],[2,3]]")
    assert lexigraft("run", "--data", collection, "--out", folder, *settings).status == 0
    return folder


def test_runs_side_by_side(run, tmp_path, lexigraft):
    out = tmp_path / "stats"
    chosen = ("--run", run, "--run", run, "--system", "bm25", "--system", "bm25-plain")
    quick = ("--k", 3, "--runs", 2)
    answer = lexigraft("index", "stats", *chosen, "--keep", "0,0", "--keep", "2,3", *quick, "--out", out, "--json")
    assert answer.status == 0, answer.stderr
    found = answer.json
    assert (found["queries"], found["documents"], found["split"], found["threads"]) == (3, 6, "test", 1)
    systems = {one["name"]: one for one in found["systems"]}
    assert list(systems) == ["run", "run (2,3)", "run-bm25-plain", "run-bm25-plain (2,3)"]
    report = {
        (row["system"], row["qk"], row["dk"]): row for row in json.loads((run / "report.json").read_text())["rows"]
    }
    for one in systems.values():
        row = report[one["system"], one["qk"], one["dk"]]
        assert (one["MRR@10"], one["query_terms"], one["document_terms"]) == (row["MRR@10"], row["L0_q"], row["L0_d"])
        assert one["postings_per_query"] == pytest.approx(row["FLOPS"] * 6)
        assert (one["expansion_terms"], one["expansion_documents"]) == (0.0, 6)  # BM25 adds nothing
        assert one["split_queries"] is None  # its terms are words
        assert [row["method"] for row in one["searches"]] == ["auto", "blockmax_wand", "maxscore"]
        assert all(0 < row["ms"]["p50"] <= row["ms"]["p99"] for row in one["searches"])
        [operations] = one["operations"]
        assert operations["k"] == 3
        assert operations["SCORE"] >= operations["NEXT"] > 0
        assert operations["SCORE"] >= operations["DOCUMENTS"] > 0
    assert systems["run"]["document_terms"] < systems["run-bm25-plain"]["document_terms"]
    [maxima, *_] = found["list_maxima"]["systems"]
    assert (maxima["bits"], maxima["non_empty"]["lists"]) == (16, open_index(run / "judged/bm25/index").n_terms)
    assert maxima["all"]["share_above"][0] == 1.0
    assert maxima["all"]["share_above"][-1] == 0.0
    files = {file.name for file in out.iterdir()}
    tables = {f"{name}.csv" for name in ("queries", "expansion", "operations", "list_maxima")}
    assert files == {"stats.json", "tables.md", "list_maxima.png", "list_maxima.svg", "manifest.json", *tables}
    assert json.loads((out / "stats.json").read_text()) == found
    assert "run-bm25-plain (2,3)" in (out / "tables.md").read_text()
    again = lexigraft("index", "stats", "--run", run, *quick, "--out", out)
    assert again.status == 0, again.stderr
    for shown in ("postings", "Operations of MaxScore", "Gini", str(out)):
        assert shown in again.stdout


def test_lone_indexes(run, collection, tmp_path, lexigraft):
    """Their queries come from a file or a collection; without the vectors, maxima are those of the index."""
    made = lexigraft("index", "--data", collection, "--out", tmp_path / "fine", "--set", "index.bits=24")
    assert made.status == 0, made.stderr
    queries = tmp_path / "queries.tsv"
    queries.write_text("a\tsort a list\nb\tdates\nc\tzyzzyva\n")
    index = tmp_path / "index"
    assert lexigraft("index", "--data", collection, "--out", index, "--set", "index.bits=8").status == 0
    options = ("--index", index, "--index", tmp_path / "fine", "--runs", 1, "--k", 2, "--json")
    answer = lexigraft("index", "stats", *options, "--queries", queries)
    assert answer.status == 0, answer.stderr
    coarse, fine = answer.json["systems"]
    assert (coarse["name"], fine["name"], coarse["MRR@10"]) == ("index", "fine", None)
    assert (coarse["queries_without_terms"], coarse["query_terms"]) == (1, 1.0)
    assert coarse["postings_per_query"] == fine["postings_per_query"]
    assert [row["method"] for row in fine["searches"]] == ["auto"]  # of 24 bits there is no other
    assert fine["operations"] == []
    assert [one["bits"] for one in answer.json["list_maxima"]["systems"]] == [8, 24]
    judged = lexigraft("index", "stats", *options, "--data", collection)
    assert judged.status == 0, judged.stderr
    assert judged.json["systems"][0]["MRR@10"] > 0
    shown = lexigraft("index", "stats", *options[:-1], "--queries", queries).stdout
    assert "List maxima of index are impacts of 8 bits" in shown
    assert "fine: impacts of 24 bits are searched in one way" in shown
    assert "Queries without a known term" in shown


def test_split_queries_where_terms_are_pieces(tmp_path, lexigraft):
    """The tokenizer knows kur and mel whole, and kura as kur ##a."""
    documents = [Document("d1", "", "kur mel"), Document("d2", "", "mele tos")]
    queries = [Query("q1", "kur mel"), Query("q2", "kura"), Query("q3", "mel"), Query("q4", "tos kur")]
    write_collection(
        tmp_path / "data", documents, queries, {"test": [Qrel(query.query_id, "d1", 1) for query in queries]}
    )
    backbone = write_backbone("bert", tmp_path / "backbone", loud=5.0)
    for step in (
        ("model", "import", backbone, "--out", tmp_path / "model"),
        ("encode", "--data", tmp_path / "data", "--model", tmp_path / "model", "--out", tmp_path / "vectors"),
        ("index", "--vectors", tmp_path / "vectors", "--out", tmp_path / "index"),
    ):
        made = lexigraft(*step)
        assert made.status == 0, made.stderr
    options = ("--index", tmp_path / "index", "--data", tmp_path / "data", "--runs", 1, "--k", 2, "--json")
    answer = lexigraft("index", "stats", *options)
    assert answer.status == 0, answer.stderr
    [found] = answer.json["systems"]
    assert found["split_queries"] == 0.25
    assert found["query_terms"] > 2  # a model adds terms to them


def test_bench_text(run, tmp_path, lexigraft):
    chosen = (
        "--run",
        run,
        "--run",
        run,
        "--system",
        "bm25",
        "--system",
        "bm25-plain",
        "--keep",
        "0,0",
        "--keep",
        "2,3",
    )
    answer = lexigraft("bench", "text", *chosen, "--k", 2, "--k", 5, "--runs", 2, "--json")
    assert answer.status == 0, answer.stderr
    found = answer.json
    assert (found["queries"], found["runs"], found["threads"]) == (3, 2, 1)
    names = ["run", "run (2,3)", "run-bm25-plain", "run-bm25-plain (2,3)"]
    assert [(one["name"], one["k"]) for one in found["systems"]] == [(name, k) for k in (2, 5) for name in names]
    assert all(0 < one["ms"]["p50"] <= one["ms"]["p99"] for one in found["systems"])
    assert all(one["ms_encode"]["p50"] < one["ms"]["p50"] for one in found["systems"])
    shown = lexigraft("bench", "text", "--index", run / "judged/bm25/index", "--data", tmp_path / "tiny", "--runs", 1)
    assert shown.status == 0, shown.stderr
    assert "encoding p50" in shown.stdout
    index = run / "judged/bm25/index"
    for arguments, message in [
        ((), "nothing to measure was given"),
        (("--index", index), "an index has no queries of its own"),
        (("--run", run, "--keep", "x"), "--keep 'x' is not allowed"),
    ]:
        refused = lexigraft("bench", "text", *arguments)
        assert (refused.status, message in refused.stderr) == (2, True), message


def test_what_is_refused(run, collection, tmp_path, lexigraft):
    index, queries = run / "judged/bm25/index", tmp_path / "none.tsv"
    queries.write_text("")
    other = tmp_path / "other"
    write_collection(other, [Document("x", "", "a date")], [Query("q", "date")], {"test": [Qrel("q", "x", 1)]})
    elsewhere, live = tmp_path / "elsewhere", tmp_path / "live"
    assert lexigraft("run", "--data", other, "--out", elsewhere, "--set", "run.systems=bm25").status == 0
    assert lexigraft("index", "live", index, "--out", live).status == 0
    moved = tmp_path / "moved"
    shutil.copytree(run, moved)
    for arguments, message in [
        ((), "nothing to measure was given"),
        (("--index", index), "an index has no queries of its own"),
        (("--index", index, "--queries", queries), "no queries to measure with"),
        (("--index", index, "--queries", queries, "--keep", "0,5"), "is for runs"),
        (("--index", index, "--system", "bm25"), "--system names a system of a run"),
        (("--index", live, "--data", collection), "is a live index"),
        (("--run", run, "--run", elsewhere), "whose documents are others: their numbers cannot be compared"),
        (("--run", run, "--index", elsewhere / "judged/bm25/index"), "are not of the same documents"),
        (("--run", run, "--system", "splade"), "no system 'splade'"),
        (("--run", run, "--system", "bm25+rm3"), "its index is that of bm25"),
        (("--run", run, "--keep", "0,7"), "no index of bm25 with dk = 7; present: index, index-dk3"),
        (("--run", run, "--keep", "0,m2"), "--keep = 'm2' is not allowed: 0 (the whole document)"),
        (("--run", run, "--keep", "7"), "--keep '7' is not allowed: query terms and document terms"),
        (("--run", moved, "--data", other), "are not"),
        (("--run", run, "--out", collection), "tiny"),
    ]:
        refused = lexigraft("index", "stats", *arguments, "--runs", 1, "--k", 2)
        assert (refused.status, message in refused.stderr) == (2, True), (message, refused)


def test_an_index_of_former_vectors_is_refused(run, collection, tmp_path, lexigraft):
    other = tmp_path / "other"
    settings = ("--set", "run.systems=bm25", "--set", "lexical.k1=2")
    assert lexigraft("run", "--data", collection, "--out", other, *settings).status == 0
    shutil.rmtree(run / "judged/bm25/vectors")
    shutil.copytree(other / "judged/bm25/vectors", run / "judged/bm25/vectors")
    refused = lexigraft("index", "stats", "--run", run, "--system", "bm25", "--runs", 1, "--k", 2)
    assert (refused.status, "which were made later; continue the run" in refused.stderr) == (2, True), refused

"""Every command on a small collection, as a user would call it."""

import shutil

import pytest

from lexigraft.core.artifact import read_manifest
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from tests.conftest import DOCUMENTS, QRELS, QUERIES

ROW_KEYS = {
    "system", "qk", "dk", "L0_q", "L0_d", "FLOPS", "MRR@10", "R@10", "nDCG@10", "ms_encode", "ms_search",
    "ms_text_to_ids", "ms_text_to_ids_p50",
}  # fmt: skip


@pytest.fixture
def run(collection, tmp_path, lexigraft):
    folder = tmp_path / "run"
    assert lexigraft("run", "--data", collection, "--out", folder).status == 0
    return folder


def test_run_reports(collection, tmp_path, lexigraft):
    answer = lexigraft("run", "--data", collection, "--out", tmp_path / "run", "--json")
    assert answer.status == 0
    report = answer.json
    assert report == read_sealed(tmp_path / "run/report.json")
    assert report["collection"]["documents"] == 6
    assert report["collection"]["queries"] == 3  # q4 is a training query
    assert [row["system"] for row in report["rows"]] == ["bm25", "bm25-plain"]
    assert all(row.keys() >= ROW_KEYS for row in report["rows"])
    assert all(line.keys() == {"stage", "seconds", "peak_rss_mib"} for line in report["stages"])
    # "remove duplicate items keeping order" matches d1 before d2, "parsing dates" d4 and, by its stem, d3.
    assert report["rows"][0]["MRR@10"] == 1.0
    assert report["rows"][0]["R@10"] == 1.0
    assert report["rows"][1]["R@10"] < 1.0
    assert (tmp_path / "run/report.png").read_bytes().startswith(b"\x89PNG")
    assert "| bm25 | 0 | 0 |" in (tmp_path / "run/report.md").read_text()


def test_table_for_the_eye(run, lexigraft):
    answer = lexigraft("report", "--run", run)
    assert answer.status == 0
    assert "bm25-plain" in answer.stdout
    assert "report.png" in answer.stdout


def test_search_json_and_text(run, lexigraft):
    answer = lexigraft("search", "--run", run, "remove duplicates but keep order", "--k", 2, "--json")
    assert [(hit["rank"], hit["doc_id"], hit["title"]) for hit in answer.json["hits"]] == [
        (1, "d1", "Ordered sets"),
        (2, "d2", "Sorting"),
    ]
    assert answer.json["hits"][0]["score"] > answer.json["hits"][1]["score"] > 0
    text = lexigraft("search", "--run", run, "remove duplicates but keep order").stdout
    assert "Ordered sets" in text
    assert "matched: remov duplic" in text or "matched: duplic remov" in text


def test_search_another_system_and_script(run, lexigraft):
    assert (
        lexigraft("search", "--run", run, "--system", "bm25-plain", "순서를", "--json").json["hits"][0]["doc_id"]
        == "d6"
    )
    unknown = lexigraft("search", "--run", run, "--system", "splade", "x")
    assert (unknown.status, "no system 'splade'; present: bm25, bm25-plain" in unknown.stderr) == (2, True)


def test_a_query_without_known_words_finds_nothing(run, lexigraft):
    answer = lexigraft("search", "--run", run, "xyzzy", "--json")
    assert (answer.status, answer.json["hits"]) == (0, [])
    assert "nothing found" in lexigraft("search", "--run", run, "the of xyzzy").stderr


def test_prompt(run, lexigraft, monkeypatch):
    lines = iter(["shortest path", "xyzzy"])

    def answer_then_end(*_):
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", answer_then_end)
    answer = lexigraft("search", "--run", run)
    assert answer.status == 0
    assert "d5" in answer.stdout
    assert "nothing found" in answer.stderr


def test_explain_sums_to_the_score_that_search_gives(run, lexigraft):
    query = "remove duplicate items keeping order"
    found = lexigraft("explain", "--run", run, query, "d1", "--json").json
    hit = lexigraft("search", "--run", run, query, "--k", 1, "--json").json["hits"][0]
    assert found["score"] == hit["score"]
    assert sum(item["contribution"] for item in found["contributions"]) == pytest.approx(hit["score"])
    assert {item["term"] for item in found["contributions"]} == {"remov", "duplic", "item", "keep", "order"}
    assert "adds" in lexigraft("explain", "--run", run, query, "d1").stdout
    terms = lexigraft("explain", "--run", run, "order order paths", "--json").json["terms"]
    assert [(item["term"], item["weight"], item["own"]) for item in terms] == [
        ("order", 2.0, True),
        ("path", 1.0, True),
    ]
    assert "there is no document 'd9'" in lexigraft("explain", "--run", run, query, "d9").stderr


def test_evaluate_trec_files(run, collection, tmp_path, lexigraft):
    trec = run / "judged/bm25/evaluation-qk0-dk0/run.trec"
    found = lexigraft("evaluate", trec, "--data", collection, "--json").json["systems"][str(trec)]
    report = lexigraft("report", "--run", run, "--json").json
    assert found["nDCG@10"] == report["rows"][0]["nDCG@10"]
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"{row.query_id} 0 {row.doc_id} {row.relevance}\n" for row in QRELS["test"]))
    assert lexigraft("evaluate", trec, "--qrels", qrels, "--json").json["systems"][str(trec)] == found
    assert "3 judged queries" in lexigraft("evaluate", trec, "--qrels", qrels).stdout
    assert lexigraft("evaluate", trec).status == 2


def test_index_alone(collection, tmp_path, lexigraft):
    answer = lexigraft("index", "--data", collection, "--out", tmp_path / "index", "--keep", 3, "--json")
    assert answer.json["documents"] == 6
    assert answer.json["postings"] <= 18
    assert lexigraft("search", "--index", tmp_path / "index", "graph", "--json").json["hits"][0]["doc_id"] == "d5"
    assert lexigraft("index", "--data", collection, "--out", tmp_path / "index").status == 0  # replaces an index
    refused = lexigraft("index", "--data", collection, "--out", collection)  # and nothing else
    assert (refused.status, "is not a Lexigraft artifact" in refused.stderr) == (2, True)
    lexigraft("run", "--data", collection, "--out", tmp_path / "run")
    refused = lexigraft("index", "--data", collection, "--out", tmp_path / "run/judged/bm25/vectors")
    assert (refused.status, "holds a vectors, not an index" in refused.stderr) == (2, True)
    shutil.rmtree(tmp_path / "run")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "tiny"]


def test_data_stats(collection, lexigraft):
    found = lexigraft("data", "stats", collection, "--json").json
    assert (found["documents"], found["queries"], found["splits"]["test"]["pairs"]) == (6, 4, 5)
    assert found["splits"]["test"]["documents_per_query"] == pytest.approx(5 / 3)
    assert "documents per query" in lexigraft("data", "stats", collection).stdout


def test_pruned_rows(collection, tmp_path, lexigraft):
    report = lexigraft(
        "run", "--data", collection, "--out", tmp_path / "run", "--set", "prune.lexical=[[0,0],[2,3]]", "--json"
    ).json
    rows = {(row["system"], row["qk"], row["dk"]): row for row in report["rows"]}
    assert len(rows) == 4
    assert rows["bm25", 2, 3]["L0_q"] <= 2
    assert rows["bm25", 2, 3]["L0_d"] <= 3
    assert rows["bm25", 2, 3]["FLOPS"] < rows["bm25", 0, 0]["FLOPS"]


def test_a_second_call_does_nothing_and_a_changed_setting_only_what_it_touches(run, collection, lexigraft):
    def stamps():
        paths = [path.parent for path in run.rglob("manifest.json")]
        return {str(path.relative_to(run)): (path / "manifest.json").stat().st_mtime_ns for path in paths}

    def changed(*options):
        before = stamps()
        assert lexigraft("run", "--data", collection, "--out", run, *options).status == 0
        return {path for path, stamp in stamps().items() if before.get(path) != stamp}

    plain = {f"judged/bm25-plain/{name}" for name in ("vectors", "index", "evaluation-qk0-dk0")}
    strong = {f"judged/bm25/{name}" for name in ("vectors", "index", "evaluation-qk0-dk0")}
    evaluations = {path for path in plain | strong if "evaluation" in path}
    assert changed() == set()
    assert changed("--set", "search.k=5") == evaluations
    assert changed("--set", "search.k=5", "--set", "lexical.stemmer=none") == strong
    assert changed("--set", "search.k=5", "--set", "lexical.stemmer=none", "--set", "lexical.k1=0.9") == plain | strong
    final = ("--set", "search.k=5", "--set", "lexical.stemmer=none", "--set", "lexical.k1=0.9")
    assert changed(*final) == set()
    indexed = {path for path in plain | strong if "vectors" not in path}
    assert changed(*final, "--set", "index.bits=8") == indexed
    assert changed(*final) == indexed
    assert changed(*final, "--set", "index.texts=yes") == {"judged/texts"} == changed(*final)
    assert changed(*final, "--from", "index") == indexed | {"judged/texts"}
    documents = [*DOCUMENTS, DOCUMENTS[0]._replace(doc_id="new")]
    write_collection(collection, documents, QUERIES, QRELS)
    assert changed(*final) == plain | strong | {"collection", "judged/texts"}


def test_the_same_bytes_twice(collection, tmp_path, lexigraft):
    reports = []
    for name in ("one", "two"):
        reports.append(lexigraft("run", "--data", collection, "--out", tmp_path / name, "--json").json)
    for path in (tmp_path / "one/judged").rglob("*"):
        if path.is_file() and "evaluation" not in str(path):
            assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes(), path
    for report in reports:
        report["stages"] = None
        for row in report["rows"]:
            for time in ("ms_encode", "ms_search", "ms_search_10", "ms_text_to_ids", "ms_text_to_ids_p50"):
                assert row.pop(time) > 0
    assert reports[0] == reports[1]
    assert (tmp_path / "one/report.png").read_bytes() == (tmp_path / "two/report.png").read_bytes()


@pytest.mark.integration  # it takes long
def test_a_collection_without_judgements_is_searchable(tmp_path, lexigraft):
    write_collection(tmp_path / "bare", DOCUMENTS)
    answer = lexigraft("run", "--data", tmp_path / "bare", "--out", tmp_path / "run")
    assert answer.status == 0
    assert f"is searchable: lexigraft search --run {tmp_path / 'run'} QUERY" in answer.stdout
    assert "let any number be measured" in answer.stdout  # six texts are too few to make queries of
    assert lexigraft("search", "--run", tmp_path / "run", "graph", "--json").json["hits"][0]["doc_id"] == "d5"


def test_pydocs_has_two_views(tmp_path, lexigraft):
    packages = '["json","email","logging","asyncio","http","xml","unittest","urllib","tkinter","importlib","ctypes"]'
    answer = lexigraft(
        "run",
        "--data",
        "pydocs",
        "--out",
        tmp_path / "run",
        "--set",
        f"data.packages={packages}",
        "--set",
        "run.systems=bm25",
        "--json",
    )
    assert answer.status == 0
    manifest = read_manifest(tmp_path / "run/collection")
    assert manifest.config["installed"]["python"]
    assert answer.json["collection"]["name"] == "pydocs"
    # The full view answers searches: it holds what the judged view had to drop.
    query = "deserialize a str, bytes or bytearray containing a JSON document"
    hits = lexigraft("search", "--run", tmp_path / "run", query, "--k", 5, "--json").json["hits"]
    assert "Deserialize" in {hit["doc_id"]: hit["title"] for hit in hits}["json.loads"]


def test_unknown_judgements_are_counted(collection, tmp_path, lexigraft):
    with (collection / "qrels/test.tsv").open("a") as file:
        file.write("q3\tabsent\t1\nq9\td1\t1\n")
    answer = lexigraft("run", "--data", collection, "--out", tmp_path / "run", "--json")
    assert answer.stderr.count("1 of 7 are left out, their query is unknown (such as q9)") == 1
    assert answer.stderr.count("1 relevant documents are not in the collection (such as absent)") == 1
    assert answer.json["rows"][0]["R@10"] == pytest.approx((1 + 1 + 0.5) / 3)  # what is not there cannot be found
    trec = tmp_path / "run/judged/bm25/evaluation-qk0-dk0/run.trec"
    with (collection / "qrels/test.tsv").open() as file:
        known = [line for line in file if not line.startswith("q9")]
    (collection / "qrels/test.tsv").write_text("".join(known))
    found = lexigraft("evaluate", trec, "--data", collection, "--json").json["systems"][str(trec)]
    assert found["R@10"] == answer.json["rows"][0]["R@10"]


def test_new_judgements_change_no_vectors(run, collection, lexigraft):
    with (collection / "qrels/test.tsv").open("a") as file:
        file.write("q3\td1\t1\n")
    answer = lexigraft("run", "--data", collection, "--out", run)
    assert "encode bm25 (judged): done before" in answer.stderr
    assert "index bm25 (judged): done before" in answer.stderr
    assert "evaluate bm25 (qk=0, dk=0): done before" not in answer.stderr


def test_a_run_folder_used_again_shows_only_the_new_collection(run, tmp_path, lexigraft):
    write_collection(tmp_path / "other", [Document("x1", "", "apple banana")])
    again = ("run", "--data", tmp_path / "other", "--out", run, "--set", "run.systems=bm25", "--replace", "--json")
    answer = lexigraft(*again)
    assert answer.json["rows"] == []
    assert [line["stage"] for line in answer.json["stages"]] == [
        "collect",
        "texts (judged)",
        "encode bm25 (judged)",
        "index bm25 (judged)",
        "report",
    ]
    assert not (run / "report.png").exists()
    assert lexigraft("search", "--run", run, "apple", "--json").json["hits"][0]["doc_id"] == "x1"
    refused = lexigraft("search", "--run", run, "--system", "bm25-plain", "order")
    assert (refused.status, "present: bm25" in refused.stderr) == (2, True)


def test_ids_of_any_kind(tmp_path, lexigraft):
    ids = ["a b", "c\u00a0d", "e\nf", ":apple:", "[bold]x", "п%20", "g:smile:h"]
    documents = [Document(doc_id, "", f"word{number} shared") for number, doc_id in enumerate(ids)]
    queries = [Query(f"q {number}", f"word{number} shared") for number in range(len(ids))]
    qrels = [Qrel(f"q {number}", doc_id, 1) for number, doc_id in enumerate(ids) if "\n" not in doc_id]
    write_collection(tmp_path / "odd", documents, queries, {"test": qrels})
    report = lexigraft("run", "--data", tmp_path / "odd", "--out", tmp_path / "run", "--json").json
    assert report["rows"][0]["MRR@10"] == 1.0
    trec = tmp_path / "run/judged/bm25/evaluation-qk0-dk0/run.trec"
    assert lexigraft("evaluate", trec, "--data", tmp_path / "odd", "--json").json["systems"][str(trec)]["MRR@10"] == 1.0
    for number, doc_id in enumerate(ids):
        text = lexigraft("search", "--run", tmp_path / "run", f"word{number}").stdout
        assert doc_id.replace("\n", "\\n") in text  # as it is, so that it can be copied, but on one line
        assert (
            lexigraft("explain", "--run", tmp_path / "run", f"word{number}", doc_id, "--json").json["doc_id"] == doc_id
        )

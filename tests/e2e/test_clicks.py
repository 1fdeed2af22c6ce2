"""From a click log to sets and an evaluation set, as a user would call it."""

import gzip
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from lexigraft.core.artifact import open_artifact
from lexigraft.data.clicks.settings import Simulation
from lexigraft.data.clicks.simulate import write_simulation
from lexigraft.data.clicks.text import query_id
from lexigraft.data.collection import open_collection
from lexigraft.datasets.click_data import FORMAT_VERSION, KIND
from tests.e2e.test_bad_input import one_line_error

SETS = {"testset": "test", "validset": "dev", "trainset-small": "train", "trainset": "train"}
SMALL = (
    "--clusters", 6, "--test-queries", 5, "--test-distractors", 4, "--valid-queries", 1, "--valid-distractors", 3,
    "--backbone", "none",
)  # fmt: skip


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.tsv"
    write_simulation(Simulation(lines=9000, topics=6), 0, path, path.with_name("truth.tsv"))
    return path


@pytest.fixture
def sets(log, tmp_path, lexigraft):
    assert lexigraft("data", "clicks", log, "--out", tmp_path / "sets", *SMALL).status == 0
    return tmp_path / "sets"


def queries_of(folder, *splits):
    collection = open_collection(folder)
    return {qrel.query_id for split in splits or collection.qrels_files for qrel in collection.qrels(split)}


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_sets_and_their_report(log, tmp_path, lexigraft):
    answer = lexigraft("data", "clicks", log, "--out", tmp_path / "sets", *SMALL, "--json")
    assert answer.status == 0
    report = answer.json
    assert report == json.loads((tmp_path / "sets/report.json").read_text())
    manifest = open_artifact(tmp_path / "sets", KIND, FORMAT_VERSION)
    assert manifest.config["keep"] == {"max_position": 10, "min_clicks": 2, "min_documents": 2}
    assert report["log"]["lines"] == 9000
    assert report["log"]["pairs"] == report["log"]["kept_pairs"] + sum(report["log"]["dropped_pairs"].values())
    assert sum(report["clusters"]["sizes"]) == len(queries_of(tmp_path / "sets/trainset-small")) + sum(
        len(list(open_collection(tmp_path / "sets" / name).queries())) for name in ("testset", "validset")
    )
    for name, split in SETS.items():
        collection, facts = open_collection(tmp_path / "sets" / name), report["sets"][name]
        qrels = collection.qrels(split)
        assert (facts["pairs"], facts["queries"]) == (len(qrels), len({qrel.query_id for qrel in qrels}))
        assert facts["docs_per_query"] == pytest.approx(len(qrels) / facts["queries"])
        assert facts["unique_titles"] <= facts["documents"]
        documents = {document.doc_id for document in collection.documents()}
        everything = [qrel for one in collection.qrels_files for qrel in collection.qrels(one)]
        n_queries, both = len(list(collection.queries())), facts["with_distractors"]
        assert (both["pairs"], both["queries"], both["documents"]) == (len(everything), n_queries, len(documents))
        assert both["queries"] == facts["queries"] + facts["distractor_queries"]
        assert both["documents"] == facts["documents"] + facts["distractor_documents"]
        assert both["docs_per_query"] == pytest.approx(len(everything) / n_queries)
        assert both["queries_per_doc"] == pytest.approx(len(everything) / len(documents))
        assert (both["queries"] > facts["queries"]) == (name in ("testset", "validset"))
        assert {q.doc_id for s in collection.qrels_files for q in collection.qrels(s)} == documents
        assert all(qrel.relevance >= 2 for qrel in qrels)  # clicks
        rows = [line.split("\t") for line in (collection.folder / "clusters.tsv").read_text().splitlines()]
        assert rows[0] == ["query-id", "cluster"]
        assert {query for query, _ in rows[1:]} == {query.query_id for query in collection.queries()}
    stats = lexigraft("data", "stats", tmp_path / "sets/testset", "--json").json
    assert stats["splits"]["test"]["unknown_queries"] == 0


def test_the_sets_together_are_one_collection(sets, lexigraft):
    whole, parts = open_collection(sets), {name: open_collection(sets / name) for name in SETS}
    for split, name in (("test", "testset"), ("dev", "validset"), ("train", "trainset")):
        assert whole.qrels(split) == parts[name].qrels(split)
    # Held-out queries never train, in this folder neither; no query has two roles.
    roles = [queries_of(sets, split) for split in ("train", "dev", "test", "distractor")]
    assert len(set.union(*roles)) == sum(map(len, roles))
    assert {query for part in parts.values() for query in part.queries()} == set(whole.queries())
    documents = list(whole.documents())
    assert documents == sorted({document for part in parts.values() for document in part.documents()})
    assert (sets / "clusters.tsv").read_text().count("\n") == 1 + len(list(whole.queries()))
    stats = lexigraft("data", "stats", sets, "--json").json
    assert {split: counts["unknown_documents"] for split, counts in stats["splits"].items()} == dict.fromkeys(
        ("dev", "distractor", "test", "train"), 0
    )


def test_a_run_takes_the_folder_and_measures_the_test_queries(sets, tmp_path, lexigraft):
    answer = lexigraft("run", "--data", sets, "--out", tmp_path / "run", "--set", 'run.systems=["bm25"]')
    assert answer.status == 0, answer.stderr
    measured = lexigraft("evaluate", "--run", tmp_path / "run", "--json").json
    assert measured["judged_by"] == "test of sets"
    assert measured["queries"] == len(queries_of(sets, "test"))


@pytest.mark.parametrize("lines", [700, 2000, 30_000])
def test_no_options_for_any_size_of_log(lines, tmp_path, lexigraft):
    log, out = tmp_path / "log.tsv", tmp_path / "sets"
    made = write_simulation(Simulation(lines=lines, topics=3), 0, log, tmp_path / "truth.tsv")
    answer = lexigraft("data", "clicks", log, "--out", out, "--backbone", "none", "--json")
    assert answer.status == 0, answer.stderr
    assert answer.json["clusters"]["wanted"] == -(-made.queries // 300)
    assert all(queries_of(out, split) for split in ("train", "dev", "test"))
    manifest = open_artifact(out, KIND, FORMAT_VERSION)
    assert manifest.config["clusters"] == answer.json["clusters"]["wanted"]  # what it came to, not that it was found
    assert manifest.config["sizes"] == answer.json["sizes"]


def test_two_queries_are_too_few(tmp_path, lexigraft):
    log = tmp_path / "log.tsv"
    rows = [f"{query}\t{title}\t1\t3\n" for query in ("one", "two") for title in ("a", "b")]
    log.write_text("query\ttitle\tposition\tclicks\n" + "".join(rows))
    answer = lexigraft("data", "clicks", log, "--out", tmp_path / "sets", "--backbone", "none")
    one_line_error(answer, "nothing is left to train on", "hold 2 together", "a log of more queries")


def test_titles_that_logs_do_not_agree_on(log, tmp_path, lexigraft):
    """A document of a test query and of a further log is one document of the collection, under one title."""
    named, more = tmp_path / "named.tsv", tmp_path / "more.tsv"
    header, *lines = log.read_text().splitlines(keepends=True)
    ids = {title: f"u{number}" for number, title in enumerate(sorted({line.split("\t")[1] for line in lines}))}
    named.write_text("url\t" + header + "".join(f"{ids[line.split(chr(9))[1]]}\t{line}" for line in lines))
    more.write_text("url\t" + header + "".join(f"u{n}\tnew {n // 9}\tAAA {n}\t1\t9\t9\n" for n in range(90)))
    call = ("data", "clicks", named, "--more", more, "--doc-id-column", "url", "--out", tmp_path / "sets", *SMALL)
    assert lexigraft(*call).status == 0
    titles = {document.doc_id: document.title for document in open_collection(tmp_path / "sets").documents()}
    tested = {document.doc_id for document in open_collection(tmp_path / "sets/testset").documents()}
    changed = tested & {doc for doc, title in titles.items() if title.startswith("AAA")}
    assert changed


def test_the_exclusions_as_written(sets):
    held_out = {query.query_id for name in ("testset", "validset") for query in open_collection(sets / name).queries()}
    for name in ("trainset", "trainset-small"):
        assert not held_out & {query.query_id for query in open_collection(sets / name).queries()}
    for name, split in (("testset", "test"), ("validset", "dev")):
        collection = open_collection(sets / name)
        assert not queries_of(sets / name, split) & queries_of(sets / name, "distractor")
        positive = {qrel.doc_id for qrel in collection.qrels(split)}
        assert not positive & {qrel.doc_id for qrel in collection.qrels("distractor")}


def test_the_same_bytes_twice_and_for_any_order_and_format(log, sets, tmp_path, lexigraft):
    header, *lines = log.read_text().splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    shuffled, packed, table = tmp_path / "shuffled.tsv", tmp_path / "log.tsv.gz", tmp_path / "log.parquet"
    shuffled.write_text(header + "".join(lines))
    packed.write_bytes(gzip.compress(log.read_bytes()))
    names, rows = header.split(), [line.rstrip("\n").split("\t") for line in lines]
    columns = {name: [row[at] if at < 2 else int(row[at]) for row in rows] for at, name in enumerate(names)}
    parquet.write_table(pyarrow.table(columns), table)
    expected = files_of(sets)
    for number, source in enumerate((log, shuffled, packed, table)):
        out = tmp_path / f"again{number}"
        assert lexigraft("data", "clicks", source, "--out", out, *SMALL).status == 0
        found = files_of(out)
        if source is not log:  # the manifest names the log's own bytes
            found["manifest.json"] = expected["manifest.json"]
        assert found == expected, source


def test_further_logs_only_train(log, sets, tmp_path, lexigraft):
    tested = next(iter(open_collection(sets / "testset").queries())).text
    more = tmp_path / "more.tsv"
    rows = [(query, title) for query in (f"  {tested} ", "a new query") for title in ("one title", "another")]
    more.write_text("query\ttitle\tposition\tclicks\n" + "".join(f"{q}\t{t}\t1\t3\n" for q, t in rows))
    answer = lexigraft("data", "clicks", log, "--more", more, "--out", tmp_path / "more", *SMALL, "--json")
    assert answer.json["dropped_pairs"]["further log's query is in the testset or validset"] == 2
    assert "2 pairs dropped: further log's query is in the testset or validset" in answer.stderr
    assert answer.json["more"]["kept_pairs"] == 4
    small, train = (queries_of(tmp_path / "more" / name) for name in ("trainset-small", "trainset"))
    assert train - small == {query_id("a new query")}
    assert files_of(tmp_path / "more/testset") == files_of(sets / "testset")


def test_correction_changes_labels_alone(log, sets, tmp_path, lexigraft):
    column = ("--impressions-column", "impressions")
    labels = {}
    for method in ("none", "power", "estimated"):
        out = tmp_path / method
        call = ("data", "clicks", log, "--out", out, *SMALL, *column, "--correct", method, "--json")
        correction = lexigraft(*call).json["correction"]
        labels[method] = {(q.query_id, q.doc_id): q.relevance for q in open_collection(out / "testset").qrels("test")}
        if method == "power":
            assert correction["propensities"][:3] == pytest.approx([1, 1 / 2, 1 / 3])
        if method == "estimated":
            assert correction["propensities"][:3] == pytest.approx([1, 1 / 2, 1 / 3], rel=0.15)
    assert labels["none"].keys() == labels["power"].keys() == labels["estimated"].keys()
    assert sum(labels["power"].values()) > sum(labels["none"].values())
    clipped = lexigraft(*call[:4], tmp_path / "clip", *call[5:], "--correct", "power", "--max-weight", 3).json
    assert clipped["log"]["clipped_weights"] > 0


def test_tables_for_the_eye(log, tmp_path, lexigraft):
    answer = lexigraft("data", "clicks", log, "--out", tmp_path / "sets", *SMALL)
    assert "trainset-small" in answer.stdout
    assert "docs per query" in answer.stdout
    rows = [line.split()[:2] for line in answer.stdout.splitlines()]
    assert [row for row in rows if row and row[0] in SETS] == [
        ["testset", "positives"], ["testset", "with"], ["validset", "positives"], ["validset", "with"],
        ["trainset-small", "positives"], ["trainset", "positives"],
    ]  # fmt: skip
    assert "lines dropped: shown below position 10" in answer.stderr
    answer = lexigraft("data", "evalset", tmp_path / "sets/testset", "--out", tmp_path / "eval", "--queries", 6)
    assert "middle" in answer.stdout
    answer = lexigraft("data", "simulate", "--out", tmp_path / "s.tsv", "--lines", 100)
    assert "100 lines" in answer.stdout
    assert (tmp_path / "s.truth.tsv").is_file()
    for command in ("clicks", "evalset", "simulate"):
        assert lexigraft("data", command, "--help").status == 0


def check_evalset(source: Path, folder: Path, cluster_of=None):
    """The rules, read off the files."""
    triplets = [json.loads(line) for line in (folder / "evalset.jsonl").read_text().splitlines()]
    assert len({Counter(t["tercile"] for t in triplets)[name] for name in ("low", "middle", "high")}) == 1
    collection, origin = open_collection(folder), open_collection(source)
    qrels = {(q.query_id, q.doc_id): q.relevance for q in collection.qrels("test")}
    positive_for = defaultdict(set)
    for split in origin.qrels_files:
        for qrel in origin.qrels(split):
            positive_for[qrel.doc_id].add(qrel.query_id)
    for triplet in triplets:
        assert 1 <= len(triplet["positives"]) <= 3
        assert 1 <= len(triplet["negatives"]) <= 10
        for doc in triplet["positives"]:
            assert qrels[triplet["query_id"], doc] > 0
        for doc in triplet["negatives"]:
            assert qrels[triplet["query_id"], doc] == 0
            assert triplet["query_id"] not in positive_for[doc]
            if cluster_of:
                assert triplet["cluster"] not in {cluster_of[query] for query in positive_for[doc]}
    assert {document.doc_id for document in collection.documents()} == {doc for _, doc in qrels}
    return triplets


def test_evalset(sets, tmp_path, lexigraft):
    source = sets / "testset"
    call = ("data", "evalset", source, "--queries", 9, "--threshold", 0.3, "--json")
    report = lexigraft(*call, "--out", tmp_path / "eval").json
    rows = [line.split("\t") for line in (source / "clusters.tsv").read_text().splitlines()[1:]]
    triplets = check_evalset(source, tmp_path / "eval", {query: int(cluster) for query, cluster in rows})
    assert report["queries"] == len(triplets) > 0
    assert {triplet["query_id"] for triplet in triplets} <= queries_of(source, "test")
    lexigraft(*call, "--out", tmp_path / "again")
    assert files_of(tmp_path / "eval") == files_of(tmp_path / "again")


def test_evalset_with_a_background(sets, tmp_path, lexigraft):
    source, texts = sets / "testset", tmp_path / "texts.txt"
    texts.write_text("one more text\nanother text\n")
    call = ("data", "evalset", source, "--queries", 9, "--threshold", 0.3)
    plain = lexigraft(*call, "--out", tmp_path / "plain", "--json").json
    behind = ("--background", source, "--background", texts)
    report = lexigraft(*call, *behind, "--out", tmp_path / "eval", "--json").json
    small, large = open_collection(tmp_path / "plain"), open_collection(tmp_path / "eval")
    own, every = ([document.doc_id for document in one.documents()] for one in (small, large))
    everything = {document.doc_id for document in open_collection(source).documents()}
    assert every[: len(own)] == own
    assert len(every) == len(set(every)) == report["documents"] > plain["documents"] == len(own)
    # Positives of a query that the set does not judge, as it has the best three alone, would count as mistakes.
    asked = {query.query_id for query in large.queries()}
    unjudged = {q.doc_id for q in open_collection(source).qrels("test") if q.query_id in asked} - set(own)
    assert unjudged
    assert set(every) == (everything - unjudged) | {"texts-1", "texts-2"}
    first, second = report["background"]
    assert first == {
        "name": "testset", "documents": len(everything), "added": len(every) - 2 - len(own), "same_text": len(own),
        "same_id": 0, "unjudged_positives": len(unjudged),
    }  # fmt: skip
    assert (second["name"], second["added"]) == ("texts.txt", 2)
    assert large.qrels("test") == small.qrels("test")
    manifest = json.loads((tmp_path / "eval/manifest.json").read_text())
    assert {"background-1", "background-2"} <= manifest["parents"].keys()
    said = lexigraft(*call, *behind, "--out", tmp_path / "said").stdout
    assert "background texts.txt: 2 of 2 documents added; left out: 0 of a text that is there" in said
    absent = lexigraft(*call, "--background", tmp_path / "absent", "--out", tmp_path / "none")
    one_line_error(absent, "there is no collection at", "absent")


def test_evalset_makes_clusters_where_there_are_none(sets, tmp_path, lexigraft):
    (sets / "trainset/clusters.tsv").unlink()
    call = ("data", "evalset", sets / "trainset", "--out", tmp_path / "eval", "--queries", 3, "--threshold", 0.3)
    answer = lexigraft(*call, "--clusters", 5, "--backbone", "none")
    assert answer.status == 0, answer.stderr
    check_evalset(sets / "trainset", tmp_path / "eval")
    too_many = lexigraft(*call, "--backbone", "none", "--clusters", 10_000)
    one_line_error(too_many, "10,000 clusters are more than the", "--clusters")


def test_evalset_finds_the_number_of_clusters_itself(sets, tmp_path, lexigraft):
    """Few queries are one cluster, and of one cluster no query has a negative: the error says so."""
    (sets / "trainset/clusters.tsv").unlink()
    call = ("data", "evalset", sets / "trainset", "--out", tmp_path / "eval", "--queries", 3, "--backbone", "none")
    one_line_error(lexigraft(*call), "negative")


def test_evalset_of_the_whole_collection_knows_all_judgements(sets, tmp_path, lexigraft):
    """A document that a training query's cluster clicked is a negative of no query of that cluster."""
    call = ("data", "evalset", sets, "--out", tmp_path / "eval", "--queries", 9, "--threshold", 0.3, "--json")
    assert lexigraft(*call).status == 0
    rows = [line.split("\t") for line in (sets / "clusters.tsv").read_text().splitlines()[1:]]
    triplets = check_evalset(sets, tmp_path / "eval", {query: int(cluster) for query, cluster in rows})
    assert {triplet["query_id"] for triplet in triplets} <= queries_of(sets, "test")


def test_bad_calls(log, sets, tmp_path, lexigraft):
    out = ("--out", tmp_path / "out", *SMALL)
    one_line_error(
        lexigraft("data", "clicks", log, *out, "--query-column", "text"),
        "no column 'text'; present: query, title, position, impressions, clicks",
    )
    one_line_error(lexigraft("data", "clicks", log, *out, "--correct", "magic"), "one of none, power, estimated")
    one_line_error(lexigraft("data", "clicks", log, *out, "--correct", "estimated"), "--impressions-column")
    one_line_error(lexigraft("data", "clicks", log, *out, "--clusters", 9999), "9,999 clusters are more than")
    one_line_error(lexigraft("data", "clicks", log, *out, "--min-clicks", 10**6), "none of", "--min-clicks")
    one_line_error(lexigraft("data", "clicks", log, *out, "--test-queries", 1000), "nothing is left to train on")
    one_line_error(lexigraft("data", "clicks", log, "--out", log.parent, *SMALL), "not a Lexigraft artifact")
    one_line_error(lexigraft("data", "evalset", sets / "testset", *out[:2], "--split", "dev"), "present: distractor")
    one_line_error(
        lexigraft("data", "evalset", sets / "testset", *out[:2], "--candidates", 2, "--queries", 3), "lower --threshold"
    )
    (sets / "corpus.jsonl").unlink()  # as folders were before they were a collection
    one_line_error(lexigraft("data", "evalset", sets, *out[:2]), "holds several sets", "testset")
    (sets / "testset/clusters.tsv").write_text("query-id\tcluster\nq1\tx\n")
    one_line_error(lexigraft("data", "evalset", sets / "testset", *out[:2]), "clusters.tsv:2")
    assert lexigraft("data", "clicks", tmp_path / "absent", *out).status == 2
    assert not (tmp_path / "out").exists()


def test_a_bad_line_leaves_nothing_behind(log, tmp_path, lexigraft):
    bad = tmp_path / "bad.tsv"
    bad.write_text(log.read_text() + "q\tT\t1\t1\t-4\n")
    answer = lexigraft("data", "clicks", bad, "--out", tmp_path / "sets", *SMALL)
    one_line_error(answer, "bad.tsv:9002: clicks = '-4'")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.tsv"]

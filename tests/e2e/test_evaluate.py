"""`evaluate` on a small collection: systems side by side, a grid of prunings, a budget, and what is refused."""

import csv
import json
import random
import shutil

import pytest

from lexigraft.comparison.validation import validation_queries
from lexigraft.core.config import load_settings
from lexigraft.core.sealed_json import read_sealed, write_sealed
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.measure.compare import paired_test
from lexigraft.measure.trec import read_run
from lexigraft.stages.finished_run import open_run
from lexigraft.whole_run import run as run_pipeline

WORDS = "amber basil cedar delta ember fjord grove haven inlet jetty knoll larch maple north olive pearl".split()
N = 24


def made_collection(folder, splits=("train", "dev", "test")):
    """Document i holds four words, the first of them three times; query i two of its words and one of another's."""
    documents, queries, qrels = [], [], {split: [] for split in splits}
    for i in range(N):
        *words, other = random.Random(i).sample(WORDS, 5)
        documents.append(Document(f"d{i}", "", " ".join([*words, words[0], words[0]])))
        queries.append(Query(f"q{i}", f"{words[1]} {words[2]} {other}"))
        qrels[splits[i % len(splits)]].append(Qrel(f"q{i}", f"d{i}", 1))
    write_collection(folder, documents, queries, qrels)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return made_collection(tmp_path_factory.mktemp("data") / "woods")


@pytest.fixture(scope="module")
def made(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "woods"
    run_pipeline(str(data), folder, load_settings(None, ["evaluate.timing_runs=1"]))
    return folder


@pytest.fixture
def run(made, tmp_path):
    """A copy, so that what one test makes in it no other finds."""
    return shutil.copytree(made, tmp_path / "run")


def one_line_error(answer, *parts):
    assert answer.status == 2, answer.stderr
    assert "Traceback" not in answer.stderr
    for part in parts:
        assert part in answer.stderr


def test_systems_of_a_run_side_by_side(run, tmp_path, lexigraft):
    found = lexigraft("evaluate", "--run", run, "--json").json
    report = {row["system"]: row for row in lexigraft("report", "--run", run, "--json").json["rows"]}
    assert (found["queries"], found["baseline"], found["judged_by"]) == (8, "bm25", "test of woods")
    assert found["systems"]["bm25"]["MRR@10"] == pytest.approx(report["bm25"]["MRR@10"])
    assert found["systems"]["bm25-plain"]["FLOPS"] == report["bm25-plain"]["FLOPS"]
    assert {item["measure"] for item in found["comparisons"]} == {"MRR@10", "R@10", "R@100", "R@1000", "nDCG@10"}
    assert all((item["system"], item["baseline"]) == ("bm25-plain", "bm25") for item in found["comparisons"])
    table = lexigraft("evaluate", "--run", run).stdout
    assert "8 judged queries (test of woods)" in table
    assert "won / tied / lost" in table


def weaker_run(run, path):
    """BM25's run with every ranking turned round."""
    rankings = read_run(run / "judged/bm25/evaluation-qk0-dk0/run.trec")
    with path.open("w") as file:
        for ranking in rankings:
            for place, doc_id in enumerate(reversed(ranking.doc_ids), 1):
                file.write(f"{ranking.query_id} Q0 {doc_id} {place} {100 - place} weaker\n")
    return path


def test_a_run_and_trec_files_with_tables_in_a_folder(run, tmp_path, lexigraft):
    weaker, out = weaker_run(run, tmp_path / "weaker.trec"), tmp_path / "out"
    call = ("evaluate", weaker, "--run", run, "--system", "bm25", "--measure", "nDCG@10", "--out", out)
    found = lexigraft(*call, "--json").json
    assert list(found["systems"]) == ["bm25", str(weaker)]
    assert json.loads((out / "evaluation.json").read_text()) == found
    with (out / "per_query.csv").open() as file:
        rows = list(csv.DictReader(file))
    differences = [float(row[str(weaker)]) - float(row["bm25"]) for row in rows]
    [item] = found["comparisons"]
    assert len(rows) == 8
    assert item["difference"] == pytest.approx(sum(differences) / 8)
    assert item["p"] == pytest.approx(paired_test(differences).p)
    assert item["losses"] == sum(value < 0 for value in differences) > 0
    assert len(found["changes"][0]["lost"]) == item["losses"]
    with (out / "comparisons.csv").open() as file:
        assert float(next(csv.DictReader(file))["p"]) == item["p"]
    assert "| nDCG@10 |" in (out / "evaluation.md").read_text()
    shown = lexigraft(*call, "--changes", 1).stdout  # and the folder is replaced
    assert "where it changed most" in shown
    assert found["changes"][0]["lost"][0]["query_id"] in shown


def test_two_runs_of_one_collection_and_their_trec_files(run, data, tmp_path, lexigraft):
    other, folder = tmp_path / "other", tmp_path / "trec"
    call = ("run", "--data", data, "--out", other, "--set", "lexical.k1=0.1", "--set", "run.systems=bm25")
    assert lexigraft(*call, "--set", "evaluate.timing_runs=1").status == 0
    answer = lexigraft("evaluate", "--run", run, "--run", other, "--all-pairs", "--write-runs", folder, "--json")
    found = answer.json
    assert list(found["systems"]) == ["run/bm25", "run/bm25-plain", "other/bm25"]
    assert len(found["comparisons"]) == 3 * 5
    assert sorted(file.name for file in folder.iterdir()) == [
        "other_bm25.trec", "run_bm25-plain.trec", "run_bm25.trec",
    ]  # fmt: skip
    again = lexigraft("evaluate", folder / "other_bm25.trec", "--data", data, "--measure", "MRR@10", "--json").json
    assert again["systems"][str(folder / "other_bm25.trec")]["MRR@10"] == found["systems"]["other/bm25"]["MRR@10"]
    assert (again["comparisons"], again["changes"]) == ([], [])
    # The same runs may be written again; another file in their place stays.
    assert lexigraft("evaluate", "--run", run, "--run", other, "--write-runs", folder).status == 0
    (folder / "run_bm25.trec").write_text("mine\n")
    refused = lexigraft("evaluate", "--run", run, "--run", other, "--write-runs", folder)
    one_line_error(refused, "run_bm25.trec is there already")
    assert (folder / "run_bm25.trec").read_text() == "mine\n"


def test_a_file_that_lacks_queries(run, tmp_path, lexigraft):
    few = tmp_path / "few.trec"
    lines = (run / "judged/bm25/evaluation-qk0-dk0/run.trec").read_text().splitlines(keepends=True)
    first = lines[0].split()[0]
    few.write_text("".join(line for line in lines if line.split()[0] != first))
    call = ("evaluate", few, "--run", run, "--system", "bm25", "--measure", "R@10", "--json")
    answer = lexigraft(*call)
    assert f"ranks nothing for 1 of 8 judged queries (such as {first}): they count 0" in answer.stderr
    assert answer.json["queries"] == 8
    assert answer.json["comparisons"][0]["losses"] == 1
    common = lexigraft(*call, "--common").json
    assert common["queries"] == 7
    assert common["comparisons"][0]["p"] == 1.0  # the same rankings: no difference at all
    assert common["comparisons"][0]["ties"] == 7


def test_one_query(run, tmp_path, lexigraft):
    trec, qrels = run / "judged/bm25/evaluation-qk0-dk0/run.trec", tmp_path / "one.qrels"
    ranking = read_run(trec)[0]
    qrels.write_text(f"{ranking.query_id} 0 {ranking.doc_ids[0]} 1\n")
    other = weaker_run(run, tmp_path / "weaker.trec")
    [item] = lexigraft("evaluate", trec, other, "--qrels", qrels, "--measure", "MRR@10", "--json").json["comparisons"]
    assert (item["queries"], item["losses"], item["p"], item["low"]) == (1, 1, None, None)
    assert "1 judged queries" in lexigraft("evaluate", trec, other, "--qrels", qrels, "--measure", "MRR@10").stdout


def test_a_grid_of_prunings(run, tmp_path, lexigraft):
    out = tmp_path / "grid"
    answer = lexigraft("evaluate", "--run", run, "--qk", "0,1", "--dk", "0,2", "--out", out, "--json")
    found = answer.json
    cells = {(row["system"], row["qk"], row["dk"]): row for row in found["rows"]}
    assert set(cells) == {("bm25", 0, 0), ("bm25", 1, 0), ("bm25", 0, 2), ("bm25", 1, 2)}
    assert cells["bm25", 1, 2]["L0_q"] <= 1
    assert cells["bm25", 0, 2]["L0_d"] == 2
    assert cells["bm25", 1, 2]["FLOPS"] < cells["bm25", 0, 2]["FLOPS"] < cells["bm25", 0, 0]["FLOPS"]
    assert cells["bm25", 0, 2]["postings"] == 2 * N
    assert [1, 2] in found["front"]  # nothing is cheaper
    assert (out / "grid.png").read_bytes().startswith(b"\x89PNG")
    assert "| bm25 | 0 | 2 |" in (out / "grid.md").read_text()
    assert {file.name for file in out.iterdir()} >= {"grid.csv", "grid.json", "systems.csv", "per_query.csv"}
    again = lexigraft("evaluate", "--run", run, "--qk", "0,1", "--dk", "0,2")
    assert "evaluate bm25 (qk=1, dk=2): done before" in again.stderr
    assert "index bm25 (judged, dk=2): done before" in again.stderr
    assert lexigraft("report", "--run", run).status == 0  # the run is still what it was
    both = lexigraft("evaluate", "--run", run, "--system", "bm25-plain", "--qk", "1", "--dk", "0", "--json").json
    assert [(row["system"], row["qk"]) for row in both["rows"]] == [("bm25", 0), ("bm25-plain", 1)]


def test_a_budget_is_kept_on_validation_queries(run, tmp_path, lexigraft):
    out = tmp_path / "out"
    call = ("evaluate", "--run", run, "--system", "bm25-plain", "--budget", "bm25", "--qk", "0,2,1", "--dk", "0,3")
    found = lexigraft(*call, "--out", out, "--json").json
    budget = found["budget"]
    assert (found["split"], budget["validated_on"], budget["of"], budget["queries"]) == ("test", "dev", "bm25", 8)
    assert budget["bm25"]["FLOPS"] == budget["flops"]
    within = [row for row in budget["rows"] if row["FLOPS"] < budget["flops"]]
    best = max(row["MRR@10"] for row in within)
    cheapest = min((row for row in within if row["MRR@10"] == best), key=lambda row: row["FLOPS"])
    assert budget["chosen"] == [cheapest["qk"], cheapest["dk"]]
    reported = [(row["system"], row["qk"], row["dk"]) for row in found["rows"]]
    assert reported == [("bm25", 0, 0), ("bm25-plain", 0, 0), ("bm25-plain", *budget["chosen"])]
    assert (out / "validation.csv").is_file()
    answer = lexigraft(*call)
    assert f"Chosen: qk={cheapest['qk']}, dk={cheapest['dk']}" in answer.stdout
    assert "(dev)" in answer.stdout
    assert "validate bm25-plain (qk=1, dk=3): done before" in answer.stderr
    one_line_error(lexigraft(*call[:5], "--budget", "0.0001"), "no pruning of the grid costs less than 0.0001 FLOPS")


def test_what_a_setting_is_chosen_by(run, tmp_path, lexigraft):
    assert {qrel.query_id for qrel in validation_queries(open_run(run)).qrels} == {f"q{i}" for i in range(1, N, 3)}
    # Without dev: the training queries, because no model of the run trained on them; never those that are measured.
    data, other = made_collection(tmp_path / "two", ("train", "test")), tmp_path / "two-run"
    (data / "qrels/train.tsv").open("a").write("q1\td1\t1\n")  # a test query
    assert lexigraft("run", "--data", data, "--out", other, "--set", "evaluate.timing_runs=1").status == 0
    found = validation_queries(open_run(other))
    assert (found.described, len(found.qrels)) == ("training queries", N // 2)
    assert "q1" not in {qrel.query_id for qrel in found.qrels}
    # With test alone there is nothing.
    data, other = made_collection(tmp_path / "one", ("test",)), tmp_path / "one-run"
    call = ("run", "--data", data, "--out", other, "--set", "evaluate.timing_runs=1", "--set", "run.systems=bm25-plain")
    assert lexigraft(*call).status == 0
    one_line_error(
        lexigraft("evaluate", "--run", other, "--budget", "1"), "no judged queries to choose", "qrels/dev.tsv"
    )


def test_what_is_refused(run, data, tmp_path, lexigraft):
    trec = run / "judged/bm25/evaluation-qk0-dk0/run.trec"
    for call, part in (
        ((), "nothing to evaluate"),
        ((trec,), "need judgements"),
        ((trec, "--qrels", trec, "--data", data), "either --qrels FILE or --data DIR"),
        ((trec, trec, "--data", data), "given twice"),
        ((trec, "--data", data, "--baseline", "x"), "'x' is none of the systems"),
        ((trec, "--data", data, "--system", "bm25"), "--system chooses among the systems of a --run"),
        (("--run", run, "--system", "splade"), "no system 'splade'; present: bm25, bm25-plain"),
        (("--run", run, "--split", "dev"), "--split chooses among the judgements of --data"),
        (("--run", tmp_path / "none"), "there is no run at"),
        (("--run", run, "--measure", "nonsense@3"), "nonsense@3"),
        (("--run", run, "--out", data), "is not a Lexigraft artifact"),
        (("--run", run, "--qk", "1,x"), "--qk '1,x' is not allowed"),
        (("--run", run, "--budget", "cheap"), "--budget 'cheap' is not allowed"),
        (("--run", run, "--budget", "-1"), "--budget '-1' is not allowed"),
        (("--run", run, "--run", run, "--qk", "1"), "a single --run"),
        ((trec, "--run", run, "--budget", "bm25"), "a single --run"),
        (("--run", run, "--budget", "bm25", "--split", "test"), "a single --run"),
        (("--run", run, "--budget", "bm25", "--changes", 3), "a single --run"),
    ):
        one_line_error(lexigraft("evaluate", *call), part)


def test_runs_of_different_judgements_and_changed_ones(run, data, tmp_path, lexigraft):
    other = tmp_path / "dev-run"
    call = ("run", "--data", data, "--out", other, "--set", "data.split=dev", "--set", "run.systems=bm25-plain")
    assert lexigraft(*call, "--set", "evaluate.timing_runs=1").status == 0
    refused = lexigraft("evaluate", "--run", run, "--run", other)
    one_line_error(refused, "different judgements (test of woods, dev of woods)", "--qrels FILE")
    one_line_error(lexigraft("evaluate", "--run", other, "--budget", "bm25"), "has no bm25 to set the budget")
    moved = shutil.copytree(data, tmp_path / "moved")
    settings = read_sealed(run / "settings.json")
    write_sealed(run / "settings.json", {**settings, "source": str(moved)})
    (moved / "qrels/test.tsv").open("a").write("q0\td1\t1\n")
    one_line_error(lexigraft("evaluate", "--run", run), "have changed since", "measure it again")


def test_a_measure_given_twice_is_one_column(run, lexigraft):
    once = lexigraft("evaluate", "--run", run, "--measure", "R@10", "--json").json
    assert lexigraft("evaluate", "--run", run, "--measure", "R@10", "--measure", "R@10", "--json").json == once


def test_judgements_that_contradict_each_other(lexigraft, run, data, tmp_path):
    """Before, there was no way to measure by them: the error named an option that `evaluate` did not have."""
    system = next(run.glob("judged/bm25/**/run.trec"))
    lines = (data / "qrels/test.tsv").read_text().splitlines()
    query, document, _ = lines[1].split("\t")
    twice = tmp_path / "twice.tsv"
    twice.write_text("\n".join([*lines, f"{query}\t{document}\t0"]) + "\n")
    one_line_error(lexigraft("evaluate", system, "--qrels", twice), "twice.tsv", "on-duplicate")
    once = lexigraft("evaluate", system, "--qrels", data / "qrels/test.tsv", "--json")
    skipped = lexigraft("evaluate", system, "--qrels", twice, "--on-duplicate", "skip", "--json")
    assert skipped.status == 0, skipped.stderr
    assert json.loads(skipped.stdout)["systems"] == json.loads(once.stdout)["systems"]
    copied = shutil.copytree(data, tmp_path / "data")
    shutil.copyfile(twice, copied / "qrels/test.tsv")
    one_line_error(lexigraft("evaluate", system, "--data", copied), "test.tsv", "on-duplicate")
    of_data = lexigraft("evaluate", system, "--data", copied, "--on-duplicate", "skip", "--json")
    assert json.loads(of_data.stdout)["systems"] == json.loads(once.stdout)["systems"]
    one_line_error(lexigraft("evaluate", system, "--qrels", twice, "--on-duplicate", "keep"), "error, skip")
    one_line_error(lexigraft("evaluate", "--run", run, "--on-duplicate", "skip"), "--qrels or --data")

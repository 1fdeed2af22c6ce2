"""`lexigraft wackiness`, end to end on a tiny model: its folder, resuming, pruned indexes, and bad input."""

import csv
import json
import shutil

import numpy as np
import pytest

from lexigraft.core.errors import SettingError
from lexigraft.data.write import write_collection
from lexigraft.explain.wackiness_store import open_wackiness
from lexigraft.index.store import open_index
from lexigraft.study.wackiness.measure import measure_wackiness
from lexigraft.study.wackiness.settings import WackinessSettings
from tests.conftest import DOCUMENTS, QRELS, QUERIES
from tests.e2e.test_model import backbone, collection, finished  # noqa: F401  (fixtures)

SETTINGS = WackinessSettings(documents=20_000, k=10)


@pytest.fixture(scope="module")
def measured(finished, tmp_path_factory):  # noqa: F811
    """What the command line calls, once for all tests that only look."""
    out = tmp_path_factory.mktemp("measured") / "wack"
    return out, json.loads(json.dumps(measure_wackiness([finished, finished], out, SETTINGS)))


def test_folder_and_numbers(measured):
    out, result = measured
    names = [entry["name"] for entry in result["systems"]]
    assert names == ["run", "run-esplade"]
    assert json.loads((out / "result.json").read_text()) == result
    for name in ("tables.md", "wackiness.csv", "top_terms.csv", "removal.csv", "pruning.csv", "curves.csv"):
        assert (out / name).stat().st_size > 0
    for name in ("curves.png", "curves.svg", "removal.png", "removal.svg"):
        assert (out / name).stat().st_size > 1000
    # The same system twice: the same numbers, and no significant difference.
    left, right = result["sides"]["queries"]
    assert left["areas"] == right["areas"]
    assert left["letters"] == right["letters"] == "a"
    assert (left["which"], left["inputs"], left["n_drawn"]) == ("training queries", 140, 70)
    assert result["sides"]["documents"][0]["inputs"] == 160
    found = open_wackiness(out / "run" / "queries")
    seen = found.terms.scores[found.terms.seen]
    assert ((seen >= 0) & (seen <= 1)).all()
    assert np.isnan(found.terms.scores[found.terms.counts == 0]).all()
    assert (found.terms.scores == 0).sum() >= 1
    assert found.vocabulary.terms[found.terms.largest_term] == left["term_of_the_largest_mean"]
    assert left["coverage"] == pytest.approx(len(seen) / left["terms"])


def test_removal_ends_at_the_lines_that_bound_it(measured):
    _, result = measured
    entry = result["removal"][0]
    assert entry["removed"][-1] == entry["terms"]
    assert set(entry["measures"]) == {"MRR@10", "R@10", "R@100", "R@1000", "nDCG@10"}
    assert entry["weight_wacky"] == sorted(entry["weight_wacky"], reverse=True)
    assert entry["weight_wacky"][-1] >= entry["weight_none"] - 1e-9
    assert entry["repeats"] == 10
    for values in entry["measures"].values():  # all terms are the same terms, however they are drawn
        assert values["random"][-1] == pytest.approx(values["wacky"][-1])
        assert values["random_std"][-1] == pytest.approx(0)
        assert len(values["random"]) == len(values["wacky"]) == len(entry["removed"])
        assert values["wacky_std"][-1] == 0
    row = json.loads((measured[0] / "run" / "pruning" / "rows.json").read_text())[0]
    for measure in ("MRR@10", "R@10", "nDCG@10"):
        assert row[measure] == pytest.approx(entry["measures"][measure]["full"])


def test_ties_are_drawn_ten_times(measured):
    out, result = measured
    entry = result["removal"][0]
    at_one = result["sides"]["queries"][0]["terms_of_score_1"]
    assert at_one > 3, "or there is nothing to draw here"
    assert (entry["tie_draws"], len(entry["cuts_ties"])) == (10, len(entry["removed"]))
    assert all(tied for tied, n in zip(entry["cuts_ties"], entry["removed"], strict=True) if n < at_one)
    assert not entry["cuts_ties"][-1]
    spread = False
    for values in entry["measures"].values():
        for place, tied in enumerate(entry["cuts_ties"]):
            low, mean, high = (values[f"wacky_{name}"][place] for name in ("min", "mean", "max"))
            assert low <= values["wacky"][place] <= high
            assert low - 1e-12 <= mean <= high + 1e-12
            assert (values["wacky_std"][place] > 0) == (low < high)
            assert tied or low == high
            spread |= low < high
    assert spread or entry["weight_wacky_mean"] != pytest.approx(entry["weight_wacky"])  # draws do differ
    with (out / "removal.csv").open() as file:
        row = next(row for row in csv.DictReader(file) if row["system"] == "run")
    first = entry["measures"][row["measure"]]
    assert [float(row[name]) for name in ("mean of draws", "lowest draw", "highest draw")] == pytest.approx(
        [first["wacky_mean"][0], first["wacky_min"][0], first["wacky_max"][0]]
    )
    assert "highest draw" in (out / "tables.md").read_text()


def test_full_expansion_is_what_the_run_measured(measured, finished):  # noqa: F811
    rows = json.loads((finished / "report.json").read_text())["rows"]
    row = next(row for row in rows if (row["system"], row["qk"], row["dk"]) == ("esplade", 0, 0))
    values = measured[1]["removal"][0]["measures"]
    for measure in ("MRR@10", "R@10", "nDCG@10"):
        assert values[measure]["full"] == pytest.approx(row[measure])
    assert measured[1]["pruning"][0]["FLOPS"] == pytest.approx(row["FLOPS"])
    cut = next(row for row in rows if (row["system"], row["qk"], row["dk"]) == ("esplade", 2, 3))
    for measure in ("FLOPS", "MRR@10", "R@10", "nDCG@10"):
        assert measured[1]["pruning"][1][measure] == pytest.approx(cut[measure])


def test_pruned_indexes_cost_less_and_can_be_searched(measured, finished, lexigraft):  # noqa: F811
    out, _ = measured
    whole = open_index(finished / "judged/esplade/index")
    with (out / "pruning.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["name"] == "run"]
    assert [row["dropped"] for row in rows] == [
        "nothing", "by weight", *["from queries", "from documents", "from both"] * 3,
    ]  # fmt: skip
    assert (rows[1]["qk"], rows[1]["dk"]) == ("2", "3")
    for row in rows[1:]:
        assert float(row["FLOPS"]) <= float(rows[0]["FLOPS"])
    pruned = out / "run" / "pruned" / "documents-0.5"
    assert open_index(pruned).meta.n_postings < whole.meta.n_postings
    hits = lexigraft("search", "--index", pruned, "kura kure", "--json").json["hits"]
    assert hits


@pytest.mark.integration  # it takes long
def test_a_second_call_redoes_only_what_is_missing(measured, finished, tmp_path, lexigraft):  # noqa: F811
    out, result = tmp_path / "wack", measured[1]
    shutil.copytree(measured[0], out)
    before = {file: file.stat().st_mtime_ns for file in out.rglob("*.npy")}
    shutil.rmtree(out / "run" / "removal")
    again = lexigraft(
        "wackiness", "--run", finished, "--run", finished, "--out", out, "--documents", "--k", 10, "--json"
    )
    assert again.json == result
    assert again.stderr.count("done before") == 7  # of 8: the sides, removal and pruning of two
    assert {file: file.stat().st_mtime_ns for file in out.rglob("*.npy")} == before


@pytest.mark.integration  # it takes long
def test_another_collection(finished, tmp_path, lexigraft):  # noqa: F811
    other = tmp_path / "elsewhere"
    write_collection(other, DOCUMENTS, QUERIES, QRELS)
    out = tmp_path / "wack"
    answer = lexigraft("wackiness", "--run", finished, "--out", out, "--other", other, "--queries", 5, "--json")
    assert answer.status == 0, answer.stderr
    here, there = answer.json["removal"]
    assert (here["domain"], there["domain"], there["collection"]) == ("in-domain", "out-of-domain", "elsewhere")
    assert "nDCG@10" in there["measures"] and "R@1000" not in there["measures"]
    # Five inputs, two a draw: fewer terms than bins may be, and each has a bin.
    entry = answer.json["sides"]["queries"][0]
    assert entry["n_drawn"] == 2
    assert len(entry["curve"]) <= 100


def test_without_judgements_there_are_scores_and_curves(finished, collection, tmp_path, lexigraft):  # noqa: F811
    bare = tmp_path / "bare"
    shutil.copytree(collection, bare)
    shutil.rmtree(bare / "qrels")
    out = tmp_path / "wack"
    answer = lexigraft("wackiness", "--run", finished, "--data", bare, "--out", out)
    assert answer.status == 0, answer.stderr
    assert "W-AUC" in answer.stdout
    result = json.loads((out / "result.json").read_text())
    assert result["sides"]["queries"][0]["which"] == "all queries"
    assert result["removal"] == [] == result["pruning"]
    assert not (out / "removal.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--system", "bm25"], "no expansion terms"),
        (["--system", "nonsense"], "no system 'nonsense'"),
        (["--system", "bm25", "--system", "esplade"], "2 systems for 1 runs"),
        (["--queries", 0], "neither queries nor documents"),
        (["--data", "nowhere"], "no collection at nowhere"),
    ],
)
def test_bad_input(arguments, message, finished, tmp_path, lexigraft):  # noqa: F811
    answer = lexigraft("wackiness", "--run", finished, "--out", tmp_path / "wack", *arguments)
    assert answer.status == 2
    assert message in answer.stderr


def test_a_folder_with_a_result_of_others_is_left_alone(finished, tmp_path, lexigraft):  # noqa: F811
    (tmp_path / "result.json").write_text("{}")
    answer = lexigraft("wackiness", "--run", finished, "--out", tmp_path)
    assert answer.status == 2
    assert "not of this command" in answer.stderr


def test_rm3_is_measured_beside_a_model(finished, tmp_path):  # noqa: F811
    settings = WackinessSettings(k=10, removal_queries=20)
    found = measure_wackiness([finished, finished], tmp_path / "wack", settings, ["esplade", "bm25+rm3"])
    learned, feedback = found["sides"]["queries"]
    assert (learned["name"], feedback["name"]) == ("run", "run-bm25+rm3")
    # At most ten terms are added to a query, all of them from documents that it finds: they are hardly wacky.
    assert 0 < feedback["expansion_terms_an_input"] <= 10
    assert feedback["terms_of_score_1"] < feedback["terms_seen"]
    kept = json.loads((tmp_path / "wack" / "run-bm25+rm3" / "queries" / "manifest.json").read_text())
    assert kept["config"]["feedback"]["fb_terms"] == 10
    with pytest.raises(SettingError, match=r"give it BM25: bm25\+rm3"):
        measure_wackiness([finished], tmp_path / "none", settings, ["esplade+rm3"])


def test_explain_says_how_wacky_added_terms_are(measured, finished, lexigraft):  # noqa: F811
    scores = open_wackiness(measured[0] / "run" / "queries")
    place = {term: at for at, term in enumerate(scores.vocabulary.terms)}
    said = lexigraft(
        "explain", "--run", finished, "--text", "kura kure", "--wackiness", measured[0] / "run/queries", "--json"
    )
    added = [term for term in said.json["terms"] if not term["own"]]
    assert added
    for term in added:
        score = scores.terms.scores[place[term["term"]]]
        assert term["wackiness"] is None if np.isnan(score) else term["wackiness"] == pytest.approx(float(score))


def test_a_collection_in_another_order_is_refused(finished, collection, tmp_path, lexigraft):  # noqa: F811
    moved = tmp_path / "moved"
    shutil.copytree(collection, moved)
    (corpus,) = moved.glob("corpus.jsonl*")
    corpus.write_text("".join(reversed(corpus.read_text().splitlines(keepends=True))))
    answer = lexigraft("wackiness", "--run", finished, "--out", tmp_path / "wack", "--data", moved, "--queries", 5)
    assert answer.status == 2
    assert "document 1 of the collection is" in answer.stderr

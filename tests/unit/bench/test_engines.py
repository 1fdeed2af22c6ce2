"""The engine benchmark's own parts: who counts as a peer, what the oracle accepts, and that wrong answers stop it."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from bench.collections import Collection, make
from bench.engines.interface import made_once
from bench.engines.measure import Timings, WrongAnswerError, check, measure
from bench.engines.oracle import Oracle
from bench.engines.ours import engines as our_engines
from bench.engines.ours import vectors_of
from bench.engines.pisa import sequences, term_name
from bench.engines.plain import PlainLoop
from bench.engines.registry import PEERS, chosen, installed
from bench.engines.report import ratios, summary, table
from bench.engines.seismic import write_rows
from lexigraft.core.errors import SettingError
from lexigraft.search.searcher import METHODS

DOCUMENTS = sp.csr_matrix(np.array([[1, 2, 0], [0, 2, 0], [0, 0, 7], [3, 0, 0], [0, 2, 0]], np.uint8))
TERMS, WEIGHTS = np.array([0, 1], np.int32), np.array([1, 2], np.int32)  # scores 5, 4, 0, 3, 4


def plain_loop(name="plain-loop", documents=DOCUMENTS, ours=False, exact=True):
    """The plain loop under another name, and over documents that need not be those it is asked about."""
    engine = PlainLoop()
    engine.name, engine.ours, engine.exact = name, ours, exact
    with tempfile.TemporaryDirectory() as folder:
        engine.build(documents, Path(folder))
    return engine


def test_the_oracle_accepts_any_choice_among_ties_and_nothing_else():
    truth = Oracle(DOCUMENTS).truth(TERMS, WEIGHTS, 2)
    assert truth.best.tolist() == [5, 4]
    assert truth.fault((np.array([0, 1]), np.array([5, 4]))) is None
    assert truth.fault((np.array([4, 0]), np.array([4, 5]))) is None  # the other of two equal ones, in any order
    assert truth.fault((np.array([0]), np.array([5]))) == "1 documents instead of 2"
    assert truth.fault((np.array([0, 0]), np.array([5, 5]))) == "a document came twice"
    assert truth.fault((np.array([0, 3]), np.array([5, 4]))) == "a score is not its document's"
    assert truth.fault((np.array([0, 3]), np.array([5, 3]))) == "a better document is missing"
    assert truth.recall((np.array([0, 3]), None)) == 0.5
    assert truth.recall((np.array([4, 0]), None)) == 1.0


def test_documents_that_share_no_term_are_no_answer():
    assert Oracle(DOCUMENTS).truth(TERMS, WEIGHTS, 10).best.tolist() == [5, 4, 4, 3]


def collection_of_one_query():
    return Collection("t", DOCUMENTS, sp.csr_matrix((WEIGHTS, TERMS, [0, 2]), shape=(1, 3)))


def test_a_wrong_exact_engine_stops_the_benchmark_and_an_approximate_one_gets_its_recall():
    one = collection_of_one_query()
    other = DOCUMENTS.toarray()
    other[[1, 4]] = 0  # both documents that may be the second best
    other = sp.csr_matrix(other)
    with pytest.raises(WrongAnswerError, match="lame is wrong on query 0 of t at k = 2: a better document is missing"):
        check([plain_loop("lame", other)], one, [one.query(0)], 2)
    assert check([plain_loop("lame", other, exact=False)], one, [one.query(0)], 2) == {"lame": 0.5}


def test_ours_and_the_plain_loop_agree_with_the_oracle(tmp_path):
    made = make("a", 400, n_queries=12)
    engines = [*our_engines(), PlainLoop()]
    assert [engine.name for engine in engines[:-1]] == [f"lexigraft-{method}" for method in METHODS]
    for engine in engines:
        assert engine.build(made.documents, tmp_path) > 0
    for k in (10, 1000):
        timings = measure(engines, made, k, runs=2, rows=range(12), checked=12)
        assert all(timing.recall == 1 and (timing.seconds > 0).all() for timing in timings.values())


def test_our_index_holds_the_given_integers_even_if_none_is_255(tmp_path):
    assert make("a", 1).documents.data.max() < 255
    vectors = vectors_of(DOCUMENTS)
    ours = our_engines()[0]
    ours.build(DOCUMENTS, tmp_path)
    assert vectors.matrix.weights.tolist() == DOCUMENTS.data.tolist()
    _, scores = ours.search(TERMS, WEIGHTS, 10)
    assert scores.tolist() == [5, 4, 4, 3]


def test_a_kept_index_is_made_again_for_other_documents(tmp_path):
    ours = our_engines()[0]
    ours.build(DOCUMENTS, tmp_path)
    kept = (tmp_path / "lexigraft/manifest.json").stat().st_ino
    ours.build(DOCUMENTS, tmp_path)
    assert (tmp_path / "lexigraft/manifest.json").stat().st_ino == kept
    ours.build(DOCUMENTS[:3], tmp_path)
    assert ours.search(TERMS, WEIGHTS, 10)[1].tolist() == [5, 4]


def timed(seconds, batch=()):
    return Timings(np.array(seconds, float) / 1000, list(batch))


def test_the_best_exact_peer_is_neither_ours_nor_approximate():
    engines = [plain_loop("ours", ours=True), plain_loop("slow"), plain_loop("quick"), plain_loop("guess", exact=False)]
    timings = {
        "ours": timed([[1, 1, 2], [2, 2, 4]]),
        "slow": timed([[9, 9, 9], [9, 9, 9]]),
        "quick": timed([[3, 3, 30], [4, 4, 40]]),
        "guess": timed([[0.1, 0.1, 0.1], [0.1, 0.1, 0.1]]),
    }
    rows = summary(engines, timings)
    assert rows["ours"]["p50_ms"] == 1.5 and rows["ours"]["p50_ms_runs"] == [1, 2]
    found = ratios(rows)
    assert found["p50_ms"]["best_exact_peer"] == "quick"
    assert found["p50_ms"]["ours"]["ours"] == {
        "times_faster": round(3.5 / 1.5, 3),
        "smallest_run": 2.0,
        "largest_run": 3.0,
    }
    assert found["p99_ms"]["best_exact_peer"] == "slow"
    printed = table("t", rows, dict.fromkeys(rows, 1_000_000))
    assert "approximate, recall 1.000" in printed.splitlines()[2]


def test_a_batch_call_counts_for_the_mean_where_it_is_faster():
    engines = [plain_loop("ours", ours=True), plain_loop("peer")]
    rows = summary(engines, {"ours": timed([[1, 1]]), "peer": timed([[4, 4]], batch=[0.004])})
    assert rows["peer"]["batch_mean_ms"] == 2.0
    assert ratios(rows)["mean_ms"]["ours"]["ours"] == {"times_faster": 2.0, "smallest_run": 2.0, "largest_run": 2.0}
    assert [ratios(rows)[name]["call"] for name in ("mean_ms", "p50_ms")] == ["batch", "single"]
    assert ratios(rows)["p50_ms"]["ours"]["ours"]["times_faster"] == 4.0


def test_the_cost_of_a_peers_call_is_taken_off_query_by_query_beside_its_whole_time():
    engines = [plain_loop("ours", ours=True), plain_loop("peer"), plain_loop("call")]
    engines[1].overhead, engines[2].searches = "call", False
    rows = summary(engines, {"ours": timed([[1, 1, 1]]), "peer": timed([[5, 6, 9]]), "call": timed([[2, 4, 4]])})
    assert rows["peer"]["p50_ms"] == 6.0 and rows["peer"]["net_p50_ms"] == 3.0  # of 3, 2 and 5
    found = ratios(rows)
    assert found["p50_ms"]["best_exact_peer"] == "peer"  # and not its call
    assert found["p50_ms"]["ours"]["ours"]["times_faster"] == 6.0
    assert found["p50_ms_without_call"]["ours"]["ours"]["times_faster"] == 3.0


def test_engines_are_chosen_by_the_beginning_of_their_names():
    engines = [plain_loop(name) for name in ("pisa-wand", "pisa-maxscore", "plain-loop")]
    assert [engine.name for engine in chosen(engines, ["pisa"])] == ["pisa-wand", "pisa-maxscore"]
    assert chosen(engines, []) == engines
    with pytest.raises(SettingError, match="no engine's name begins with 'lucene'"):
        chosen(engines, ["lucene"])


def test_a_killed_build_is_done_again(tmp_path):
    def killed(draft):
        (draft / "half").write_text("")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made_once(tmp_path / "index", killed)
    assert not (tmp_path / "index").exists()
    made_once(tmp_path / "index", lambda draft: (draft / "whole").write_text("1"))
    made_once(tmp_path / "index", killed)  # there already, so nothing is called
    assert [path.name for path in (tmp_path / "index").iterdir()] == ["whole"]


def test_every_peer_is_measured_or_named_with_what_to_do():
    engines, left_out = installed()
    assert {"lexigraft-maxscore", "plain-loop"} <= {engine.name for engine in engines}
    for peer in PEERS:
        if not any(engine.name.startswith(peer) for engine in engines):
            assert "run `make bench-engines`" in left_out[peer]


def test_the_format_of_pisa_has_every_list_behind_its_length():
    written = sequences(np.array([4, 7, 1, 9]), np.array([2, 1, 1]))
    assert written.dtype == np.uint32 and written.tolist() == [2, 4, 7, 1, 1, 1, 9]
    names = [term_name(term) for term in (2, 10, 99_999_999)]
    assert names == sorted(names)


def test_the_format_of_seismic_has_ids_then_weights_in_every_row(tmp_path):
    write_rows(DOCUMENTS, tmp_path / "rows.bin")
    written = np.fromfile(tmp_path / "rows.bin", np.uint32)
    at, rows = 1, []
    for _ in range(written[0]):
        length = int(written[at])
        ids = written[at + 1 : at + 1 + length]
        weights = written[at + 1 + length : at + 1 + 2 * length].view(np.float32)
        rows.append(dict(zip(ids.tolist(), weights.tolist(), strict=True)))
        at += 1 + 2 * length
    assert at == len(written)
    assert rows == [{0: 1.0, 1: 2.0}, {1: 2.0}, {2: 7.0}, {0: 3.0}, {1: 2.0}]

"""The simulated click log: what it promises of itself."""

import gzip
from collections import defaultdict

import numpy as np
import pytest
from pyarrow import parquet

from lexigraft.data.clicks.log import read_click_log
from lexigraft.data.clicks.settings import Columns, Simulation
from lexigraft.data.clicks.simulate import simulate, write_simulation

COLUMNS = Columns(impressions="impressions")


def test_queries_documents_and_positions():
    found = list(simulate(Simulation(lines=5000, topics=5), seed=1))
    assert sum(len(query.lines) for query in found) == 5000
    assert len({query.truths[0].query for query in found}) == len(found)
    for query in found[:-1]:
        assert 8 <= len(query.truths) <= 15
        assert all(0 <= truth.relevance <= 1 for truth in query.truths)
        n_sessions, rest = divmod(len(query.lines), len(query.truths))
        assert rest == 0
        assert 4 <= n_sessions <= 8
        assert all(0 <= line.clicks <= line.impressions for line in query.lines)
    positions = defaultdict(set)
    for query in found:
        for line in query.lines:
            positions[line.query, line.title].add(line.position)
    assert sum(len(seen) > 1 for seen in positions.values()) > 0.5 * len(positions)
    titles = [truth.title for query in found for truth in query.truths]
    assert len(set(titles)) < len(titles)  # some documents belong to several queries


def test_clicks_follow_relevance_and_position():
    found = list(simulate(Simulation(lines=40_000, topics=5, eta=0.7), seed=2))
    shown, clicked = np.zeros(16), np.zeros(16)
    for query in found:
        relevance = {truth.title: truth.relevance for truth in query.truths}
        for line in query.lines:
            shown[line.position] += line.impressions * relevance[line.title]
            clicked[line.position] += line.clicks
    assert clicked[1:11] / shown[1:11] == pytest.approx((1 / np.arange(1, 11)) ** 0.7, rel=0.05)


def test_files_are_the_same_bytes_and_tell_the_same_log(tmp_path):
    for name in ("one", "two"):
        folder = tmp_path / name
        written = write_simulation(
            Simulation(lines=2000, topics=4), 3, folder / "log.tsv.gz", folder / "truth.tsv", folder / "log.parquet"
        )
        assert written.lines == 2000
        assert sorted(path.name for path in folder.iterdir()) == ["log.parquet", "log.tsv.gz", "truth.tsv"]
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
    assert parquet.read_metadata(tmp_path / "one/log.parquet").num_rows == 2000
    assert gzip.decompress((tmp_path / "one/log.tsv.gz").read_bytes()).count(b"\n") == 2001
    logs = [read_click_log([tmp_path / "one" / name], COLUMNS, 10) for name in ("log.tsv.gz", "log.parquet")]
    assert (logs[0].queries, logs[0].doc_ids) == (logs[1].queries, logs[1].doc_ids)
    assert logs[0].cell_clicks.tolist() == logs[1].cell_clicks.tolist()


def test_an_error_leaves_nothing_behind(tmp_path, monkeypatch):
    def broken(*_):
        yield next(simulate(Simulation(lines=100), 0))
        raise OSError("disk full")

    monkeypatch.setattr("lexigraft.data.clicks.simulate.simulate", broken)
    with pytest.raises(OSError, match="disk full"):
        write_simulation(Simulation(), 0, tmp_path / "log.tsv", tmp_path / "truth.tsv", tmp_path / "log.parquet")
    assert list(tmp_path.iterdir()) == []

"""Pieces that are appended are one matrix."""

import numpy as np
import pytest

from lexigraft.core.arrays import StringTable, open_array
from lexigraft.vectors.rows_writer import COUNTS, DocumentRowsWriter, RowsWriter


def test_pieces_follow_each_other(tmp_path):
    with DocumentRowsWriter(tmp_path) as writer:
        writer.append_names(["a", "b"], ["A", "B"])
        writer.append_rows(np.array([2, 2], np.int32), np.array([0, 3]), np.array([0.5, 1.5]))
        writer.append_names(["c"], ["C"])
        writer.append_rows(np.array([1]), np.array([1]), np.array([2.5]))
        assert writer.n_rows == 3
    assert open_array(tmp_path / "indptr.npy", np.int64).tolist() == [0, 2, 2, 3]
    assert open_array(tmp_path / "term_ids.npy", np.int32).tolist() == [0, 3, 1]
    assert open_array(tmp_path / "weights.npy", np.float32).tolist() == [0.5, 1.5, 2.5]
    assert list(StringTable(tmp_path, "row_ids")) == ["a", "b", "c"]
    assert list(StringTable(tmp_path, "titles")) == ["A", "B", "C"]


def test_no_rows_and_other_values(tmp_path):
    with RowsWriter(tmp_path, COUNTS) as writer:
        assert writer.n_rows == 0
    assert open_array(tmp_path / "indptr.npy", np.int64).tolist() == [0]
    assert open_array(tmp_path / "counts.npy", np.int32).tolist() == []


def test_what_stops_half_way_closes_its_files(tmp_path):
    with pytest.raises(ValueError, match="half-way"), RowsWriter(tmp_path) as writer:
        writer.append_rows(np.array([1]), np.array([7]), np.array([1.0]))
        raise ValueError("half-way")
    assert open_array(tmp_path / "term_ids.npy", np.int32).tolist() == [7]

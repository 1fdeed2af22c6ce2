"""What ten million documents are made of: the rows of a made collection, mapped instead of held."""

import numpy as np

from bench import collections
from bench.ten_million import KIND, Numbered, build, first_rows, make_vectors, search


def test_the_rows_are_those_of_the_made_collection(tmp_path):
    make_vectors(700, 5, tmp_path)
    made, rows = collections.make("a", 700).documents, first_rows(tmp_path, 600)
    assert rows.matrix.n_rows == len(rows.titles) == 600
    np.testing.assert_array_equal(rows.matrix.term_ids, made.indices[: 600 * KIND.per_document])
    np.testing.assert_array_equal(rows.matrix.weights, made.data[: 600 * KIND.per_document])


def test_queries_do_not_depend_on_the_size(tmp_path):
    for n in (300, 700):
        (tmp_path / str(n)).mkdir()
        make_vectors(n, 5, tmp_path / str(n))
    first, second = (collections.read_queries(tmp_path / str(n) / "q.npz") for n in (300, 700))
    assert (first != second).nnz == 0
    assert np.diff(first.indptr).tolist() == [8] * 5


def test_a_point_counts_what_it_built_and_searched(tmp_path):
    make_vectors(500, 6, tmp_path)
    built = build(500, tmp_path, tmp_path / "index")
    assert built["postings"] == 500 * 40
    found = search(tmp_path / "index", tmp_path, runs=1)
    assert [(one["k"], one["threads"]) for one in found["searches"]] == [(10, 1), (10, 2), (1000, 1), (1000, 2)]
    assert all(0 < one["cpu_p50_ms"] <= one["cpu_p99_ms"] for one in found["searches"])
    documents, queries = collections.make("a", 500).documents, collections.read_queries(tmp_path / "q.npz")
    touched = [np.isin(documents.indices, queries[row].indices).sum() for row in range(6)]
    assert found["postings_a_query"] == round(np.mean(touched))


def test_ids_are_written_when_they_are_asked_for():
    ids = Numbered(10_000_000)
    assert (len(ids), ids[0], ids[-1], ids[1234]) == (10_000_000, "00000000", "09999999", "00001234")

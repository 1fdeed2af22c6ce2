"""The benchmark's collections: what the generator promises of shape and sameness; pruning keeps the heaviest."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from bench.collections import KINDS, ROWS_PER_CHUNK, heaviest, load, make, names_in, open_in, save
from lexigraft.core.errors import InputError


def same(left, right):
    return left.shape == right.shape and (left != right).nnz == 0


@pytest.mark.parametrize(("name", "per_document", "per_query"), [("a", 40, 10), ("b", 10, 5), ("c", 120, 25)])
def test_a_made_collection_has_the_stated_shape(name, per_document, per_query):
    made = make(name, 300, n_queries=40)
    assert made.documents.shape == (300, KINDS[name].n_terms)
    assert made.queries.shape == (40, KINDS[name].n_terms)
    assert set(np.diff(made.documents.indptr)) == {per_document}
    assert set(np.diff(made.queries.indptr)) == {per_query}
    assert made.documents.has_canonical_format and made.queries.has_canonical_format  # ascending, each term once
    assert made.documents.dtype == np.uint8 and made.documents.data.min() >= 1
    assert made.queries.data.min() >= 1 and made.queries.data.max() == 32


def test_the_same_arguments_give_the_same_numbers_and_another_seed_others(monkeypatch):
    first, second = make("a", 200, n_queries=20), make("a", 200, n_queries=20)
    assert same(first.documents, second.documents) and same(first.queries, second.queries)
    monkeypatch.setitem(KINDS, "a", replace(KINDS["a"], seed=99))
    other = make("a", 200, n_queries=20)
    assert not same(first.documents, other.documents) and not same(first.queries, other.queries)


def test_a_smaller_collection_is_the_beginning_of_a_larger_one():
    small, large = make("b", ROWS_PER_CHUNK, n_queries=10), make("b", ROWS_PER_CHUNK + 50, n_queries=10)
    assert same(small.documents, large.documents[:ROWS_PER_CHUNK])
    assert same(small.queries, large.queries)


def test_terms_follow_a_skewed_law_and_documents_share_topics():
    documents = make("c", 3000, n_queries=1).documents.astype(bool).astype(np.int32)
    frequency = np.sort(np.bincount(documents.indices, minlength=documents.shape[1]))[::-1]
    assert frequency[:300].sum() > 10 * frequency[3000:3300].sum()
    shared = (documents[:1000] @ documents[1000:].T).toarray()
    # Without topics the overlap of two documents hardly varies; two of one topic share a multiple of it.
    assert shared.max() > 3 * shared.mean()


def test_pruning_keeps_the_heaviest_and_of_equal_ones_the_smallest_ids():
    rows = sp.csr_matrix(np.array([[5, 0, 9, 5, 1], [0, 2, 0, 0, 0], [0, 0, 0, 0, 0], [3, 3, 3, 3, 3]], np.uint8))
    expected = [[5, 0, 9, 0, 0], [0, 2, 0, 0, 0], [0, 0, 0, 0, 0], [3, 3, 0, 0, 0]]
    assert heaviest(rows, 2).toarray().tolist() == expected


def test_the_pruning_command_writes_a_collection(tmp_path):
    save(made := make("a", 60, n_queries=8), tmp_path)
    command = [sys.executable, "-m", "bench.collections", "prune", tmp_path / "a_D.npz", tmp_path / "a_Q.npz"]
    subprocess.run([*command, tmp_path / "a-3-7", "--qk", "3", "--dk", "7"], check=True, capture_output=True)
    assert names_in(tmp_path) == ["a", "a-3-7"]
    cut = open_in(tmp_path, "a-3-7")
    assert same(cut.documents, heaviest(made.documents, 7)) and same(cut.queries, heaviest(made.queries, 3))
    whole, kept = made.documents[0].toarray()[0], cut.documents[0].toarray()[0]
    assert np.sort(whole)[::-1][:7].tolist() == np.sort(kept)[::-1][:7].tolist()


def test_a_file_reads_the_same_whatever_type_its_weights_have(tmp_path):
    made = make("a", 30, n_queries=5)
    sp.save_npz(tmp_path / "f_D.npz", made.documents.astype(np.float32))
    sp.save_npz(tmp_path / "f_Q.npz", made.queries.astype(np.float32))
    read = open_in(tmp_path, "f")
    assert same(read.documents, made.documents) and read.documents.dtype == np.uint8
    assert same(read.queries, made.queries) and read.queries.dtype == np.int32
    assert read.documents.indices.dtype == np.int32


def test_bad_files_are_named(tmp_path):
    made = make("a", 30, n_queries=5)
    save(made, tmp_path)
    good = tmp_path / "a_Q.npz"
    for weight, name in ((0.5, "half"), (256, "large")):
        sp.save_npz(tmp_path / f"{name}_D.npz", sp.csr_matrix(np.array([[weight, 1.0]])))
        with pytest.raises(InputError, match=f"{name}_D.npz has weights that are not whole numbers from 1 to 255"):
            load(tmp_path / f"{name}_D.npz", good, name)
    np.savez(tmp_path / "other.npz", numbers=np.arange(3))
    with pytest.raises(InputError, match=r"other\.npz is not a sparse matrix"):
        load(tmp_path / "other.npz", good, "other")
    sp.save_npz(tmp_path / "narrow_D.npz", sp.csr_matrix(np.array([[1, 2]])))
    with pytest.raises(InputError, match="one vocabulary"):
        load(tmp_path / "narrow_D.npz", good, "narrow")
    with pytest.raises(InputError, match="has no collection"):
        names_in(tmp_path / "nowhere")
    with pytest.raises(InputError, match="one of a, b, c"):
        make("d", 10)


@pytest.mark.parametrize(("weights", "whole"), [([3, 4], True), ([200, 100], False)])
def test_a_term_twice_in_a_row_is_added_up_before_its_weight_is_judged(tmp_path, weights, whole):
    twice = sp.csr_matrix((np.array(weights, np.uint8), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    sp.save_npz(tmp_path / "D.npz", twice)
    sp.save_npz(tmp_path / "Q.npz", sp.csr_matrix(np.array([[1, 0, 0]], np.int32)))
    if whole:
        assert load(tmp_path / "D.npz", tmp_path / "Q.npz", "x").documents.toarray().tolist() == [[0, 7, 0]]
    else:
        with pytest.raises(InputError, match="not whole numbers from 1 to 255"):
            load(tmp_path / "D.npz", tmp_path / "Q.npz", "x")

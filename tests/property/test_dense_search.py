"""The search over dense vectors equals, to the bit, its slow twin: one sum a document, sorted by score and id."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.arrays import ArrayWriter, write_strings
from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.core.types import document_of
from lexigraft.dense import search as dense_search
from lexigraft.dense import store
from lexigraft.dense.search import DenseSearcher
from lexigraft.vectors.store import open_vectors

WIDTH = 8


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def stored(folder, vectors, row_ids, bits=32, passages=False):
    with write_artifact(folder, Manifest(store.KIND, store.FORMAT_VERSION, {})) as draft:
        write_strings(draft, store.ROW_IDS, row_ids)
        write_strings(draft, store.TITLES, [f"title of {row_id}" for row_id in row_ids])
        with ArrayWriter(draft / store.VECTORS, f"float{bits}") as writer:
            writer.append(vectors.reshape(-1))
        store.write_meta(
            draft, store.DenseVectorsMeta(len(row_ids), WIDTH, bits, {"kind": "dense", "model": "encoder"}, passages)
        )
    return store.open_dense_vectors(folder)


def slowly(vectors, query, k):
    """The slow, obvious twin; of a document in passages its best one counts."""
    scores = [sum_of(row, query) for row in np.asarray(vectors.matrix, np.float64)]
    ids = list(vectors.row_ids)
    if vectors.meta.passages:
        ids = [document_of(row_id) for row_id in ids]
    found = sorted((doc_id, -score) for doc_id, score in zip(ids, scores, strict=True))
    best = sorted((min(score for _, score in of_one), doc_id) for doc_id, of_one in groupby(found, lambda one: one[0]))
    return [doc_id for _, doc_id in best[:k]], [-score for score, _ in best[:k]]


def sum_of(row, query):
    return float(np.multiply(row, query.astype(np.float64)).sum())


@given(
    n=st.integers(1, 40), bits=st.sampled_from([16, 32]), passages=st.booleans(), k=st.integers(1, 50),
    seed=st.integers(0, 10),
)  # fmt: skip
def test_equals_the_slow_twin(tmp_path_factory, n, bits, passages, k, seed):
    rng = np.random.default_rng(seed)
    some = unit(rng.normal(size=(max(1, n // 3), WIDTH)))
    vectors = some[rng.integers(len(some), size=n)]  # so that many are equal, and ties are frequent
    names = rng.permutation([f"d{number:03}" for number in range(n)]).tolist()
    row_ids = [f"{names[place // 2]}#{place % 2}" for place in range(n)] if passages else names
    opened = stored(tmp_path_factory.mktemp("dense") / "vectors", vectors, row_ids, bits, passages)
    queries = unit(rng.normal(size=(5, WIDTH)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense_search, "ROWS_AT_ONCE", 7)
        patch.setattr(dense_search, "SCORES_AT_ONCE", 2 * n)
        together = DenseSearcher(opened).search_many(queries, k)
    for query, found in zip(queries, together, strict=True):
        ids, scores = slowly(opened, query, k)
        assert (list(found.doc_ids), list(found.scores)) == (ids, scores)
        assert DenseSearcher(opened).search(query, k) == found


def test_close_scores_that_float32_cannot_tell_apart(tmp_path):
    vectors = np.zeros((3, WIDTH), np.float32)
    vectors[:, 0] = 1
    vectors[1, 1] = 3e-8  # lost beside 1 in a sum of float32, not in one of float64
    opened = stored(tmp_path / "vectors", vectors, ["a", "b", "c"])
    query = unit(np.array([[1.0, 1.0, *[0.0] * (WIDTH - 2)]]))[0]
    assert DenseSearcher(opened).search(query, 2).doc_ids == ("b", "a")


def test_documents_are_found_by_id_and_other_readers_refuse_it(tmp_path):
    opened = stored(tmp_path / "vectors", unit(np.eye(3, WIDTH)), ["b", "c", "a"])
    assert [opened.row_of(doc_id) for doc_id in "abc"] == [2, 0, 1]
    assert not opened.holds("d")
    with pytest.raises(ArtifactError, match="holds a dense-vectors, not a vectors"):
        open_vectors(tmp_path / "vectors")
    with pytest.raises(SettingError, match="k = 0"):
        DenseSearcher(opened).search(opened.matrix[0], 0)

"""BM25 and a model in one matrix, worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from lexigraft.core.arrays import write_strings
from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import ArtifactError
from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import Vocabulary
from lexigraft.core.word_rule import WordRule
from lexigraft.vectors.analysis import described
from lexigraft.vectors.blend import Blend, BlendedVectors, blended, own_weights
from lexigraft.vectors.store import FORMAT_VERSION, KIND, DocumentVectors, VectorsMeta, open_vectors, write_meta
from lexigraft.vocab.lookup import TableRows
from tests.conftest import sparse_matrix

LEXICAL = ("heat", "slab", "flow", "rate")  # as BM25 stems them
MODEL = ("flows", "slabs", "heated", "unknown", "flowed")  # in another order, and named by other forms
BM25_ROWS = [{0: 2.0, 1: 4.0}, {2: 3.0}]
MODEL_ROWS = [{0: 1.0, 1: 1.0, 4: 3.0}, {0: 1.0, 2: 2.0, 3: 5.0}]
QUERIES = described("bm25", LexicalSettings(), WordRule())


def vectors(rows, terms, **facts):
    matrix = replace(sparse_matrix(rows, len(terms)), vocab_fingerprint=Vocabulary(terms).fingerprint)
    return DocumentVectors(matrix, ["", ""], Vocabulary(terms), QUERIES, "", **facts)


@pytest.fixture
def both():
    table = TableRows(np.arange(6), np.arange(5, dtype=np.int32), np.array([2, 1, 1, 1, 0.5], np.float32))
    return BlendedVectors(vectors(BM25_ROWS, LEXICAL), vectors(MODEL_ROWS, MODEL), table)


def dense(matrix):
    return matrix.toarray().tolist()


def test_terms_of_a_model_are_those_that_bm25_makes_of_them(both):
    assert both.term_of.tolist() == [2, 1, 0, -1, 2]


def test_parts_of_a_chunk(both):
    (parts,) = both.chunks()
    assert dense(parts.bm25) == [[2, 4, 0, 0], [0, 0, 3, 0]]
    # Document 0: slabs 1 * 1 is its own; flows 2 * 1 and flowed .5 * 3 are one term that it has not: the heavier.
    assert dense(parts.own) == [[0, 1, 0, 0], [0, 0, 2, 0]]
    assert dense(parts.added) == [[0, 0, 2, 0], [2, 0, 0, 0]]


def test_the_scale_makes_own_terms_as_heavy_as_bm25s(both):
    assert both.scale() == pytest.approx((4 + 3) / (1 + 2))


def test_a_blend_by_hand(both):
    (parts,) = both.chunks()
    found = blended(parts, Blend(0.25, 0.5), 2.0)
    assert dense(found) == [[1.5, 0.75 * 4 + 0.25 * 2, 0.5 * 2 * 2, 0], [2, 0, 0.75 * 3 + 0.25 * 2 * 2, 0]]
    assert found.has_sorted_indices


def test_nothing_of_the_model_is_bm25_to_the_bit(both):
    (parts,) = both.chunks()
    assert blended(parts, Blend(0, 0), 7.0) is parts.bm25


def test_own_terms_reweighted_and_none_added(both):
    (parts,) = both.chunks()
    assert dense(blended(parts, Blend(1, 0), 1.0)) == [[0, 1, 0, 0], [0, 0, 2, 0]]


def test_a_table_that_expands_gives_own_weights_alone():
    table = TableRows(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32), np.array([3, 9, 5], np.float32))
    assert own_weights(table).tolist() == [3, 5]


def test_other_documents_are_refused(both):
    with pytest.raises(ArtifactError, match="2 documents and the model of 1"):
        BlendedVectors(both.lexical, vectors(MODEL_ROWS[:1], MODEL), None)


def test_written_vectors_are_read_again_and_asked_as_bm25(both, tmp_path):
    source, out = tmp_path / "bm25", tmp_path / "blend"
    source.mkdir()
    for name, texts in (("row_ids", ["a", "b"]), ("titles", ["", ""]), ("terms", LEXICAL)):
        write_strings(source, name, texts)
    write_meta(source, VectorsMeta(2, 4, "", {}))
    with write_artifact(out, Manifest(KIND, FORMAT_VERSION, {}, {})) as folder:
        both.write(Blend(0.5, 0.5), 1.0, source, folder)
    opened = open_vectors(out)
    assert list(opened.matrix.row_ids) == ["a", "b"]
    assert opened.query_encoder == QUERIES
    assert [row.tolist() for row in opened.matrix.row(0)] == [[0, 1, 2], [1.0, 2.5, 1.0]]
    assert [row.tolist() for row in opened.matrix.row(1)] == [[0, 2], [1.0, 2.5]]

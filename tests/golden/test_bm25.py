"""BM25 worked out by hand: two documents, "apple apple pear" and "pear"; k1 = 1.2, b = 0.75."""

import math

import pytest

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import Document
from lexigraft.vectors.lexical import encode_documents
from lexigraft.vectors.store import FORMAT_VERSION, KIND, open_vectors


def test_weights(tmp_path):
    documents = [Document("d1", "apple", "apple pear"), Document("d2", "", "pear")]
    with write_artifact(tmp_path / "v", Manifest(KIND, FORMAT_VERSION, {})) as folder:
        encode_documents(documents, LexicalSettings(stopwords="none", stemmer="none"), folder)
    matrix = open_vectors(tmp_path / "v").matrix
    # N = 2, mean length 2. idf(apple) = ln(1 + 1.5 / 1.5) = ln 2; idf(pear) = ln(1 + 0.5 / 2.5) = ln 1.2.
    # |d1| = 3: k1 (1 - b + b 3/2) = 1.2 * 1.375 = 1.65.   |d2| = 1: 1.2 * 0.625 = 0.75.
    assert matrix.row(0)[0].tolist() == [0, 1]
    assert matrix.row(0)[1].tolist() == pytest.approx([math.log(2) * 2 / 3.65, math.log(1.2) / 2.65])
    assert matrix.row(1)[1].tolist() == pytest.approx([math.log(1.2) / 1.75])
    assert matrix.row(0)[1].tolist() == pytest.approx([0.379807, 0.068801], abs=1e-6)

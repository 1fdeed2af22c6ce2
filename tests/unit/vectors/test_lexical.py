import numpy as np
import pytest

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import Document, Vocabulary
from lexigraft.vectors import lexical
from lexigraft.vectors.analysis import Analyser
from lexigraft.vectors.lexical import LexicalQueryEncoder, encode_documents
from lexigraft.vectors.store import FORMAT_VERSION, KIND, open_vectors, shown_title
from lexigraft.vocab.stopwords import ENGLISH
from tests.conftest import DOCUMENTS

PLAIN = LexicalSettings(stopwords="none", stemmer="none")


def vectors_of(documents, settings, folder):
    with write_artifact(folder, Manifest(KIND, FORMAT_VERSION, {})) as draft:
        encode_documents(documents, settings, draft)
    return open_vectors(folder)


def test_terms():
    assert Analyser(LexicalSettings()).terms("The dogs' running, don't they?") == ["dog", "run", "don't"]
    assert Analyser(PLAIN).terms("The dogs") == ["the", "dogs"]
    assert Analyser(LexicalSettings(stemmer="german")).terms("Häuser") == ["haus"]
    assert len(ENGLISH) == 33


def test_an_unknown_stemmer_lists_the_known_ones():
    with pytest.raises(SettingError, match="english, "):
        Analyser(LexicalSettings(stemmer="klingon")).terms("x")


def test_batches_do_not_change_the_result(tmp_path, monkeypatch):
    whole = vectors_of(DOCUMENTS, LexicalSettings(), tmp_path / "whole")
    monkeypatch.setattr(lexical, "BATCH_BYTES", 3)
    monkeypatch.setattr(lexical, "MAX_DISTINCT_PIECES", 2)
    pieces = vectors_of(DOCUMENTS, LexicalSettings(), tmp_path / "pieces")
    assert whole.fingerprint == pieces.fingerprint
    assert list(pieces.matrix.row_ids) == [document.doc_id for document in DOCUMENTS]


def test_an_empty_document_is_an_empty_row(tmp_path):
    made = vectors_of([Document("a", "", ""), Document("b", "", "word")], PLAIN, tmp_path / "v")
    assert np.diff(made.matrix.indptr).tolist() == [0, 1]


def test_nothing_to_index(tmp_path):
    with pytest.raises(InputError, match="no documents"):
        vectors_of([], PLAIN, tmp_path / "v")
    with pytest.raises(InputError, match="no word was found"):
        vectors_of([Document("a", "", "...")], PLAIN, tmp_path / "v")


def test_queries_are_term_counts():
    encoder = LexicalQueryEncoder(LexicalSettings(), Vocabulary(["graph", "path"]))
    ids, weights = encoder.encode("paths of a graph, and a path")
    assert (ids.tolist(), weights.tolist()) == ([0, 1], [1.0, 2.0])
    ids, weights = encoder.encode("the unknown")
    assert (ids.tolist(), weights.tolist()) == ([], [])


def test_titles():
    assert shown_title(Document("a", "T", "x")) == "T"
    assert shown_title(Document("a", "", "two\n words")) == "two words"
    assert len(shown_title(Document("a", "", "word " * 100))) == 100

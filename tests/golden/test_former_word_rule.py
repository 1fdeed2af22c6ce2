"""What former versions stored says nothing of the word rule: it opens and reads words as it did.

former_words/ was written by the version before there was a choice, of two texts: an index and a live index of BM25, and
a vocabulary.
"""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from lexigraft.core.word_rule import FORMER_RULE, WordRule
from lexigraft.index.live.state import read_state
from lexigraft.index.store import open_index
from lexigraft.retrieve.retriever import Retriever
from lexigraft.vectors.analysis import described, reading_in
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.lexicon import open_lexicon

STORED = Path(__file__).parent / "former_words"


def found(retriever, query):
    return [hit.doc_id for hit in retriever.search(query)]


def test_an_index_of_bm25():
    description = open_index(STORED / "index").meta.query_encoder
    settings, rule = reading_in(description)
    assert rule == FORMER_RULE
    assert described("bm25", settings, rule) == description
    retriever = Retriever.open(STORED / "index")
    assert (found(retriever, "Café"), found(retriever, "cafe")) == (["a"], ["b"])
    assert (found(retriever, "parsehttpresponse"), found(retriever, "response")) == (["a"], [])


def test_a_live_index_takes_texts_by_its_own_rule(tmp_path):
    shutil.copytree(STORED / "live", tmp_path / "live")
    retriever = Retriever.open(tmp_path / "live")
    retriever.add(["Ein Café"], ids=["c"])
    assert (set(found(retriever, "Café")), found(retriever, "cafe")) == ({"a", "c"}, ["b"])
    assert dict(read_state(tmp_path / "live").query_encoder) == dict(read_state(STORED / "live").query_encoder)


def test_a_vocabulary():
    lexicon = open_lexicon(STORED / "vocabulary")
    assert lexicon.rule == FORMER_RULE
    assert {"café", "cafe", "parsehttpresponse"} <= set(lexicon.vocabulary.terms)
    letters = SimpleNamespace(spell=lambda words: [[ord(letter) for letter in word] for word in words])
    reader = AlignedReader(letters, lexicon.vocabulary, lexicon.stemmer, lexicon.stopwords, lexicon.rule)
    (term,) = reader.distinct_terms("CAFÉ")
    assert lexicon.vocabulary.terms[int(term)] == "café"


def test_what_a_model_says_of_itself(tmp_path):
    encoder = pytest.importorskip("lexigraft.model.encoder")
    old = {
        "backbone": "b", "mlm_head": "own", "head": "grafted", "own_words": True, "n_terms": 3,
        "vocab_fingerprint": "f", "stemmer": "english", "stopwords": "english", "mean_words": 5.0,
    }  # fmt: skip
    (tmp_path / "encoder.json").write_text(json.dumps(old))
    assert encoder.read_meta(tmp_path).rule == FORMER_RULE
    (tmp_path / "encoder.json").write_text(json.dumps(old | WordRule().entry))
    assert encoder.read_meta(tmp_path).rule.fold_accents

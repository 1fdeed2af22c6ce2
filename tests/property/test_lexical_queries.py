"""BM25's queries against their slow twin: every word by the rule, stemmed and counted."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import Vocabulary
from lexigraft.vectors import lexical
from lexigraft.vectors.analysis import Analyser
from lexigraft.vectors.lexical import LexicalQueryEncoder

TERMS = ["run", "sort", "list", "don't", "the", "x", "1.5", "os", "path", "한국어", "ﬁ", "a.b"]
WORDS = st.sampled_from([*TERMS, "running", "Sorted", "lists", "os.path", "snake_case", "", "DON’T", "3,5", "\ud800x"])
TEXTS = st.one_of(st.lists(WORDS, max_size=12).map(" ".join), st.text("abx.'’_, \n1ﬁé\u0301한\u00ad", max_size=20))


@pytest.fixture(params=[2, 1 << 16], ids=["forgetful", "remembers"])
def remembered(request, monkeypatch):
    monkeypatch.setattr(lexical, "MOST_REMEMBERED", request.param)


@settings(max_examples=150)
@given(
    st.lists(TEXTS, min_size=1, max_size=6), st.sampled_from(("none", "english")), st.sampled_from(("none", "english"))
)
def test_queries_are_their_words_counted(remembered, texts, stopwords, stemmer):
    chosen = LexicalSettings(stopwords=stopwords, stemmer=stemmer)
    encoder, analyser = LexicalQueryEncoder(chosen, Vocabulary(TERMS)), Analyser(chosen)
    for text in (*texts, *texts):
        expected = Counter(TERMS.index(term) for term in analyser.terms(text) if term in TERMS)
        ids, weights = encoder.encode(text)
        assert (str(ids.dtype), str(weights.dtype)) == ("int32", "float32")
        assert list(zip(ids.tolist(), weights.tolist(), strict=True)) == sorted(expected.items())

"""The reader that travels with exports reads as ours does: any text, every rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.types import Vocabulary
from lexigraft.core.word_rule import WordRule
from lexigraft.export.models.model_source import reading_facts
from lexigraft.export.standalone.lexigraft_reading import TextReader, heaviest
from lexigraft.inference.meta import EncoderMeta
from lexigraft.inference.reading import pooled_tokens, read_documents, read_queries
from lexigraft.model.backbone import find_tokenizer
from lexigraft.vectors.prune import prune_row
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.subwords import from_transformers
from tests.families import STEMS, write_backbone

TERMS = [*STEMS, "the", "cafe", "don't", "naïve", "kuras", "ß", "한국", "3.14"]
UNSEEN = "\u00ad\u200b\u200d\u200f\ufeff"
LETTERS = st.text(
    st.sampled_from([*"aekurmeltosKM ,.:;'\"_-\n\t0123é\u0301ßøéÉÄ한국я\u2019\u1e9eא\u1e0d\u20ac", *UNSEEN, "\ud800"])
)
SOME = st.lists(st.one_of(st.text(), LETTERS, st.lists(st.sampled_from(TERMS)).map(" ".join)), max_size=4)
RULES = [WordRule(False, False), WordRule(True, False), WordRule(True, True), WordRule(False, True)]


def meta(rule, stemmer, expansion_length):
    vocabulary = Vocabulary(TERMS)
    return EncoderMeta(
        "b", "own", "grafted", True, len(TERMS), vocabulary.fingerprint, stemmer, "english", 3.5, 9, 14,
        expansion_length=expansion_length, **rule.entry,
    )  # fmt: skip


@pytest.fixture(scope="module", params=["bert", "roberta"])
def tokenizer(request, tmp_path_factory):
    return find_tokenizer(write_backbone(request.param, tmp_path_factory.mktemp(request.param)))


@pytest.mark.parametrize("stemmer", ["none", "german"])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_words_are_read_alike(rule, stemmer, tokenizer):
    said = meta(rule, stemmer, 5)
    own = from_transformers(tokenizer, "it")
    backend = tokenizer.backend_tokenizer
    facts = reading_facts(said, own.special, frozenset(tokenizer.all_special_ids), backend)
    theirs = TextReader(facts, TERMS, type(backend).from_str(backend.to_str()))
    ours = AlignedReader(own, Vocabulary(TERMS), stemmer, "english", rule)

    @settings(max_examples=25)
    @given(SOME)
    def alike(texts):
        assert_alike(theirs.read(texts, True), read_queries(ours, texts, 9), said)
        assert_alike(theirs.read(texts, False), read_documents(said, ours, texts, 14), said)
        assert theirs.terms_of_queries(texts) == [ours.distinct_terms(text).tolist() for text in texts]

    alike()


def assert_alike(found, read, said):
    pooled = pooled_tokens(read.aligned, said.pooled)
    assert len(found) == len(read)
    for row, text in enumerate(found):
        span = slice(read.aligned.indptr[row], read.aligned.indptr[row + 1])
        assert text.subwords == read.aligned.subwords[span].tolist()
        assert text.pooled == pooled[span].tolist()
        own = slice(read.bags.indptr[row], read.bags.indptr[row + 1])
        assert sorted(text.own) == read.bags.terms[own].tolist()
        assert [text.own[term] for term in sorted(text.own)] == read.bags.weights[own].tolist()


@given(st.lists(st.integers(1, 4), max_size=12), st.integers(0, 13))
def test_the_heaviest_terms_are_the_same(weights, most):
    terms, found = np.arange(0, 3 * len(weights), 3, dtype=np.int32), np.array(weights, np.float32)
    expected = prune_row(terms, found, most)
    for left, right in zip(heaviest(terms, found, most), expected, strict=True):
        assert left.tolist() == right.tolist()

"""The terms of a query, found part by part and remembered, are those of the text read as a whole."""

import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.types import Vocabulary
from lexigraft.vocab import aligned, raw_reader
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.raw_reader import SubwordReader
from lexigraft.vocab.subwords import SpecialTokens, SubwordTokenizer
from lexigraft.vocab.wordpiece import train_wordpiece
from tests.property.test_tokenizer import MARKED, SENTENCES

OURS = train_wordpiece(SENTENCES * 2, 600).tokenizer
BERTS = tokenizers.Tokenizer(OURS.model)
BERTS.normalizer, BERTS.pre_tokenizer = (
    tokenizers.normalizers.BertNormalizer(),
    tokenizers.pre_tokenizers.BertPreTokenizer(),
)
BYTES = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "Ġ": 1, "Ġa": 2, "b": 3}, [("Ġ", "a")]))
BYTES.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
PARTS = st.one_of(
    st.text(MARKED, max_size=6),
    st.sampled_from(
        [" ", "\t", "\x1c", "\xa0", "\u2003", "[MASK]", "[UNK]", "\ud800", "isn't", "os.path", "a b", 'צה"ל']
    ),
    st.sampled_from([word for sentence in SENTENCES for word in sentence.split()]),
)


def reader(raw):
    terms = [term for term, _ in sorted(raw.get_vocab().items(), key=lambda item: item[1])]
    special = (
        SpecialTokens(begin=2, end=3, pad=0, mask=4, unknown=1)
        if raw is not BYTES
        else SpecialTokens(-1, -1, -1, -1, -1)
    )
    tokenizer = SubwordTokenizer(raw, special, needs_space=False)
    return SubwordReader(raw, tokenizer, Vocabulary(terms), frozenset() if raw is BYTES else frozenset((0, 2, 3, 4)))


def word_reader(stemming="english", stopping="english"):
    """By the word rule: terms are words, not subwords."""
    terms = sorted({"run", "fox", "metres", "3.14", "os", "path", "한국어", "순서를", "x", "лиса", "isn't", "it"})
    special = SpecialTokens(begin=2, end=3, pad=0, mask=4, unknown=1)
    return AlignedReader(SubwordTokenizer(OURS, special, needs_space=False), Vocabulary(terms), stemming, stopping)


READERS = [*map(reader, (OURS, BERTS, BYTES)), word_reader(), word_reader("none", "none")]


@settings(max_examples=400, deadline=None)
@given(st.lists(PARTS, max_size=6).map("".join) | st.lists(PARTS, max_size=6).map(" ".join))
def test_they_are_those_of_the_bag(text):
    for one in READERS:
        assert one.distinct_terms(text).tolist() == one.read_bags([text]).terms.tolist()
        assert one.distinct_terms(text).tolist() == one.read_bags([text]).terms.tolist()  # remembered now


def test_only_where_spaces_separate():
    assert [raw_reader.reads_between_spaces(raw) for raw in (OURS, BERTS, BYTES)] == [True, True, False]
    assert READERS[2].distinct_terms("a a").tolist() == [0, 2]  # the second has its space


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(raw_reader, "MOST_REMEMBERED", 3)
    one = reader(OURS)
    for number in range(10):
        one.distinct_terms(f"word{number} {'long' * 40}")
    assert len(one._terms_of_part) <= 3
    assert one.distinct_terms("word1").tolist() == one.read_bags(["word1"]).terms.tolist()


def test_words_are_remembered_within_bounds(monkeypatch):
    monkeypatch.setattr(aligned, "MOST_REMEMBERED", 3)
    one = word_reader()
    for number in range(10):
        one.distinct_terms(f"word{number} The foxes' path")
    assert len(one._terms_of_piece) <= 3
    found = one.distinct_terms("Foxes, the fox: os.path and IT")
    assert [one.vocabulary.terms[term] for term in found] == ["fox", "os", "path"]
    assert found.dtype == "int32"

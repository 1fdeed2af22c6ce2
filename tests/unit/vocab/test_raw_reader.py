"""Raw text as the backbone's own tokenizer reads it, against `transformers` itself."""

from collections import Counter

import numpy as np
import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.types import Vocabulary
from lexigraft.model.backbone import load_backbone
from lexigraft.train.language.masking import NO_LABEL, mask_terms
from lexigraft.vocab.aligned import NO_TERM, NOT_POOLED, joined
from lexigraft.vocab.raw_reader import SubwordReader, subword_terms
from tests.families import FAMILIES, write_backbone

TEXTS = st.lists(
    st.text("ab Kur,.é한\ud800", max_size=25) | st.sampled_from(["[MASK] kur", "<pad> a", " "]), max_size=5
)


@pytest.fixture(scope="module")
def backbones(tmp_path_factory):
    folders = {family: write_backbone(family, tmp_path_factory.mktemp(family)) for family in ("bert", "roberta")}
    return {
        family: (load_backbone(str(folder)), transformers.AutoTokenizer.from_pretrained(folder))
        for family, folder in folders.items()
    }


@given(texts=TEXTS, length=st.integers(3, 15), family=st.sampled_from(["bert", "roberta"]))
def test_it_reads_and_cuts_as_transformers_does(texts, length, family, backbones):
    backbone, theirs = backbones[family]
    reader, special = backbone.subword_reader(), backbone.tokenizer.special
    found, bags, n_subwords = reader.read_measured(texts, length)
    assert all(np.array_equal(a, b) for a, b in zip(found, reader.read(texts, length), strict=True))
    for number, text in enumerate(texts):
        clean = text.encode("utf-8", "replace").decode()
        assert n_subwords[number] == len(theirs(clean, add_special_tokens=False)["input_ids"])
        span = slice(found.indptr[number], found.indptr[number + 1])
        ids, terms, words = (column[span].tolist() for column in (found.subwords, found.terms, found.words))
        assert ids == theirs(clean, truncation=True, max_length=length)["input_ids"]
        assert (words[0], words[-1], words[1:-1]) == (-1, -1, list(range(len(ids) - 2)))
        for subword, term in zip(ids, terms, strict=True):
            expected = NOT_POOLED if subword in theirs.all_special_ids else subword
            assert term == (NO_TERM if subword == special.unknown else expected)
        whole = theirs(clean, add_special_tokens=False)["input_ids"]
        span = slice(bags.indptr[number], bags.indptr[number + 1])
        counts = Counter(subword for subword in whole if subword not in theirs.all_special_ids)
        assert dict(zip(bags.terms[span].tolist(), bags.counts[span].tolist(), strict=True)) == counts
        assert bags.terms[span].tolist() == sorted(counts)
        assert bags.n_words[number] == len(whole)


@given(texts=TEXTS, family=st.sampled_from(["bert", "roberta"]))
def test_every_place_has_a_span(texts, family, backbones):
    reader = backbones[family][0].subword_reader()
    for text in texts:
        found, words = reader.spans(text), reader.read([text], 200).words
        assert len(found.spans) == words.max(initial=-1) + 1
        assert all(0 <= start <= end <= len(found.text) for start, end in found.spans)


def test_spans_are_the_letters_of_subwords(backbones):
    for family in ("bert", "roberta"):
        found = backbones[family][0].subword_reader().spans("Kura,  kura")
        shown = [found.text[start:end] for start, end in found.spans]
        assert "".join(shown) == "Kura,kura", family  # a space is no letter of the word after it


def test_masking_terms_is_masking_subwords(backbones):
    backbone, _ = backbones["bert"]
    texts = backbone.subword_reader().read(["kura mele tosi"] * 50, 40)
    n_terms = int((texts.terms[texts.indptr[0] : texts.indptr[1]] >= 0).sum())
    assert n_terms == 6  # kur ##a mel ##e tos ##i
    found = mask_terms(texts, 4, np.array(backbone.tokenizer.ordinary_ids, np.int32), np.random.default_rng(0))
    labelled = (found.labels != NO_LABEL).reshape(50, -1)
    assert labelled.sum(1).tolist() == [1] * 50  # 15 % of six, at least one: single subwords
    assert (found.labels[found.labels != NO_LABEL] == texts.subwords[found.labels != NO_LABEL]).all()
    assert len(set(np.argmax(labelled, 1).tolist())) == 6  # any of them


def test_terms_are_the_subwords_in_order():
    assert list(subword_terms({"b": 1, "a": 0}, 4, "m").terms) == ["a", "b", "[row 2]", "[row 3]"]
    assert list(subword_terms({"[row 2]": 0, "a": 1}, 3, "m").terms) == ["[row 2]", "a", "[row 2 of m]"]
    with pytest.raises(InputError, match="has a subword of id 7, its model only 3 rows"):
        subword_terms({"a": 7}, 3, "m")


def test_no_texts(backbones):
    reader = backbones["bert"][0].subword_reader()
    found, bags = reader.read_both([], 9)
    assert (len(found), bags.terms.tolist()) == (0, [])
    assert joined([found, reader.read(["a"], 9)]).subwords.tolist() == reader.read(["a"], 9).subwords.tolist()


def test_every_family_has_its_subwords(tmp_path):
    for family in FAMILIES:
        backbone = load_backbone(str(write_backbone(family, tmp_path / family)))
        rows, ids = backbone.subwords().terms, backbone.hf_tokenizer.get_vocab()
        assert all(rows[number] == subword for subword, number in ids.items())


def test_subwords_that_no_term_stands_for_are_refused(backbones):
    """A table of queries is looked up by a kernel: such a number ended the process by SIGSEGV."""
    backbone = backbones["bert"][0]
    whole = backbone.subword_reader()
    asked = "kur"
    most = int(whole.distinct_terms(asked).max())
    few = Vocabulary(whole.vocabulary.terms[:most])
    reader = SubwordReader(whole._raw, backbone.tokenizer, few, frozenset())
    for read in (reader.distinct_terms, lambda text: reader.read_bags([text]), lambda text: reader.read([text], 9)):
        with pytest.raises(ArtifactError, match=f"a subword of number {most}"):
            read(asked)

"""Keys of terms: no dot, no two alike, and a way back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.errors import InputError
from lexigraft.export.engine_files.terms_as_keys import key_of, keys_of, term_of
from tests.unit.export.odd import TERMS


@pytest.mark.parametrize(
    ("term", "key"),
    [("plain", "plain"), ("c++", "c++"), ("node.js", "node%2Ejs"), ("100%", "100%25"), ("", "%"), ("x y", "x y"),
     (" x", "%20x"), ("a\tb\0", "a%09b%00"), ("é", "é"), ("\u3000x", "%E3%80%80x")],
)  # fmt: skip
def test_what_a_key_is(term, key):
    assert key_of(term) == key and term_of(key) == term


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_term_comes_back(term):
    key = key_of(term)
    assert term_of(key) == term and key and "." not in key and key.strip() == key


@given(st.sets(st.text(st.sampled_from(".%2Ee \t"), max_size=5)))
def test_no_two_terms_have_one_key(terms):
    assert len({key_of(term) for term in terms}) == len(terms)


def test_of_a_vocabulary():
    assert list(map(term_of, keys_of("OpenSearch", TERMS))) == TERMS
    with pytest.raises(InputError, match=r"the term 'x+\.\.\.' has 32,767 bytes.*OpenSearch 32,766"):
        keys_of("OpenSearch", ["a", "x" * 32_767])
    with pytest.raises(InputError, match="the term 'b' is in the vocabulary twice"):
        keys_of("OpenSearch", ["a", "b", "c", "b"])

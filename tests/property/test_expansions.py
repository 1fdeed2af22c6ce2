"""Documents with their expansions, read as one row: as if the subwords were put together one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.vocab.aligned import NOT_POOLED, AlignedTexts
from lexigraft.vocab.expansions import insert_rows, join_expansion, split_expansion

TEXTS = st.text(st.sampled_from("ab \x1e\n"), max_size=8)
WORDS = st.lists(st.integers(1, 3), max_size=4)  # subwords of each word


def row(words, first):
    """(subwords, terms, words) of a text of words with so many subwords each, numbered from `first`."""
    places = [place for place, n in enumerate(words) for _ in range(n)]
    subwords = [first + at for at in range(len(places))]
    return [101, *subwords, 102], [NOT_POOLED, *(10 * s for s in subwords), NOT_POOLED], [-1, *places, -1]


def aligned(rows):
    columns = [np.array([value for row in rows for value in row[at]], np.int32) for at in range(3)]
    return AlignedTexts(np.cumsum([0, *(len(row[0]) for row in rows)], dtype=np.int64), *columns)


@given(st.lists(st.tuples(WORDS, WORDS), max_size=5))
def test_rows_are_put_together_before_the_end(pairs):
    texts, added = [row(own, 1000) for own, _ in pairs], [row(more, 2000) for _, more in pairs]
    found = insert_rows(aligned(texts), aligned(added))
    expected = []
    for (own, _), text, more in zip(pairs, texts, added, strict=True):
        counted = [place + len(own) for place in more[2][1:-1]]
        middle = more[0][1:-1], more[1][1:-1], counted
        expected.append([[*kept[:-1], *new, kept[-1]] for kept, new in zip(text, middle, strict=True)])
    for name, one, other in zip(AlignedTexts._fields, found, aligned(expected), strict=True):
        np.testing.assert_array_equal(one, other, name)
        assert one.dtype == other.dtype


@given(TEXTS, TEXTS)
def test_what_is_joined_is_split_again(text, expansion):
    spaces = str.maketrans("\x1e", " ")
    assert split_expansion(join_expansion(text, expansion)) == (text.translate(spaces), expansion.translate(spaces))


@given(st.text(st.sampled_from("ab \n"), max_size=8))
def test_a_text_by_itself_has_no_expansion(text):
    assert split_expansion(text) == (text, "")

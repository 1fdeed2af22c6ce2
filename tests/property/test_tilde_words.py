"""The words TILDE adds, chosen for many documents at once, are those chosen one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.expand.tilde import choose_words

N_WORDS = 6
DOCUMENT = st.tuples(
    st.lists(st.integers(-1, N_WORDS - 1), min_size=4, max_size=4), st.sets(st.integers(0, N_WORDS - 1))
)


def slowly(named, own, keep):
    """The slow, obvious twin: (the words, how many there were before the cut)."""
    new = []
    for word in named:
        if word >= 0 and word not in own and word not in new:
            new.append(word)
    return new[: keep or None], len(new)


@given(st.lists(DOCUMENT, max_size=6), st.integers(0, 4))
def test_words_are_chosen(documents, keep):
    named = np.array([named for named, _ in documents], np.int64).reshape(-1, 4)
    own = [sorted(own) for _, own in documents]
    indptr = np.cumsum([0, *map(len, own)], dtype=np.int64)
    found = choose_words(named, indptr, np.array([word for row in own for word in row], np.int64), keep, N_WORDS)
    for place, (words, held) in enumerate(documents):
        kept = found.words[found.indptr[place] : found.indptr[place + 1]].tolist()
        assert (kept, int(found.n_new[place])) == slowly(words, held, keep)

"""Which pieces of a tokenizer are words by themselves, and which of those say something."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import Vocabulary
from lexigraft.vocab.opened import mark_of, whole_word
from lexigraft.vocab.stopwords import stopwords
from lexigraft.vocab.words import normalise, split_words

NO_WORD = -1
_UNUSED = "[unused"  # how the names of BERT's placeholders begin


class WholeWords(NamedTuple):
    """`words` are distinct; piece i is word word_of[i], NO_WORD where it is special, continues a word, is none by the
    word rule, or is a stop-word. `counted[i]`: it is neither special nor a stop-word."""

    words: Vocabulary
    word_of: NDArray[np.int32]
    counted: NDArray[np.bool_]


def find_whole_words(pieces: Sequence[str], special: AbstractSet[int], stopping: str) -> WholeWords:
    """The words among `pieces`, normalised as the word rule does; `special` are ids, `stopping` names stop-words."""
    mark, stopped = mark_of(pieces), stopwords(stopping)
    numbers: dict[str, int] = {}
    word_of, counted = np.full(len(pieces), NO_WORD, np.int32), np.ones(len(pieces), np.bool_)
    for number, piece in enumerate(pieces):
        if number in special or piece.startswith(_UNUSED):
            counted[number] = False
            continue
        word = whole_word(piece, mark)
        if word is None:
            continue
        word = normalise(word)
        if word in stopped:
            counted[number] = False
        elif split_words(word) == [word]:
            word_of[number] = numbers.setdefault(word, len(numbers))
    return WholeWords(Vocabulary(list(numbers)), word_of, counted)

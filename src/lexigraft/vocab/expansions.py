"""A document and what was added to it, joined into one text to be passed on, and split again where it is read.

Between the two stands U+001E, which is in no word. The added part is read after the document's own, however much of
that is read, and is not among its own words.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lexigraft.vocab.aligned import AlignedTexts, Extent, ordinary_subwords
from lexigraft.vocab.bags import TermBags
from lexigraft.vocab.reader import TextReader

BETWEEN = "\x1e"  # "information separator two"
SPECIAL_SUBWORDS = 2  # around a text


def join_expansion(text: str, expansion: str) -> str:
    """Both as one text; a separator inside either becomes a space."""
    return f"{text.replace(BETWEEN, ' ')}{BETWEEN}{expansion.replace(BETWEEN, ' ')}"


def split_expansion(joined: str) -> tuple[str, str]:
    """(text, expansion) of what `join_expansion` made; (text, "") of any other text."""
    text, _, expansion = joined.partition(BETWEEN)
    return text, expansion


def read_expanded(
    reader: TextReader, joined: Sequence[str], length: int, expansion_length: int
) -> tuple[AlignedTexts, TermBags, Extent]:
    """Texts cut to `length` subwords, special ones included, each with at most `expansion_length` subwords of its
    expansion before the special ones at its end; the terms of the whole texts alone; and how much of them is read."""
    parts = [split_expansion(text) for text in joined]
    aligned, bags, whole = reader.read_measured([text for text, _ in parts], length)
    added = reader.read([expansion for _, expansion in parts], expansion_length + SPECIAL_SUBWORDS)
    return insert_rows(aligned, added), bags, Extent(ordinary_subwords(aligned), whole)


def insert_rows(texts: AlignedTexts, added: AlignedTexts) -> AlignedTexts:
    """Row by row, `texts` with the subwords of `added` that are not special, after the last of its own that is not. The
    places of words go on counting."""
    extra, extra_row = _ordinary(added)
    own_row = _row_of(texts.indptr)
    lengths, n_extra = np.diff(texts.indptr), np.bincount(extra_row, minlength=len(texts))
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths + n_extra)))
    last_word, at = _last_words(texts, own_row, lengths)
    own_place = np.arange(len(own_row)) - texts.indptr[own_row]
    own_to = indptr[own_row] + own_place + np.where(own_place >= at[own_row], n_extra[own_row], 0)
    first_extra = np.concatenate((np.zeros(1, np.int64), np.cumsum(n_extra)))[:-1]
    extra_to = indptr[extra_row] + at[extra_row] + np.arange(len(extra_row)) - first_extra[extra_row]
    values = (added.subwords[extra], added.terms[extra], added.words[extra] + last_word[extra_row] + 1)
    made = []
    for own, new in zip((texts.subwords, texts.terms, texts.words), values, strict=True):
        column = np.empty(indptr[-1], np.int32)
        column[own_to], column[extra_to] = own, new
        made.append(column)
    return AlignedTexts(indptr, *made)


def _row_of(indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    rows: NDArray[np.int64] = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return rows


def _ordinary(texts: AlignedTexts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(the places of subwords that are not special, the row of each)."""
    places = np.flatnonzero(texts.words >= 0)
    return places, _row_of(texts.indptr)[places]


def _last_words(
    texts: AlignedTexts, row_of: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(the place of the last word of each row, -1 where it has none; where in the row the subwords after it begin, in
    the middle of the special ones where it has none)."""
    last_word, at = np.full(len(texts), -1, np.int64), lengths // 2
    places, rows = _ordinary(texts)
    last_word[rows] = texts.words[places]  # of a row the last one stays: they ascend
    at[rows] = places - texts.indptr[rows] + 1
    return last_word, at

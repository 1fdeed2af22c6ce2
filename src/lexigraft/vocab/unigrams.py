"""The expanded vocabulary (V1): the most frequent words of a corpus, each of which the backbone can spell.

Words are counted in a stream through numbered pieces, so memory holds the distinct pieces and nothing else. A term must
tokenise to one or more *known* subwords, because its row of the head is made from theirs (vocabulary study, 3.1.1).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError
from lexigraft.core.types import Vocabulary
from lexigraft.vocab.pieces import PieceTable
from lexigraft.vocab.subwords import SubwordTokenizer
from lexigraft.vocab.words import normalised_utf8, words_of_piece

BATCH_BYTES = 1 << 20
MAX_DISTINCT_PIECES = 1 << 21


@dataclass(frozen=True)
class UnigramVocabulary:
    """Terms by descending count, ties in alphabetical order, and what was left out on the way."""

    vocabulary: Vocabulary
    counts: NDArray[np.int64]
    n_distinct_words: int
    n_unspellable: int  # frequent enough, but not made of known subwords


def count_words(texts: Iterable[str]) -> Counter[str]:
    """How often each word occurs in a stream of texts."""
    words: Counter[str] = Counter()
    table, occurrences = PieceTable(), np.zeros(0, np.int64)
    for batch in _batches(texts):
        if table.count > MAX_DISTINCT_PIECES:
            _fold(table, occurrences, words)
            table, occurrences = PieceTable(), np.zeros(0, np.int64)
        numbers, _ = table.number(batch, np.array([len(batch)], np.int64))
        found = np.bincount(numbers, minlength=table.count)
        found[: len(occurrences)] += occurrences
        occurrences = found
    _fold(table, occurrences, words)
    return words


def _batches(texts: Iterable[str]) -> Iterator[bytes]:
    buffer = bytearray()
    for text in texts:
        buffer += normalised_utf8(text)
        buffer += b"\n"
        if len(buffer) >= BATCH_BYTES:
            yield bytes(buffer)
            buffer.clear()
    if buffer:
        yield bytes(buffer)


def _fold(table: PieceTable, occurrences: NDArray[np.int64], words: Counter[str]) -> None:
    for piece, count in zip(table.pieces(0), occurrences.tolist(), strict=True):
        for word in words_of_piece(piece):
            words[word] += count


def build_unigrams(
    counts: Counter[str], size: int, tokenizer: SubwordTokenizer, min_count: int = 2
) -> UnigramVocabulary:
    """The `size` most frequent words of at least `min_count` occurrences that the tokenizer can spell."""
    frequent = sorted((word for word, count in counts.items() if count >= min_count), key=lambda w: (-counts[w], w))
    terms: list[str] = []
    n_unspellable, step = 0, 20_000
    for start in range(0, len(frequent), step):
        candidates = frequent[start : start + step]
        for word, spelt in zip(candidates, tokenizer.can_spell(candidates), strict=True):
            if len(terms) == size:
                break
            terms += [word] if spelt else []
            n_unspellable += not spelt
    if not terms:
        raise InputError(
            f"no word of the corpus can be a term: {len(counts)} distinct words, {len(frequent)} of them at least "
            f"{min_count} times, {n_unspellable} of those not spellable by the backbone's tokenizer; lower the minimum "
            "count or choose another backbone"
        )
    found = np.array([counts[term] for term in terms], np.int64)
    return UnigramVocabulary(Vocabulary(terms), found, len(counts), n_unspellable)

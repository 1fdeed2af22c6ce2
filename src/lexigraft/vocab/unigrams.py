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
from lexigraft.vocab.stems import NO_STEMMER, stemmer
from lexigraft.vocab.stopwords import NO_STOPWORDS, stopwords
from lexigraft.vocab.subwords import SubwordTokenizer
from lexigraft.vocab.words import normalised_utf8, words_of_piece

BATCH_BYTES = 1 << 20
MAX_DISTINCT_PIECES = 1 << 21


@dataclass(frozen=True)
class UnigramVocabulary:
    """Terms by descending count, ties in alphabetical order, and what was left out on the way.

    A term is all words of one stem and bears the name of the most frequent of them; without a stemmer it is one word.
    """

    vocabulary: Vocabulary
    counts: NDArray[np.int64]
    forms: list[dict[str, int]]  # of each term, its words by descending count
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
    counts: Counter[str],
    size: int,
    tokenizer: SubwordTokenizer,
    min_count: int = 2,
    stemming: str = NO_STEMMER,
    stopping: str = NO_STOPWORDS,
) -> UnigramVocabulary:
    """The `size` most frequent terms of at least `min_count` occurrences that the tokenizer can spell."""
    by_count = sorted(counts.keys() - stopwords(stopping), key=lambda word: (-counts[word], word))
    spelt = dict(zip(by_count, tokenizer.can_spell(by_count), strict=True))
    stem, families = stemmer(stemming, "vocab.stemmer"), dict[str, dict[str, int]]()
    for word in by_count:
        families.setdefault(stem(word), {})[word] = counts[word]
    totals = {name: sum(forms.values()) for name, forms in families.items()}
    frequent = [name for name in families if totals[name] >= min_count]
    known = [name for name in frequent if any(spelt[form] for form in families[name])]
    best = sorted(known, key=lambda name: (-totals[name], next(iter(families[name]))))[:size]
    if not best:
        raise InputError(
            f"no word of the corpus can be a term: {len(counts)} distinct words, {len(frequent)} terms at least "
            f"{min_count} times, {len(frequent) - len(known)} of those not spellable by the backbone's tokenizer; "
            "lower the minimum count or choose another backbone"
        )
    # A form that cannot be spelt counts for its term, and is left out of what the term's row is made from.
    forms = [{form: n for form, n in families[name].items() if spelt[form]} for name in best]
    found = np.array([totals[name] for name in best], np.int64)
    names = Vocabulary([next(iter(form)) for form in forms])
    return UnigramVocabulary(names, found, forms, len(counts), len(frequent) - len(known))

"""Counts the words of a stream of texts, of any size, in bounded memory and on several processes.

A batch of text becomes its distinct pieces with their counts in compiled code (`pieces`), which is where nearly all the
work is; batches are merged the same way, and the full word rule runs once per distinct piece at the end. One process
reads and merges, the others count; small corpora never start them.

Memory holds the distinct pieces and words. Beyond `MOST_WORDS` of them, which natural text reaches after tens of
gigabytes, the rarest are forgotten (lossy counting: a count can then be low by no more than the message says).
"""

import logging
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from lexigraft.vocab.batching import batches
from lexigraft.vocab.pieces import PieceTable
from lexigraft.vocab.words import WordCutter

BATCH_CHARACTERS, MOST_TEXTS = 1 << 22, 1 << 18
SERIAL_BATCHES = 24  # a hundred megabytes are counted sooner than processes are started
MOST_PIECES = 1 << 21
MOST_WORDS = 1 << 21

Counted = tuple[bytes, NDArray[np.int64]]  # distinct pieces separated by spaces, and how often each occurs

log = logging.getLogger(__name__)


USUAL = WordCutter()


def count_words(texts: Iterable[str], processes: int = 0, cutter: WordCutter = USUAL) -> Counter[str]:
    """How often each word occurs in a stream of texts. `processes`: how many may work; 0: one a core."""
    words, stream = _WordCounts(cutter), batches(texts, len, MOST_TEXTS, BATCH_CHARACTERS)
    for pieces, counts in _counted(stream, processes or os.cpu_count() or 1, cutter):
        words.add(pieces, counts)
    return words.total()


def _counted(stream: Iterator[list[str]], processes: int, cutter: WordCutter) -> Iterator[Counted]:
    first = stream if processes == 1 else islice(stream, SERIAL_BATCHES)
    yield from (count_batch(batch, cutter) for batch in first)
    further = next(stream, None)
    if further is None:
        return
    # This process reads and merges. Others are started afresh: a copy of one that runs threads could hang.
    n_workers = processes - 1
    with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as pool:
        waiting: deque[Future[Counted]] = deque()
        for batch in chain([further], stream):
            waiting.append(pool.submit(count_batch, batch, cutter))
            if len(waiting) > 2 * n_workers:  # never more in memory than keeps them busy
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def count_batch(texts: list[str], cutter: WordCutter) -> Counted:
    """The distinct pieces of some texts and how often each occurs."""
    text, table = b"\n".join(map(cutter.normalised_utf8, texts)), PieceTable()
    numbers, _ = table.number(text, np.array([len(text)], np.int64))
    return b" ".join(table.pieces(0)), np.bincount(numbers, minlength=table.count)


class _WordCounts:
    """Pieces while they are few, then words, then the frequent ones among them."""

    def __init__(self, cutter: WordCutter) -> None:
        self._cutter = cutter
        self._words: Counter[str] = Counter()
        self._table, self._occurrences = PieceTable(), np.zeros(0, np.int64)
        self._forgotten = 0  # words of so few occurrences were dropped on the way

    def add(self, pieces: bytes, counts: NDArray[np.int64]) -> None:
        numbers, _ = self._table.number(pieces, np.array([len(pieces)], np.int64))
        occurrences = np.zeros(self._table.count, np.int64)
        occurrences[: len(self._occurrences)] = self._occurrences
        occurrences[numbers] += counts  # the pieces of a batch are distinct
        self._occurrences = occurrences
        if self._table.count > MOST_PIECES:
            self._fold()

    def total(self) -> Counter[str]:
        self._fold()
        if self._forgotten:
            message = "over %d distinct words: rare ones were forgotten on the way, and counts may be low by %d"
            log.warning(message, MOST_WORDS, self._forgotten)
        return self._words

    def _fold(self) -> None:
        for piece, count in zip(self._table.pieces(0), self._occurrences.tolist(), strict=True):
            for word in self._cutter.words_of_piece(piece):
                self._words[word] += count
        self._table, self._occurrences = PieceTable(), np.zeros(0, np.int64)
        while len(self._words) > MOST_WORDS:
            self._forgotten += 1
            kept = {word: count for word, count in self._words.items() if count > self._forgotten}
            self._words = Counter(kept)

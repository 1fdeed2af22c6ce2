"""How wacky expansion terms are (W1): terms that an expander added and that the texts it then finds do not hold.

    S(t, x) = count of t in the top-k documents of x / their total length * ln(N / df(t))
    score(t) = 1 - mean of S(t, x) over the inputs x that t expands / the largest such mean of any term

Counts, lengths and df are in terms of the output vocabulary. Any expander will do: what is needed is its rows, the
terms that the inputs hold themselves, a search, and the terms of the documents. The work goes input by input and is
that of reading the documents it finds; nothing is ever as large as inputs times vocabulary.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Float32s, Float64s, Int32s, Int64s
from lexigraft.core.compiled import compiled
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import SparseMatrix

INPUTS_AT_ONCE = 64

Find = Callable[[Int32s, Float32s], NDArray[np.integer]]  # a query's vector to documents, by row


class TextTerms(NamedTuple):
    """Ragged rows: the distinct terms of text i, ascending, lie at indptr[i]..indptr[i + 1] with their counts."""

    indptr: Int64s
    terms: Int32s
    counts: Int32s

    @property
    def n_texts(self) -> int:
        return len(self.indptr) - 1


class Expansions(NamedTuple):
    """Ragged rows: the terms that input i was given and does not hold, ascending."""

    indptr: Int64s
    terms: Int32s


class Importance(NamedTuple):
    """S(t, x) of every entry of some `Expansions`, in their order."""

    expansions: Expansions
    values: Float64s
    n_found_nothing: int  # inputs with expansion terms whose search found no document: their S is 0


@dataclass(frozen=True)
class TermScores:
    """`scores`: NaN for a term that expanded no input, else 0 (as important as any) to 1. `counts`: the inputs it
    expanded. `largest_term` has score 0: it set the largest mean; -1 where every mean is 0, and all scores are 1."""

    scores: Float32s
    counts: Int64s
    largest_mean: float
    largest_term: int

    @property
    def seen(self) -> Int64s:
        """The terms that expanded an input."""
        return np.flatnonzero(self.counts)

    @property
    def coverage(self) -> float:
        """The share of the vocabulary that expanded an input."""
        return len(self.seen) / max(1, len(self.counts))

    def wackiest(self, n: int) -> Int64s:
        """The `n` terms of highest score, of equal ones those first that expand most inputs."""
        seen = self.seen
        order = np.lexsort((seen, -self.counts[seen], -self.scores[seen]))
        return seen[order[:n]]


def expansions_of(matrix: SparseMatrix, own: TextTerms) -> Expansions:
    """The entries of each row that its text, whose terms are the same row of `own`, does not hold."""
    added = ~mark_own(matrix, own)
    return Expansions(kept_indptr(matrix.indptr, added), np.asarray(matrix.term_ids)[added])


def kept_indptr(indptr: Int64s, kept: NDArray[np.bool_]) -> Int64s:
    """The row pointers of the entries that `kept` marks; `indptr` may start anywhere."""
    ends = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(kept, out=ends[1:])
    pointers: Int64s = ends[indptr - indptr[0]]
    return pointers


def mark_own(matrix: SparseMatrix, own: TextTerms) -> NDArray[np.bool_]:
    """Of each entry of `matrix`, whether the text of its row holds the term."""
    if matrix.n_rows != own.n_texts:
        raise InputError(f"{matrix.n_rows} vectors and the terms of {own.n_texts} texts do not belong together")
    return mark_rows(matrix.indptr, matrix.term_ids, own.indptr, own.terms)


@compiled
def mark_rows(indptr: Int64s, terms: Int32s, own_indptr: Int64s, own_terms: Int32s) -> NDArray[np.bool_]:
    """The same on bare arrays, of the rows that `indptr` and `own_indptr` have, which may be some in the middle."""
    marks = np.zeros(indptr[-1] - indptr[0], np.bool_)
    for row in range(len(indptr) - 1):
        at, end = own_indptr[row], own_indptr[row + 1]
        for i in range(indptr[row], indptr[row + 1]):
            while at < end and own_terms[at] < terms[i]:
                at += 1
            marks[i - indptr[0]] = at < end and own_terms[at] == terms[i]
    return marks


def document_frequency(documents: TextTerms, n_terms: int) -> Int64s:
    """Of each term, how many documents hold it."""
    return np.bincount(documents.terms, minlength=n_terms)


def measure_importance(
    inputs: SparseMatrix,
    own: TextTerms,
    documents: TextTerms,
    find: Find,
    threads: int = 1,
    progress: Progress = SILENT,
) -> Importance:
    """S(t, x) of all expansion terms of all inputs. `find` gives a vector's top-k as rows of `documents`; it is called
    by several threads where `threads` says so."""
    expansions = expansions_of(inputs, own)
    lengths = text_lengths(documents)
    shares, n_empty = np.zeros(len(expansions.terms), np.float64), 0

    def measure(first: int) -> int:
        last = min(first + INPUTS_AT_ONCE, inputs.n_rows)
        wanted = expansions.indptr[first : last + 1]
        found = [
            find(*inputs.row(row)) if wanted[row - first] < wanted[row - first + 1] else np.zeros(0, np.int64)
            for row in range(first, last)
        ]
        ends = np.cumsum([0, *map(len, found)], dtype=np.int64)
        hits = np.concatenate([np.zeros(0, np.int64), *found]).astype(np.int64)
        places = np.zeros(inputs.n_terms, np.int32)
        fill_shares(wanted, expansions.terms, ends, hits, *documents, lengths, places, shares)
        return int(((np.diff(wanted) > 0) & (np.diff(ends) == 0)).sum())

    starts = range(0, inputs.n_rows, INPUTS_AT_ONCE)
    with ThreadPoolExecutor(threads) as pool:
        for n in progress.track(pool.map(measure, starts), "scoring expansion terms", len(starts)):
            n_empty += n
    values = shares * inverse_frequency(documents, inputs.n_terms)[expansions.terms]
    return Importance(expansions, values, n_empty)


def text_lengths(texts: TextTerms) -> Int64s:
    """Of each text, its terms, repetitions counted."""
    return _row_sums(texts.indptr, texts.counts)


@compiled
def _row_sums(indptr: Int64s, counts: Int32s) -> Int64s:
    sums = np.zeros(len(indptr) - 1, np.int64)
    for row in range(len(sums)):
        for i in range(indptr[row], indptr[row + 1]):
            sums[row] += counts[i]
    return sums


def inverse_frequency(documents: TextTerms, n_terms: int) -> Float64s:
    """ln(N / df); 0 where no document holds the term, whose S is then 0."""
    frequency = document_frequency(documents, n_terms)
    idf = np.zeros(n_terms, np.float64)
    known = frequency > 0
    idf[known] = np.log(documents.n_texts / frequency[known])
    return idf


@compiled
def fill_shares(
    indptr: Int64s,
    terms: Int32s,
    hit_ends: Int64s,
    hits: Int64s,
    document_indptr: Int64s,
    document_terms: Int32s,
    document_counts: Int32s,
    lengths: Int64s,
    places: Int32s,
    shares: Float64s,
) -> None:
    """Of each entry of `terms`, between indptr[0] and indptr[-1], its count in the documents found for its row divided
    by their length. `places`, one a term of the vocabulary, is 0 before and after."""
    for row in range(len(indptr) - 1):
        first, last = indptr[row], indptr[row + 1]
        for i in range(first, last):
            places[terms[i]] = i - first + 1
        total = np.int64(0)
        for h in range(hit_ends[row], hit_ends[row + 1]):
            total += lengths[hits[h]]
            for i in range(document_indptr[hits[h]], document_indptr[hits[h] + 1]):
                place = places[document_terms[i]]
                if place > 0:
                    shares[first + place - 1] += document_counts[i]
        for i in range(first, last):
            places[terms[i]] = 0
            if total > 0:
                shares[i] /= total


def score_terms(importance: Importance, n_terms: int, inputs: NDArray[np.bool_] | None = None) -> TermScores:
    """The scores by all inputs, or by those that `inputs` marks."""
    terms, values = importance.expansions.terms, importance.values
    if inputs is not None:
        chosen = np.repeat(inputs, np.diff(importance.expansions.indptr))
        terms, values = terms[chosen], values[chosen]
    counts = np.bincount(terms, minlength=n_terms)
    means = np.bincount(terms, weights=values, minlength=n_terms) / np.maximum(counts, 1)
    largest = float(means.max(initial=0.0))
    scores = np.where(counts > 0, 1 - means / largest if largest > 0 else 1.0, np.nan).astype(np.float32)
    return TermScores(scores, counts, largest, int(means.argmax()) if largest > 0 else -1)

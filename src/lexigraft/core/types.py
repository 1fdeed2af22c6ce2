"""The nouns that pass between rooms: small frozen records; arrays inside them are read-only.

A vocabulary fingerprint travels with everything derived from a vocabulary; `require_same_vocabulary` is the one place
that compares two of them.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError, VocabularyMismatchError
from lexigraft.core.origin import Origin


class Document(NamedTuple):
    """A document; `title` may be empty. What is retrieved on is `contents`."""

    doc_id: str
    title: str
    text: str

    @property
    def contents(self) -> str:
        return f"{self.title} {self.text}" if self.title else self.text


def passage_id(doc_id: str, number: int) -> str:
    """The id of a passage, where documents are searched in passages."""
    return f"{doc_id}#{number}"


def document_of(identifier: str) -> str:
    """The id of the document that a passage was cut from."""
    return identifier.rpartition("#")[0]


def counted_rows(count: int, passages: bool = False) -> str:
    """What an index or a matrix has rows of, in words: "3 documents", "1 passage"."""
    return f"{count:,} {'passage' if passages else 'document'}{'' if count == 1 else 's'}"


class Query(NamedTuple):
    query_id: str
    text: str


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int


@dataclass(frozen=True)
class Vocabulary:
    """The terms of an output vocabulary, in term-id order."""

    terms: Sequence[str]

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for term in self.terms:
            digest.update(term.encode())
            digest.update(b"\n")
        return digest.hexdigest()

    @cached_property
    def id_of(self) -> dict[str, int]:
        return {term: term_id for term_id, term in enumerate(self.terms)}

    def __len__(self) -> int:
        return len(self.terms)


@dataclass(frozen=True)
class SparseMatrix:
    """Rows of weighted terms in CSR form: term ids ascending within a row, weights > 0.

    `indptr` int64 [rows + 1], `term_ids` int32 [nnz], `weights` float32 [nnz]; they may be memory-mapped.
    """

    row_ids: Sequence[str]
    indptr: NDArray[np.int64]
    term_ids: NDArray[np.int32]
    weights: NDArray[np.float32]
    n_terms: int
    vocab_fingerprint: str

    def __post_init__(self) -> None:
        if len(self.indptr) != len(self.row_ids) + 1 or len(self.term_ids) != len(self.weights):
            raise InputError(
                f"sparse matrix does not fit together: {len(self.row_ids)} row ids, {len(self.indptr)} row pointers, "
                f"{len(self.term_ids)} term ids, {len(self.weights)} weights"
            )

    @property
    def n_rows(self) -> int:
        return len(self.row_ids)

    def row(self, position: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        start, end = self.indptr[position], self.indptr[position + 1]
        return self.term_ids[start:end], self.weights[start:end]


@dataclass(frozen=True)
class Ranking:
    """One query's answer: by score descending, ties by `doc_id` ascending; only documents that match."""

    query_id: str
    doc_ids: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Measurement:
    measure: str
    per_query: dict[str, float] = field(repr=False)

    @property
    def mean(self) -> float:
        return sum(self.per_query.values()) / len(self.per_query) if self.per_query else 0.0


class Contribution(NamedTuple):
    """What one shared term adds to a score: `query_weight * document_weight`, in the score's own units; `points` is the
    same as the engine's integer. `origin`: of a grafted document, where these points come from."""

    term: str
    query_weight: float
    document_weight: float
    contribution: float
    term_id: int
    points: int
    origin: Origin | None = None


class ScorePart(NamedTuple):
    """What one system adds to a score: a document's rank and score there, 0 and None where it is not among that
    system's candidates, and what became of that score. One that has no weight is not asked."""

    system: str
    has_terms: bool
    rank: int
    score: float | None
    adds: float
    is_asked: bool = True


class WholeScore(NamedTuple):
    """A score by systems and not by terms: `parts` add up to `score`. `how` says how two were fused; it is empty where
    there is one, a dense system."""

    system: str
    score: float
    how: str
    parts: tuple[ScorePart, ...]

    @property
    def said(self) -> str:
        """What the parts are, as a line."""
        if not self.how:
            return f"{self.system} compares meanings as a whole: its score has no terms to take apart"
        return f"{', '.join(map(self._said_of_part, self.parts))}: {self.how}"

    def _said_of_part(self, part: ScorePart) -> str:
        name = part.system if part.has_terms else f"the meaning ({part.system})"
        if not part.is_asked:
            return f"{name} adds nothing (not asked)"
        place = f"rank {part.rank} there" if part.rank else "not among its candidates"
        share = f"{part.adds / self.score:.1%}, " if self.score else ""
        return f"{name} adds {part.adds:.3f} ({share}{place})"


@dataclass(frozen=True)
class Explanation:
    """`points` is the engine's integer score, the sum of those of the contributions; `score` is `points * scale`.
    `doc_ordinal` is the row that was explained, and `doc_id` its id: of a document in passages, one of those.

    Where `whole` is there, `score` is a hybrid's or a dense system's; the contributions, and points, are then those of
    the part that has terms, or none."""

    query_id: str
    doc_id: str
    score: float
    contributions: tuple[Contribution, ...]
    points: int
    scale: float
    doc_ordinal: int
    whole: WholeScore | None = None


class TermSource(NamedTuple):
    """What produced a term: `kind` is "own" (the text's own word), "token" (a token of the model's input), "special" (a
    token that the tokenizer added), "text" (the text as a whole) or "unknown". `word` is the place of the word among
    those of the text, -1 where no single word produced it; `token` is what to show."""

    kind: str
    word: int
    token: str


@dataclass(frozen=True)
class TracedText:
    """A text as it was read: word i lies at spans[i] of `text`, the model saw the first `n_read` of them, and
    `sources[t]` says what produced term t."""

    text: str
    spans: Sequence[tuple[int, int]]
    n_read: int
    sources: Mapping[int, TermSource]


def require_same_vocabulary(left: str, left_fingerprint: str, right: str, right_fingerprint: str) -> None:
    """Raise unless the two fingerprints are equal; `left` and `right` name the things in the message."""
    if left_fingerprint != right_fingerprint:
        raise VocabularyMismatchError(left, left_fingerprint, right, right_fingerprint)

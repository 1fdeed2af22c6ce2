"""What documents must have in common to live in one index, and the scale that they share where they can."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from lexigraft.core.cut import DocumentCut
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.settings import AUTO, IndexSettings, LexicalSettings, WordsSettings
from lexigraft.core.types import document_of, require_same_vocabulary
from lexigraft.index.impact_bits import FINE, USUAL
from lexigraft.index.live.state import LiveState
from lexigraft.vectors.analysis import reading_in
from lexigraft.vectors.quantize import fits
from lexigraft.vectors.store import DocumentVectors, row_ranges


def require_alike(folder: Path, state: LiveState, vectors: DocumentVectors, keep: DocumentCut | None) -> None:
    """Raise unless `vectors` fit the live index at `folder`: vocabulary, encoder, passages and, where given, `keep`."""
    if state.counts_words:
        raise InputError(
            f"{folder} is a live index of BM25, which keeps the counts of words, and vectors have none; add texts "
            "(data=PATH)"
        )
    require_same_vocabulary(
        "the documents to add", vectors.matrix.vocab_fingerprint, f"the index {folder}", state.vocab_fingerprint
    )
    new, old = _identity(vectors.query_encoder), _identity(state.query_encoder)
    if new != old:
        raise InputError(
            f"the documents to add were encoded by {new}, those of {folder} by {old}; use the same encoder"
        )
    require_same_rows(folder, state, vectors.passages)
    if keep is not None and keep != state.keep:
        terms = state.keep if isinstance(state.keep, str) else f"{state.keep or 'all'} terms"
        raise SettingError(f"keep = {keep} does not fit {folder}, whose documents keep {terms}; leave it out")


def require_same_reading(folder: Path, state: LiveState, settings: LexicalSettings, words: WordsSettings) -> None:
    """Raise unless texts read by `settings` and `words` fit the live index at `folder`, which is of BM25 and says how
    its own were read. The defaults count as not given."""
    if not state.counts_words:
        raise InputError(
            f"{folder} is not a live index of BM25 that keeps the counts of words: its encoder is "
            f"{state.query_encoder.get('kind')!r}; add vectors (vectors=PATH)"
        )
    found, rule = reading_in(state.query_encoder)
    held = {f"lexical.{name}": value for name, value in asdict(found).items()}
    held |= {"words.fold_accents": rule.fold_accents, "words.camel_case": "on" if rule.split_camel_case else "off"}
    wanted = {f"lexical.{name}": value for name, value in asdict(settings).items()}
    wanted = {} if settings == LexicalSettings() else wanted
    wanted |= {} if words == WordsSettings() else {f"words.{name}": value for name, value in asdict(words).items()}
    for name, value in wanted.items():
        if value not in (AUTO, held[name]):
            raise SettingError(
                f"{name} = {value!r} does not fit {folder}, whose documents are read with {held[name]!r}; leave it out"
            )


def lexical_settings(state: LiveState) -> LexicalSettings:
    """How a live index of BM25 reads and weighs texts."""
    return reading_in(state.query_encoder).settings


def require_all_terms(keep: DocumentCut | None) -> None:
    """Raise where documents of a live index of BM25 are to be cut to their heaviest terms."""
    if keep:
        raise SettingError(
            f"keep = {keep} is not allowed in a live index of BM25: the IDF is the query's, so a document's "
            "heaviest terms are not those that tell most; leave it out"
        )


def require_same_rows(folder: Path, state: LiveState, passages: bool) -> None:
    """Raise unless the rows to add are documents or passages, as those of the index are."""
    if passages != state.passages:
        kinds = ("whole documents", "passages")
        raise InputError(
            f"the rows to add are {kinds[passages]}, those of {folder} are {kinds[state.passages]}; encode both alike "
            "(data.passage_words)"
        )


def row_documents(row_ids: Iterable[str], passages: bool) -> set[str]:
    """The ids of the documents that rows are of. Raises `InputError` unless the passages of each are numbered from 0 on
    without a gap: after one they would not be found, and so not deleted."""
    if not passages:
        return set(row_ids)
    found: dict[str, list[int]] = {}  # how many passages, and the largest number
    for row_id in row_ids:
        doc_id, number = document_of(row_id), row_id.rpartition("#")[2]
        if not (number.isascii() and number.isdecimal() and number == str(int(number))):
            raise InputError(f"the passage {row_id!r} has no number; the passages of a document ID are ID#0, ID#1, ...")
        counted = found.setdefault(doc_id, [0, 0])
        counted[0] += 1
        counted[1] = max(counted[1], int(number))
    for doc_id, (n_passages, last) in found.items():
        if last + 1 > n_passages:  # twice the same number is found when the index is built
            raise InputError(
                f"document {doc_id!r} has {n_passages} passages, numbered up to {last}; give all of them, from 0 on"
            )
    return set(found)


def require_living_bits(bits: int) -> None:
    """Raise unless merging gives the same impacts again, by way of weights that are 32-bit floats."""
    if bits > FINE:
        raise SettingError(
            f"a live index has impacts of {USUAL} or {FINE} bits, not of {bits} (index.bits); build a plain one, or "
            f"set index.bits={FINE}"
        )


def of_same_bits(settings: IndexSettings | None, bits: int | None, usual: int) -> IndexSettings:
    """The settings of a segment of a live index whose impacts have `bits`, None for the first one; that has `usual`
    where nobody says it. Raises where the settings ask for others."""
    settings = settings or IndexSettings()
    asked = usual if settings.bits == AUTO else int(settings.bits)
    if bits is None:
        require_living_bits(asked)
    elif settings.bits not in (AUTO, bits):
        raise SettingError(
            f"index.bits = {asked} does not fit this live index, whose impacts have {bits} bits; leave it out"
        )
    return replace(settings, bits=asked if bits is None else bits)


def common_scale(state: LiveState, vectors: DocumentVectors, bits: int) -> float | None:
    """The smallest scale of the index that the new weights fit, so that integers mean the same in most segments; None
    where they fit none and need one of their own. The scale of a segment without postings is of no weight at all."""
    matrix = vectors.matrix
    spans = ((matrix.indptr[start], matrix.indptr[end]) for start, end in row_ranges(matrix.indptr))
    largest = max((float(matrix.weights[first:last].max(initial=0)) for first, last in spans), default=0.0)
    scales = sorted(segment.scale for segment in state.segments if segment.n_postings)
    return next((scale for scale in scales if fits(largest, scale, bits)), None)


def seen_from_segment(query_encoder: Mapping[str, Any]) -> dict[str, Any]:
    """The description with its path as a segment's folder sees it, so that a segment alone is an index too."""
    if "model" not in query_encoder:
        return dict(query_encoder)
    return {**query_encoder, "model": os.path.normpath(Path("../..") / query_encoder["model"])}


def _identity(query_encoder: Mapping[str, Any]) -> dict[str, Any]:
    """What makes two encoders the same: a model is known by its fingerprint, wherever it lies."""
    return {key: value for key, value in query_encoder.items() if key != "model"}

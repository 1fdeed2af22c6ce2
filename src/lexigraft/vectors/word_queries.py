"""Queries that no model writes (SPLADE-doc, H6): their distinct terms, with a weight of 1 each, or what a table that
was learned has for them.

All that is needed is how the model reads text: its tokenizer, or its rule of words. Nothing here imports torch, so a
process that only searches starts at once and stays small. Documents are still the model's, and whoever asks which word
of one produced a term opens it.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.artifact import require_files
from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.core.pinned import read_pinned
from lexigraft.core.types import TermSource, TracedText, Vocabulary, require_same_vocabulary
from lexigraft.inference.meta import BY_TABLE, FACTS, REMEDY, read_meta
from lexigraft.vectors.open_network import USUAL_BITS
from lexigraft.vectors.same_model import require_same_model
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.bags import TermBags
from lexigraft.vocab.lookup import TableRows, heaviest_rows, look_up, read_table
from lexigraft.vocab.raw_reader import SubwordReader
from lexigraft.vocab.reader import TextReader, first_places
from lexigraft.vocab.subwords import SpecialTokens, SubwordTokenizer, spelling_words, wants_space
from lexigraft.vocab.tokenizer_files import open_tokenizer

if TYPE_CHECKING:
    from lexigraft.vectors.model_queries import ModelQueryEncoder

Row = tuple[NDArray[np.int32], NDArray[np.float32]]


class WordQueryEncoder:
    """Query text to (term ids ascending, weights): of 1 each, or by `table`."""

    def __init__(
        self,
        reader: TextReader,
        model: Path,
        fingerprint: str,
        reads_expansions: bool = False,
        table: TableRows | None = None,
        bits: int = USUAL_BITS,
    ) -> None:
        self._reader, self._path, self._fingerprint = reader, model, fingerprint
        self.reads_expansions = reads_expansions  # whether documents reach the model with what was added to them
        self._table, self._bits = table, bits

    def encode(self, text: str) -> Row:
        return self._weigh(self._reader.distinct_terms(text))

    def encode_all(self, texts: list[str]) -> list[Row]:
        bags = self._reader.read_bags(texts)
        return [self._weigh(bags.terms[start:end]) for start, end in zip(bags.indptr, bags.indptr[1:], strict=False)]

    def _weigh(self, terms: NDArray[np.int32]) -> Row:
        if self._table is None:
            return terms, np.ones(len(terms), np.float32)
        return look_up(*self._table, terms)

    def encode_documents(self, texts: list[str]) -> list[Row]:
        return self._model.encode_documents(texts)

    def own_terms(self, text: str) -> NDArray[np.int32]:
        return self._reader.distinct_terms(text)

    def own_bags(self, texts: list[str]) -> TermBags:
        """The terms of whole texts, counted, as the model reads them."""
        return self._reader.read_bags(texts)

    def trace_query(self, text: str, terms: NDArray[np.int32]) -> TracedText:
        """Every term of a query is one of its own words, or came with the one whose row has most of it."""
        spanned, places = self._reader.spans(text), first_places(self._reader, text)
        brought_by = {} if self._table is None else heaviest_rows(self._table, self._reader.distinct_terms(text))

        def source(term: int) -> TermSource:
            own = term if term in places else brought_by.get(term, term)
            place = places.get(own, -1)
            word = spanned.text[slice(*spanned.spans[place])] if place >= 0 else self._reader.vocabulary.terms[own]
            return TermSource("own" if own == term else "token", place, word)

        return TracedText(
            spanned.text, spanned.spans, len(spanned.spans), {term: source(term) for term in terms.tolist()}
        )

    def trace_document(self, text: str, terms: NDArray[np.int32]) -> TracedText:
        return self._model.trace_document(text, terms)

    @cached_property
    def _model(self) -> "ModelQueryEncoder":
        from lexigraft.vectors.model_queries import open_model_queries

        return open_model_queries(self._path, self._reader.vocabulary, self._fingerprint, self._bits)


def _is_read(name: str) -> bool:
    """Whether a file of a model decides how queries are written without it."""
    return name.startswith(("backbone/", "table_")) or name == "encoder.json"


def open_word_queries(path: Path, vocabulary: Vocabulary, description: Mapping[str, Any]) -> WordQueryEncoder:
    """What reads queries as the model at `path` does, which must have the index's vocabulary and be the very one that
    wrote its documents. `description` is what the index has of its encoder (core/encoder_description.py)."""
    return read_pinned(path, lambda folder: _open(folder, path, vocabulary, description))


def _open(folder: Path, path: Path, vocabulary: Vocabulary, description: Mapping[str, Any]) -> WordQueryEncoder:
    """All files of the model are read from `folder`; `path` is where it is found later."""
    require_files(folder, _is_read)  # and not the weights, which are large and not looked at
    meta = read_meta(folder)
    require_same_vocabulary(f"the model at {path}", meta.vocab_fingerprint, "the index", vocabulary.fingerprint)
    fingerprint = str(description.get("fingerprint", ""))
    require_same_model(folder, fingerprint)
    opened = open_tokenizer(folder / "backbone")
    expands = meta.expansion_length > 0
    special = SpecialTokens(begin=-1, end=-1, pad=-1, mask=-1, unknown=description["unknown"])
    tokenizer = SubwordTokenizer(spelling_words(opened.backend), special, wants_space(opened.backend))
    table = read_table(folder, len(vocabulary)) if description["queries"] == BY_TABLE else None
    bits = description.get("bits", USUAL_BITS)
    reader: TextReader
    if description["subwords"]:
        reader = SubwordReader(opened.backend, tokenizer, vocabulary, frozenset(description["special"]))
    else:
        try:
            reader = AlignedReader(tokenizer, vocabulary, meta.stemmer, meta.stopwords, meta.rule)
        except SettingError as error:  # a stemmer or stop-words that nobody has
            raise ArtifactError(f"{folder / FACTS} does not say how words are read: {error}; {REMEDY}") from error
    return WordQueryEncoder(reader, path, fingerprint, expands, table, bits)

"""A trained model as a graph for onnxruntime: what searches and encodes where no torch is loaded."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Float32s, Int32s
from lexigraft.core.arrays import StringTable
from lexigraft.core.errors import ArtifactError
from lexigraft.core.made_here import MADE_ELSEWHERE
from lexigraft.core.pinned import known_as, read_pinned
from lexigraft.core.types import Vocabulary
from lexigraft.inference.batches import Batch, batches_of
from lexigraft.inference.folder import (
    FACTS,
    FORMAT_VERSION,
    GRAPHS,
    KIND,
    InferenceFacts,
    check_form,
    form_beside,
    open_reader,
    raw_tokenizer,
    read_facts,
    stored_array,
)
from lexigraft.inference.meta import BY_MODEL, BY_TABLE, CLS, SUM, UNICOIL, EncoderMeta, read_meta
from lexigraft.inference.network import NOTHING, OWN_WORD, WHOLE_TEXT, Rows
from lexigraft.inference.reading import ReadTexts, pooled_tokens
from lexigraft.inference.saturation import saturate
from lexigraft.inference.session import Session, open_session
from lexigraft.inference.threads import usable_threads
from lexigraft.vocab.bags import take_bags
from lexigraft.vocab.lookup import look_up, read_table
from lexigraft.vocab.reader import TextReader
from lexigraft.vocab.subwords import SpecialTokens

NO_ROW = np.zeros(0, np.int32), np.zeros(0, np.float32)


class GraphNetwork:
    """`session` runs the graph whose folder is `folder`. Texts are computed on `threads` threads (None: all there
    are), a batch on each: that takes all cores whatever a batch's shape is."""

    def __init__(
        self,
        model: Path,
        folder: Path,
        facts: InferenceFacts,
        session: Session,
        vocabulary: Vocabulary,
        threads: int | None = None,
        meta: EncoderMeta | None = None,
    ) -> None:
        self.meta = read_meta(model) if meta is None else meta
        self._threads = threads
        self._facts, self._session = facts, session
        self._vocabulary = vocabulary
        self._inputs = session.inputs
        # All of one model, opened now: the folder may hold another one later.
        self._raw = raw_tokenizer(folder)
        self._head, self._bias = stored_array(folder, facts.head), stored_array(folder, facts.bias)
        self._own_amounts = None if facts.own is None else stored_array(folder, facts.own)
        self._require_head(known_as(folder))
        self._table = read_table(model, len(vocabulary)) if self.meta.queries == BY_TABLE else None

    def _require_head(self, folder: Path) -> None:
        """Raise unless the arrays that explanations read have the shapes that a head has."""
        n_rows = 1 if self.meta.head == UNICOIL else len(self._vocabulary)
        shapes = {"head": (self._head, 2, n_rows), "bias": (self._bias, 1, n_rows)}
        if self._own_amounts is not None:
            shapes["own"] = self._own_amounts, 1, len(self._vocabulary)
        for name, (array, dimensions, least) in shapes.items():
            if array.ndim != dimensions or len(array) < least:
                raise ArtifactError(
                    f"{folder / FACTS} gives {name} a shape of {array.shape}, which does not fit {least} terms: "
                    f"{MADE_ELSEWHERE}"
                )

    @cached_property
    def reader(self) -> TextReader:
        return open_reader(self._raw, self._facts, self.meta, self._vocabulary)

    @property
    def n_readers(self) -> int:
        """A CPU that writes has no core to spare."""
        return 0

    def begin(self, read: ReadTexts, are_queries: bool) -> Callable[[], Rows]:
        return partial(self.write, read, are_queries)

    def write(self, read: ReadTexts, are_queries: bool) -> Rows:
        if are_queries and self.meta.queries != BY_MODEL:
            return self._look_up(read)
        batches = batches_of(read, self._is_pooled(read))
        found: list[tuple[Int32s, Float32s]] = [NO_ROW] * len(read)
        for batch, entries in zip(batches, self._run_all(batches, read), strict=True):
            texts, terms, weights = entries
            ends = np.searchsorted(texts, np.arange(len(batch.rows) + 1))
            for place, row in enumerate(batch.rows.tolist()):
                span = slice(int(ends[place]), int(ends[place + 1]))
                found[row] = terms[span], weights[span]
        return _joined(found)

    def _run_all(self, batches: Sequence[Batch], read: ReadTexts) -> list[tuple[Any, Int32s, Float32s]]:
        def run(batch: Batch) -> tuple[Any, Int32s, Float32s]:
            texts, terms, weights = self._session.run(["texts", "terms", "weights"], self._feed(batch, read))
            if not are_rows(texts, terms, weights, len(self._vocabulary)):
                raise self._session.gives_no(f"rows of its {len(self._vocabulary)} terms")
            return texts, terms.astype(np.int32), weights

        threads = min(self._threads or usable_threads(), len(batches))
        if threads <= 1:
            return [run(batch) for batch in batches]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(run, batches))

    def _feed(self, batch: Batch, read: ReadTexts) -> dict[str, NDArray[Any]]:
        places = np.zeros((len(batch.rows), 1), np.int64) if self._speaks_for_text else batch.places
        feed: dict[str, NDArray[Any]] = {"subwords": batch.subwords, "places": places}
        if "is_there" in self._inputs:
            feed["is_there"] = (np.arange(places.shape[1]) < batch.counts[:, None]).astype(np.float32)
        if "own_terms" in self._inputs:
            bags = take_bags(read.bags, batch.rows)
            feed["own_texts"] = np.repeat(np.arange(len(batch.rows)), np.diff(bags.indptr))
            feed["own_terms"], feed["own_weights"] = bags.terms.astype(np.int64), bags.weights.astype(np.float32)
        return feed

    @property
    def _speaks_for_text(self) -> bool:
        """Whether the first token alone is pooled."""
        return self.meta.pooling == CLS and self.meta.head != UNICOIL

    def _is_pooled(self, read: ReadTexts) -> NDArray[np.bool_]:
        if self.meta.head == UNICOIL:
            return ~np.isin(read.aligned.subwords, np.array(sorted(self._facts.not_terms), np.int32))
        return pooled_tokens(read.aligned, self.meta.pooled)

    def _look_up(self, read: ReadTexts) -> Rows:
        bags = read.bags
        if self._table is None:
            return Rows(bags.indptr, bags.terms, bags.weights.astype(np.float32))
        spans = zip(bags.indptr[:-1], bags.indptr[1:], strict=True)
        return _joined([look_up(*self._table, bags.terms[start:end]) for start, end in spans])

    @property
    def special(self) -> SpecialTokens:
        return self._facts.special

    @property
    def not_terms(self) -> frozenset[int]:
        return self._facts.not_terms

    def subword(self, number: int) -> str:
        return str(self._raw.id_to_token(number))

    def positions(self, read: ReadTexts, terms: Int32s) -> Int32s:
        is_pooled = self._is_pooled(read)
        batches = batches_of(read, is_pooled)
        if not batches:
            return np.full(len(terms), NOTHING, np.int32)
        (states,) = self._session.run(["hidden"], self._feed(batches[0], read))
        if states.shape != (*batches[0].subwords.shape, self._head.shape[1]) or states.dtype.kind != "f":
            raise self._session.gives_no("state of each subword")
        hidden = states[0]
        if self.meta.head == UNICOIL:
            impacts = np.maximum(hidden @ self._head[0] + self._bias[0], 0)
            there = (read.aligned.subwords[:, None] == terms) & is_pooled[:, None]
            parts = np.where(there, impacts[:, None], 0)
            return np.where(parts.max(axis=0) > 0, parts.argmax(axis=0), NOTHING).astype(np.int32)
        logits = hidden @ self._head[terms].T + self._bias[terms]
        return self._winners(logits, is_pooled, self._own(read, terms))

    def _winners(self, logits: Float32s, is_pooled: NDArray[np.bool_], own: Float32s) -> Int32s:
        """As `model.trace` says it in torch."""
        if self._speaks_for_text:
            logits, is_pooled = logits[:1], np.array([is_pooled.any()])
        logits = np.where(is_pooled[:, None], logits, -np.inf)
        is_sum, activation = self.meta.pooling == SUM, self.meta.activation
        parts = saturate(logits, activation) if is_sum else logits
        said = saturate(own, activation) if is_sum else own
        best, at = parts.max(axis=0), parts.argmax(axis=0)
        weights = parts.sum(axis=0) + said if is_sum else best + own
        if self._speaks_for_text:
            at = np.full_like(at, WHOLE_TEXT)
        at = np.where((said > 0) & (said >= best), OWN_WORD, at)
        return np.where(weights > 0, at, NOTHING).astype(np.int32)

    def _own(self, read: ReadTexts, terms: Int32s) -> Float32s:
        """What the text's own words add to each term."""
        added = np.zeros(self.meta.n_terms, np.float32)
        if self._own_amounts is not None:
            added[read.bags.terms] = self._own_amounts[read.bags.terms] * read.bags.weights
        return added[terms]


def are_rows(texts: NDArray[Any], terms: NDArray[Any], weights: NDArray[Any], n_terms: int) -> bool:
    """Whether these are entries of terms that there are, ascending text by text. What a graph says is as much its
    maker's as any file, and becomes vectors that are believed because they were made here."""
    whole = texts.dtype.kind in "iu" and terms.dtype.kind in "iu" and weights.dtype.kind == "f"
    if not whole or not texts.shape == terms.shape == weights.shape == (terms.size,):
        return False
    if not len(terms):
        return True
    same, grows = texts[1:] == texts[:-1], terms[1:] > terms[:-1]
    ascends = bool(((same & grows) | (texts[1:] > texts[:-1])).all())
    return ascends and int(terms.min()) >= 0 and int(terms.max()) < n_terms


def _joined(rows: Sequence[tuple[Int32s, Float32s]]) -> Rows:
    indptr = np.cumsum([0, *(len(terms) for terms, _ in rows)], dtype=np.int64)
    terms = np.concatenate([NO_ROW[0], *(terms for terms, _ in rows)])
    return Rows(indptr, terms, np.concatenate([NO_ROW[1], *(weights for _, weights in rows)]))


def open_graph(
    model: Path, bits: int, vocabulary: Vocabulary | None = None, threads: int | None = None
) -> GraphNetwork:
    """The model at `model`, whose inference form is there, in so many bits; in 32 where its graph of 8 was not kept.
    Without a `vocabulary`, its own is read. Raises `MixedVersionsError` where the form is of another model."""
    form = form_beside(known_as(model))

    def load(pinned: Path) -> GraphNetwork:
        return read_pinned(form, lambda folder: _open_graph(pinned, folder, bits, vocabulary, threads))

    return read_pinned(model, load)


def _open_graph(
    model: Path, folder: Path, bits: int, vocabulary: Vocabulary | None, threads: int | None
) -> GraphNetwork:
    check_form(folder, (KIND, FORMAT_VERSION), model)
    facts = read_facts(folder)
    if not (folder / GRAPHS[bits]).is_file():
        bits = 32
    if vocabulary is None:
        vocabulary = Vocabulary(StringTable(model, "terms"))
    return GraphNetwork(model, folder, facts, open_session(folder / GRAPHS[bits]), vocabulary, threads)

"""A table of queries distilled from a model that writes them: for each term what it weighs and brings on average.

The model encodes training queries. A term that it adds was brought by the token with the term's largest logit, hence by
that token's word; a query's own words bring themselves. What a term brings is averaged over all queries that have it, 0
where it was not brought, so that the rows of a query's terms add up to what the model writes on average. A term of
fewer than three queries is encoded as a query of its own.
"""

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lexigraft.core.array_types import Float32s, Float64s, Int64s
from lexigraft.core.errors import SettingError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import require_same_vocabulary
from lexigraft.inference.meta import BY_MODEL, OF_SUBWORDS, read_meta
from lexigraft.inference.reading import ReadTexts, read_queries
from lexigraft.model.backbone import default_device
from lexigraft.model.encoder import SparseEncoder, open_encoder
from lexigraft.model.inputs import inputs_of
from lexigraft.model.term_origins import HeavyTerms, heaviest_terms, names_tokens
from lexigraft.stages.find_model import find_model
from lexigraft.vocab.aligned import NOT_POOLED, AlignedTexts
from lexigraft.vocab.bags import WeightedBags
from lexigraft.vocab.lexicon import Lexicon
from lexigraft.vocab.lookup import TableRows
from lexigraft.vocab.reader import TextReader
from lexigraft.vocab.term_additions import TermAdditions, expanding_table

FEWEST_QUERIES = 3  # with a term, for an average
HEAVIEST = 96  # terms of a query, where the model itself cuts nothing
READ_AT_ONCE, CPU_BATCH, GPU_BATCH = 4096, 64, 512

log = logging.getLogger(__name__)


def table_source(named: str, vocab_fingerprint: str) -> Path:
    """The model that `model.table_source` names, a folder or a run with one, which must write queries in this
    vocabulary."""
    path = find_model(Path(named))
    meta = read_meta(path)
    if meta.queries != BY_MODEL or not meta.query_length:
        writes = "was not fine-tuned" if meta.queries == BY_MODEL else f"has model.queries = {meta.queries!r}"
        raise SettingError(
            f"model.table_source = {named!r} {writes}: no model writes its queries, so nothing can be learned of them; "
            "name one that was fine-tuned with model.queries = model, or set model.table_terms to 0"
        )
    require_same_vocabulary(f"the model at {path}", meta.vocab_fingerprint, "this model", vocab_fingerprint)
    return path


def distilled_table(
    source: Path, lexicon: Lexicon, queries: list[str], n_added: int, progress: Progress = SILENT
) -> TableRows:
    """What each term stands for by the model at `source` (`table_source`): itself, and at most `n_added` others. Terms
    that it gives no weight of their own get one in proportion to their IDF."""
    encoder = open_encoder(source).to(default_device())
    distillation = _Distillation(encoder, queries, n_added)
    distillation.read_queries(queries, progress)
    distillation.read_lone_terms(progress)
    table = expanding_table(distillation.own_weights(lexicon.idf), *distillation.additions(), n_added)
    log.info("table of queries: %d terms bring %d others", table.n_terms, len(table.terms) - table.n_terms)
    return table


class _Distillation:
    """Own weights and additions of all terms, on the way."""

    def __init__(self, encoder: SparseEncoder, queries: list[str], n_added: int) -> None:
        self._encoder, self._reader = encoder, encoder.reader()
        n_terms = len(encoder.vocabulary)
        self._n_queries = _queries_with_terms(self._reader, queries, n_terms)
        if not names_tokens(encoder):
            self._n_queries[:] = 0  # nobody can say which word brought a term of a query: each is asked alone
        self._alone = self._n_queries < FEWEST_QUERIES
        self._own_sums = np.zeros(n_terms, np.float64)
        self._additions = TermAdditions(n_terms, n_added)

    def read_queries(self, queries: list[str], progress: Progress) -> None:
        """Add up what each term of enough queries weighs in them and brings."""
        if self._alone.all():
            return
        for start in progress.track(range(0, len(queries), READ_AT_ONCE), "table of queries"):
            some = queries[start : start + READ_AT_ONCE]
            read = read_queries(self._reader, some, self._encoder.meta.query_length)
            for places, found in _encoded(self._encoder, read):
                origins = _origins(read, places, found, len(self._encoder.vocabulary))
                known = (origins >= 0) & ~self._alone[origins]
                self._add(origins[known], found.terms[known], found.weights[known])

    def read_lone_terms(self, progress: Progress) -> None:
        """Encode each term of too few queries as a query of its own, all of which it brings."""
        rare = np.flatnonzero(self._alone)
        self._n_queries[rare] = 1
        for start in progress.track(range(0, len(rare), READ_AT_ONCE), "rare terms"):
            terms = rare[start : start + READ_AT_ONCE]
            terms, read = _lone_terms(self._encoder, self._reader, terms)
            for places, found in _encoded(self._encoder, read):
                self._add(terms[places[found.rows]], found.terms, found.weights)

    def own_weights(self, idf: Float64s) -> Float64s:
        """The mean weight of each term in queries that have it; in proportion to its IDF where that is 0."""
        own = self._own_sums / self._n_queries
        silent = own <= 0
        by_idf = idf / idf.mean() * (own[~silent].mean() if not silent.all() else 1.0)
        return np.where(silent, by_idf, own)

    def additions(self) -> tuple[Int64s, Int64s, Float64s]:
        """(terms, what each brought, its mean weight)."""
        terms, brought, sums = self._additions.sums()
        return terms, brought, sums / self._n_queries[terms]

    def _add(self, origins: Int64s, terms: Int64s, weights: Float32s) -> None:
        own = origins == terms
        self._own_sums += np.bincount(terms[own], weights[own], len(self._own_sums))
        self._additions.add(origins[~own], terms[~own], weights[~own])


def _queries_with_terms(reader: TextReader, queries: list[str], n_terms: int) -> Int64s:
    counts = np.zeros(n_terms, np.int64)
    for start in range(0, len(queries), READ_AT_ONCE):
        counts += np.bincount(reader.read_bags(queries[start : start + READ_AT_ONCE]).terms, minlength=n_terms)
    return counts


def _encoded(encoder: SparseEncoder, read: ReadTexts) -> Iterator[tuple[Int64s, HeavyTerms]]:
    """Texts by their length, some at a time: (their places in `read`, their heaviest terms)."""
    device, pad_id = encoder.head.weight.device, encoder.tokenizer.special.pad
    order = np.argsort(np.diff(read.aligned.indptr), kind="stable")
    at_once = CPU_BATCH if device.type == "cpu" else GPU_BATCH
    for start in range(0, len(order), at_once):
        places = order[start : start + at_once]
        inputs = inputs_of(read, places, pad_id, device)
        yield places, heaviest_terms(encoder, inputs, encoder.meta.query_terms or HEAVIEST)


def _origins(read: ReadTexts, places: Int64s, found: HeavyTerms, n_terms: int) -> Int64s:
    """The term that brought each of the terms `found` in the texts at `places`: itself where it is the text's own, else
    that of the word with its largest logit; less than 0 where that word is no term."""
    texts = places[found.rows]
    brought = read.aligned.terms[read.aligned.indptr[texts] + found.positions].astype(np.int64)
    bags = read.bags
    own_pairs = np.repeat(np.arange(len(read)), np.diff(bags.indptr)) * n_terms + bags.terms
    own = np.isin(texts * n_terms + found.terms, own_pairs)
    return np.where(own, found.terms, brought)


def _lone_terms(encoder: SparseEncoder, reader: TextReader, terms: Int64s) -> tuple[Int64s, ReadTexts]:
    """(terms, each as the one word of a query); words that are not read as their term are left out."""
    if encoder.meta.head in OF_SUBWORDS:
        return terms, _lone_subwords(encoder, terms)
    names = [encoder.vocabulary.terms[term] for term in terms.tolist()]
    bags = reader.read_bags(names)
    first = np.concatenate((bags.terms, [-1]))[bags.indptr[:-1]]
    as_asked = (np.diff(bags.indptr) == 1) & (first == terms)
    kept = [name for name, right in zip(names, as_asked.tolist(), strict=True) if right]
    return terms[as_asked], read_queries(reader, kept, encoder.meta.query_length)


def _lone_subwords(encoder: SparseEncoder, terms: Int64s) -> ReadTexts:
    """A subword need not be what a tokenizer makes of its spelling, so it is not spelt."""
    special = encoder.tokenizer.special
    begin, end = special.begin, special.end
    subwords = np.stack([np.full(len(terms), begin), terms, np.full(len(terms), end)], axis=1)
    said = np.stack([np.full(len(terms), NOT_POOLED), terms, np.full(len(terms), NOT_POOLED)], axis=1)
    words = np.tile([-1, 0, -1], len(terms))
    indptr = 3 * np.arange(len(terms) + 1)
    flat = (subwords.ravel().astype(np.int32), said.ravel().astype(np.int32), words.astype(np.int32))
    bags = WeightedBags(np.arange(len(terms) + 1), terms.astype(np.int32), np.ones(len(terms), np.float32))
    return ReadTexts(AlignedTexts(indptr, *flat), bags)

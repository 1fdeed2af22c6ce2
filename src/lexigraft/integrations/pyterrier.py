"""PyTerrier: a retriever, encoders of queries and of documents, and an indexer. None of them starts Java."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lexigraft.core.config import load_settings
from lexigraft.core.cut import DocumentCut, QueryCut
from lexigraft.core.errors import InputError, SettingError, require
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Document
from lexigraft.integrations.addresses import shown_path
from lexigraft.integrations.encoding import BATCH_SIZE, RowEncoder, require_texts
from lexigraft.integrations.found import (
    Placed,
    documents_of_rows,
    documents_of_texts,
    hits_of_rows,
    open_retriever,
    read_in_order,
    require_encoder,
    require_fields,
    row_of,
    value_of,
)
from lexigraft.integrations.indexing import TEXT, TITLE, TOKS, Record, index_records, is_missing
from lexigraft.integrations.missing import missing_framework
from lexigraft.retrieve.finding import Asked
from lexigraft.retrieve.many_queries import AT_ONCE, DEPTH
from lexigraft.retrieve.retriever import Retriever
from lexigraft.retrieve.sparse_encoder import SparseEncoder
from lexigraft.search.overlap import TERMS

try:
    import pandas as pd
    import pyterrier as pt
except ImportError as error:
    raise missing_framework("lexigraft.integrations.pyterrier", "pyterrier", "pyterrier", error) from error

QUERY, QUERY_TOKS = "query", "query_toks"
OWN_COLUMNS = ("qid", QUERY, QUERY_TOKS, "docno", "score", "rank")  # of results, whatever documents have

Item = TypeVar("Item")


class Bars:
    """Progress as PyTerrier shows it."""

    def track(self, items: Iterable[Item], label: str, total: int | None = None) -> Iterator[Item]:
        yield from pt.tqdm(items, desc=label, total=total)


def _progress(verbose: bool) -> Progress:
    return Bars() if verbose else SILENT


class LexigraftRetriever(pt.Transformer):
    """Queries (qid, query) to results (qid, query, docno, score, rank).

    `path`: a run, an index, a live index, a saved retriever or an engine's address, as `lexigraft.Retriever.open` takes
    it with `system`, `qk` and `dk`; or a `Retriever` that is open. `where`: conditions on metadata. `fields`: columns
    to add of each document: title, text, or keys of its metadata. Queries that have query_toks, {term: weight}, are
    searched by these. `threads`: 0 is one for each core. It can be copied to other processes, which open it again.
    """

    def __init__(
        self, path: str | Path | Retriever, k: int = DEPTH, *, system: str | None = None, qk: QueryCut | None = None,
        dk: DocumentCut | None = None, where: str | Sequence[str] = (), overlap: float = 0.0,
        fields: Sequence[str] = (), threads: int = 0, verbose: bool = False,
    ) -> None:  # fmt: skip
        self.path, self.k, self.system, self.qk, self.dk = path, k, system, qk, dk
        self.where, self.overlap, self.threads, self.verbose = where, overlap, threads, verbose
        self.fields = (fields,) if isinstance(fields, str) else tuple(fields)
        for field in self.fields:
            if field in OWN_COLUMNS:
                raise InputError(f"{field!r} is a column of PyTerrier's own; leave it out of fields, or rename the key")
        require(isinstance(k, int) and k > 0, "k", k, "a whole number from 1 on")
        self._opened: tuple[object, Retriever] | None = None
        require_fields(self._retriever, self.fields)

    @property
    def _retriever(self) -> Retriever:
        """What the attributes say; `pt.GridSearch` changes them."""
        said = self.path, self.system, self.qk, self.dk
        if self._opened is None or self._opened[0] != said:
            self._opened = said, open_retriever(*said)
        return self._opened[1]

    def transform(self, inp: "pd.DataFrame") -> "pd.DataFrame":
        with pt.validate.any(inp) as given:
            given.query_frame(extra_columns=[QUERY_TOKS], mode=QUERY_TOKS)
            given.query_frame(extra_columns=[QUERY], mode=QUERY)
        if given.mode == QUERY and len(inp):
            require_encoder(self._retriever)
        queries = list(zip(inp["qid"], inp[given.mode], strict=True))
        found: list[list[tuple[Any, ...]]] = []
        bars, starts = _progress(self.verbose), range(0, len(queries), AT_ONCE)
        for start in bars.track(starts, str(self), len(starts)):
            some = queries[start : start + AT_ONCE]
            found += self._by_toks(some) if given.mode == QUERY_TOKS else self._by_text(some)
        return self._results(inp, found)

    def _by_text(self, queries: Sequence[tuple[Any, Any]]) -> list[list[tuple[Any, ...]]]:
        for qid, query in queries:
            if not isinstance(query, str):
                raise InputError(f"query {qid!r} is {query!r}; give a string, which may be empty")
        texts = [query for _, query in queries]
        if not self.fields:
            many = self._retriever.search_many(texts, self.k, self.where, self.overlap, 0, self.threads)
            return [[(hit.doc_id, hit.score) for hit in hits] for hits in many]
        return self._shown(documents_of_texts(self._retriever, texts, self._asked, self.threads))

    def _by_toks(self, queries: Sequence[tuple[Any, Any]]) -> list[list[tuple[Any, ...]]]:
        for qid, weights in queries:
            if not isinstance(weights, Mapping):
                raise InputError(f"query {qid!r} has {weights!r:.100} as {QUERY_TOKS}; give {{term: weight}}")
        retriever, asked = self._retriever, self._asked
        rows = [row_of(retriever, weights) for _, weights in queries]
        if self.fields:
            return self._shown(documents_of_rows(retriever, rows, asked, self.threads))
        many = hits_of_rows(retriever, rows, asked, self.threads)
        return [[(hit.doc_id, hit.score) for hit in hits] for hits in many]

    @property
    def _asked(self) -> Asked:
        return Asked(self.k, self.where, self.overlap, 0, TERMS)

    def _shown(self, found: Sequence[Sequence[Any]]) -> list[list[tuple[Any, ...]]]:
        """Of each query's documents the id, the score and all fields."""
        if TITLE in self.fields or TEXT in self.fields:
            read_in_order(one for documents in found for one in documents if isinstance(one, Placed))
        return [
            [(one.doc_id, one.score, *(value_of(one, field) for field in self.fields)) for one in documents]
            for documents in found
        ]

    def _results(self, inp: "pd.DataFrame", found: list[list[tuple[Any, ...]]]) -> "pd.DataFrame":
        """One row a document, with all columns of its query."""
        counts, rows = [len(hits) for hits in found], [hit for hits in found for hit in hits]
        results = inp.iloc[np.repeat(np.arange(len(inp)), counts)].reset_index(drop=True)
        results["docno"] = pd.Series([row[0] for row in rows], dtype=str)
        results["score"] = pd.Series([row[1] for row in rows], dtype=float)
        ranks = [rank for count in counts for rank in range(pt.model.FIRST_RANK, pt.model.FIRST_RANK + count)]
        results["rank"] = pd.Series(ranks, dtype=int)
        for place, field in enumerate(self.fields, 2):
            results[field] = pd.Series([row[place] for row in rows], dtype=object)
        return results

    def fuse_rank_cutoff(self, k: int) -> "LexigraftRetriever | None":
        """A pipeline that is compiled asks for no more documents than it keeps."""
        return None if k >= self.k else _with(self, k=k)

    def __getstate__(self) -> dict[str, Any]:
        if isinstance(self.path, Retriever):
            raise SettingError(f"{self.path.name} is open in this process; give its path to send it to another one")
        return {**vars(self), "_opened": None}

    def __repr__(self) -> str:
        named = ("k", "system", "qk", "dk", "where", "overlap", "fields")
        said = ", ".join(f"{name}={getattr(self, name)!r}" for name in named)
        return f"LexigraftRetriever({shown_path(self.path)!r}, {said})"


def _with(retriever: LexigraftRetriever, **changed: Any) -> LexigraftRetriever:
    """The same with other attributes, over what is open already."""
    made: LexigraftRetriever = LexigraftRetriever.__new__(LexigraftRetriever)
    made.__dict__.update({**vars(retriever), **changed})
    return made


class _Encoder(pt.Transformer):
    """What encoders of queries and documents have in common. `scale`: weights become whole numbers, each the weight
    times this, rounded; 0 leaves them as they are."""

    are_queries: bool

    def __init__(
        self, model: str | Path | SparseEncoder, *, keep: QueryCut = 0, scale: float = 0, batch_size: int = BATCH_SIZE,
        verbose: bool = False,
    ) -> None:  # fmt: skip
        require(0 <= scale < float("inf"), "scale", scale, "0 (weights as they are), or what weights are multiplied by")
        self.model, self.keep, self.scale, self.verbose = model, keep, scale, verbose
        self.batch_size = batch_size  # pipelines that index read so many documents at a time
        self._rows = RowEncoder(model, self.are_queries, keep, batch_size)
        self._rows.open()

    def encoded(self, texts: list[Any]) -> list[dict[str, float]]:
        rows = self._rows.named(self._rows.rows(texts, _progress(self.verbose)))
        return [self._scaled(row) for row in rows] if self.scale else list(rows)

    def _scaled(self, row: dict[str, float]) -> dict[str, float]:
        found = {term: round(weight * self.scale) for term, weight in row.items()}
        return {term: weight for term, weight in found.items() if weight}

    def __repr__(self) -> str:
        model = self.model
        shown = f"an encoder of {len(model.vocabulary)} terms" if isinstance(model, SparseEncoder) else os.fspath(model)
        return f"{type(self).__name__}({shown!r}, keep={self.keep!r}, scale={self.scale!r})"


class LexigraftQueryEncoder(_Encoder):
    """Adds query_toks, {term: weight}, to queries, as the model (or the run's) writes them."""

    are_queries = True

    def transform(self, inp: "pd.DataFrame") -> "pd.DataFrame":
        pt.validate.columns(inp, includes=[QUERY])
        return inp.assign(**{QUERY_TOKS: pd.Series(self.encoded(inp[QUERY].tolist()), inp.index, dtype=object)})


class LexigraftDocumentEncoder(_Encoder):
    """Adds toks, {term: weight}, to documents, as the model writes them: by their text, after the title where they have
    one. PISA multiplies weights by its toks_scale, which is 100: give it toks_scale=1 for what was scaled here."""

    are_queries = False

    def transform(self, inp: "pd.DataFrame") -> "pd.DataFrame":
        pt.validate.columns(inp, includes=[TEXT])
        texts = inp[TEXT].tolist()
        if TITLE in inp.columns:
            titles = inp[TITLE].tolist()
            require_texts(texts)
            both = zip(("" if is_missing(title) else title for title in titles), texts, strict=True)
            texts = [Document("", title, text).contents for title, text in both]
        return inp.assign(**{TOKS: pd.Series(self.encoded(texts), inp.index, dtype=object)})


class LexigraftIndexer(pt.Indexer):
    """Documents {docno, text, title, ...} to an index at `path`, which `LexigraftRetriever` and all of Lexigraft open.

    By BM25, or by the model at `model`, or that of the run there. Documents that have toks are indexed by these. What
    else they have are metadata, for `where` and `fields`. `dk`: terms kept of each document. `set`: settings by their
    full names, such as {"lexical.k1": 0.9}.
    """

    def __init__(
        self, path: str | Path, *, model: str | Path | None = None, dk: DocumentCut = 0, overwrite: bool = False,
        set: Mapping[str, Any] | None = None, verbose: bool = False,
    ) -> None:  # fmt: skip
        self.path, self.model, self.dk, self.overwrite = os.fspath(path), model, dk, overwrite
        self.verbose, self._settings = verbose, load_settings(values=set)

    def index(self, iter: Iterable[Record]) -> str:
        """Consume the documents; returns the path."""
        model, bars = None if self.model is None else Path(self.model), _progress(self.verbose)
        index_records(iter, Path(self.path), model, self.dk, self.overwrite, self._settings, bars)
        return self.path

    def index_inputs(self) -> list[list[str]]:
        """The columns that documents may have, for `pt.inspect`."""
        return [["docno", TEXT], ["docno", TOKS]]

    def __repr__(self) -> str:
        return f"LexigraftIndexer({self.path!r}, model={self.model!r}, dk={self.dk!r})"

"""A collection of an engine that scales, opened to be asked: queries are encoded here, and found there."""

import logging
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from math import isclose
from pathlib import Path

from lexigraft.core.cut import QueryCut
from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.engines import opening
from lexigraft.engines.address import Address, parse_address
from lexigraft.engines.backoff import with_retries
from lexigraft.engines.engine import Description, Engine, EngineHit
from lexigraft.engines.searching import search_engine
from lexigraft.explain.contributions import explain
from lexigraft.retrieve.answer import Answer, FoundDocument, found_documents
from lexigraft.retrieve.finding import Asked, weighted_terms
from lexigraft.retrieve.hits import Hit
from lexigraft.retrieve.loaded_place import place_behind, require_fits
from lexigraft.retrieve.opened import Opened, Row
from lexigraft.retrieve.plain_document import PlainDocument
from lexigraft.search.batch import answer_all
from lexigraft.search.conditions import parse_condition
from lexigraft.search.live import Place as FoundPlace

SAME_SCORE = 1e-6  # of two computations of one sum, as a share of it

log = logging.getLogger(__name__)


class OpenedEngine:
    """`local` encodes queries, and shows and explains those documents that it has with the score that was found. Safe
    from many threads."""

    def __init__(
        self, engine: Engine, address: Address, encoder: Path | None, system: str | None, qk: QueryCut | None
    ) -> None:
        self.engine, self._address, self._given = engine, address, (encoder, system, qk)
        self.description = description_of(engine, address)
        _warn_of_missing(self.description, address)
        place = place_behind(self.description, str(address), *self._given)
        if place.kind:
            raise SettingError(
                f"{place.name} is a {place.kind} system, which writes no terms; name one that does, such as bm25 "
                "(system=NAME)"
            )
        self.local = Opened(replace(place, name=str(address)))
        require_fits(self.local, self.description, str(address), encoder is not None)
        self.place = self.local.place
        self.passages = self.description.passages

    @property
    def n_documents(self) -> int:
        return with_retries(self.engine.count)

    @property
    def keeps_texts(self) -> bool:
        return self.local.keeps_texts

    def again(self) -> "OpenedEngine":
        """The same, as it is now, by the same connection."""
        return OpenedEngine(self.engine, self._address, *self._given)

    def close(self) -> None:
        self.engine.close()

    def hits(self, queries: Sequence[str], asked: Asked, threads: int = 0) -> list[list[Hit]]:
        """The best documents of every query, in order, asked for by so many threads."""
        rows = self.local.encode_all(list(queries))

        def one(at: int) -> list[Hit]:
            return [Hit(rank, *hit) for rank, hit in enumerate(self._found(rows[at], asked), 1)]

        return answer_all(one, len(rows), threads)

    def answer(self, query: str, asked: Asked) -> Answer:
        """The same of one query, with what the local index says of the documents."""
        row = self.local.encode(query)
        searched = self.local.cut(row)
        shown = documents_of(self.local, searched, self._found(row, asked))
        return Answer(query, tuple(weighted_terms(self.local, query, searched)), shown, self.keeps_texts)

    def _found(self, row: Row, asked: Asked) -> list[EngineHit]:
        self._require_plain(asked)
        return find_in(self.engine, self.description, self.local.cut(row), asked)

    def _require_plain(self, asked: Asked) -> None:
        given = {"overlap": bool(asked.overlap), "two_step": bool(asked.two_step)}
        if wrong := next((name for name, is_given in given.items() if is_given), ""):
            raise SettingError(
                f"{self._address} is searched by its engine, which knows no {wrong}; leave it out, or search the local "
                f"index: {self.place.index}"
            )


def find_in(engine: Engine, description: Description, searched: Row, asked: Asked) -> list[EngineHit]:
    """The best documents for a vector, as it is searched."""
    where = (asked.where,) if isinstance(asked.where, str) else tuple(asked.where)
    return search_engine(engine, description, searched, asked.k, [parse_condition(text) for text in where])


def documents_of(local: Opened, searched: Row, hits: Sequence[EngineHit]) -> tuple[FoundDocument | PlainDocument, ...]:
    """What an engine found, in order, with what the local index has to show of it."""
    return tuple(_document(local, searched, rank, hit) for rank, hit in enumerate(hits, 1))


def _document(local: Opened, searched: Row, rank: int, hit: EngineHit) -> FoundDocument | PlainDocument:
    """What the local index has with another score, or not at all, is not what the engine found."""
    if local.index.holds(hit.row_id):
        segment = local.index.segment_of(hit.row_id)
        why = explain(segment.index, *searched, hit.row_id)
        if isclose(why.score, hit.score, rel_tol=SAME_SCORE):
            place = FoundPlace(hit.row_id, hit.score, segment, why.doc_ordinal)
            (document,) = found_documents(local, searched, [place], [why])
            return replace(document, rank=rank)
    return PlainDocument(rank, hit.row_id, hit.score, hit.title)


def description_of(engine: Engine, address: Address) -> Description:
    """What a collection was loaded from; an error where there is none. It is the first thing that an engine is asked,
    and not asked again where it does not answer: whoever mistyped an address should not wait to hear of it."""
    found = engine.describe()
    if found is None:
        raise ArtifactError(
            f"there is no collection at {address} that Lexigraft loaded; load one: lexigraft engine load --run RUN "
            f"--to {address}"
        )
    return found


def _warn_of_missing(description: Description, address: Address) -> None:
    if not description.is_complete:
        log.warning(
            "%s has %s of %s rows: its load was stopped; the command that began it goes on with it",
            address, f"{description.n_loaded:,}", f"{description.n_rows:,}",
        )  # fmt: skip


def open_at(text: str, encoder: Path | None, system: str | None, qk: QueryCut | None) -> OpenedEngine:
    """The collection at an address, as a user writes it."""
    address = parse_address(text)
    engine = opening.open_engine(address)
    try:
        return OpenedEngine(engine, address, encoder, system, qk)
    except BaseException:
        engine.close()
        raise


def local_index_of(address: Address) -> Path:
    """Where the index lies that was loaded into a collection."""
    with closing(opening.open_engine(address)) as engine:
        return Path(description_of(engine, address).index)

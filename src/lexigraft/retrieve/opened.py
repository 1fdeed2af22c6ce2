"""One state of an index with the encoder that fits it: what a retriever searches until it is opened anew."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TypeVar
from weakref import WeakMethod

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.artifact import read_manifest
from lexigraft.core.errors import ArtifactError, MixedVersionsError
from lexigraft.core.pinned import where_it_stands
from lexigraft.core.processes import usable_cores
from lexigraft.core.types import Explanation
from lexigraft.explain.contributions import explain
from lexigraft.explain.origins import Origins
from lexigraft.index.inverted import Index
from lexigraft.index.live.queries import open_live_encoder
from lexigraft.index.live.reader import LiveIndex, open_live
from lexigraft.index.live.state import is_live
from lexigraft.index.metadata import Metadata, metadata_of_live, open_metadata
from lexigraft.index.metadata_values import Value
from lexigraft.index.shared_texts import SharedTexts, open_shared_texts
from lexigraft.index.store import open_index
from lexigraft.index.texts import KeptText
from lexigraft.retrieve.grafted_words import open_origins
from lexigraft.retrieve.lanes import Lanes
from lexigraft.retrieve.matched_words import WordReader
from lexigraft.retrieve.place import Place, require_made_of
from lexigraft.search.conditions import parse_condition
from lexigraft.search.filters import filter_masks
from lexigraft.search.live import LiveSearcher
from lexigraft.vectors.prune import prune_row
from lexigraft.vectors.query_encoder import QueryEncoder
from lexigraft.vectors.store import open_vectors

MOST_FILTERS = 32  # sets of conditions whose masks are remembered

Row = tuple[NDArray[np.int32], NDArray[np.float32]]
Call = TypeVar("Call", bound="Callable[..., object]")

log = logging.getLogger(__name__)


def open_searchable(path: Path) -> LiveIndex:
    """The index at `path`: the newest state of a live one, or a plain one as a single segment."""
    return open_live(path) if is_live(path) else LiveIndex.of_index(open_index(path))


def _weakly(method: Call) -> Callable[[], Call]:
    """A method for what belongs to its object: the two make no circle, so the files of an index are closed when nobody
    has it any more, and not at some later collection of garbage."""
    held = WeakMethod(method)

    def found() -> Call:
        method = held()
        assert method is not None, "what belongs to an open index is used only while that is"
        return method

    return found


class Opened:
    """Everything a search needs, opened when first asked for and kept. Safe from many threads: what is opened never
    changes, and an encoder is used by one thread at a time; `encoders` may be open at once, for as many threads, where
    it is 0 one for every core. Another one is opened when all are busy."""

    def __init__(self, place: Place, method: str = "auto", encoders: int = 0) -> None:
        self.place, self._method = place, method
        self.index = open_searchable(place.index)
        self._lock, self._opening = Lock(), Lock()
        self._is_first_given = False
        open_encoder, own_terms = _weakly(self._open_encoder), _weakly(self.own_terms)
        self.encoders: Lanes[QueryEncoder] = Lanes(lambda: open_encoder()(), encoders or usable_cores())
        self._searchers: dict[tuple[float, int], LiveSearcher] = {}
        self._masks: dict[tuple[str, ...], Sequence[NDArray[np.uint8]]] = {}
        self.words = WordReader(lambda word: own_terms()(word).tolist())

    @property
    def is_model(self) -> bool:
        """Whether a model wrote the documents' vectors, and not BM25."""
        return self.index.query_encoder.get("kind") == "model"

    @property
    def fingerprint(self) -> str:
        """Of the plain index that is open; empty of a live one."""
        return self.index.segments[0].index.fingerprint if self._is_plain else ""

    @property
    def parents(self) -> Mapping[str, str]:
        """What the plain index that is open was made of; nothing is said of a live one."""
        return self.index.segments[0].index.parents if self._is_plain else {}

    @property
    def _is_plain(self) -> bool:
        return not self.index.generation

    def is_outdated(self) -> bool:
        """Whether a writer has put another plain index in the place of the one that is open."""
        found = read_manifest(where_it_stands(self.place.index)) if self._is_plain else None
        return found is not None and found.fingerprint != self.fingerprint

    @cached_property
    def encoder(self) -> QueryEncoder:
        """To be looked at; what encodes is one of `encoders`, which no other thread uses."""
        return open_live_encoder(self.index, self.place.index)

    def _open_encoder(self) -> QueryEncoder:
        """The one that everybody knows, once: then others like it. Two threads may ask for their first at one time."""
        with self._opening:
            is_first, self._is_first_given = not self._is_first_given, True
            return self.encoder if is_first else open_live_encoder(self.index, self.place.index)

    @cached_property
    def whole(self) -> LiveIndex:
        """The index of whole vectors, by which a second pass is explained."""
        if self.place.whole == self.place.index:
            return self.index
        whole = open_searchable(self.place.whole)
        made_of = whole.segments[0].index.parents
        if not whole.generation and made_of.get("vectors") != self.parents.get("vectors"):
            raise MixedVersionsError(
                f"{self.place.index} and {self.place.whole} were made of different vectors; continue the run, which "
                "makes both anew"
            )
        return whole

    @cached_property
    def origins(self) -> Origins | None:
        """Where the words of the plain index that is open come from; None where that is not known."""
        return open_origins(self.place, self.index.segments[0].index) if self._is_plain else None

    def explain(self, row: Row, doc_id: str) -> Explanation:
        """What each term of a vector, as it is searched, adds to a document's score, and where that comes from."""
        index = self.index.segment_of(doc_id).index
        why = explain(index, *row, doc_id)
        if self.origins is None:
            return why
        return replace(why, contributions=self.origins.explained(index, why.doc_ordinal, why.contributions))

    @cached_property
    def _shared_texts(self) -> SharedTexts | None:
        """None where there are none, or where they are of another state of the collection than the index is."""
        texts = None if self.place.texts is None else open_shared_texts(self.place.texts)
        if texts is not None and self._corpus not in ("", texts.corpus):
            log.warning("texts are not shown: %s was made anew since; open it again", self.place.name)
            return None
        return texts

    @property
    def _corpus(self) -> str:
        """The digest of the documents that the open index is of; empty where that is not known."""
        return self.index.segments[0].index.corpus if self._is_plain else ""

    @property
    def keeps_texts(self) -> bool:
        """Whether there is the text of at least one document."""
        return any(segment.index.texts is not None for segment in self.index.segments) or self._shared_texts is not None

    def text_of(self, index: Index, ordinal: int) -> KeptText | None:
        """What a row of a segment's index says; None where that is not kept."""
        if index.texts is not None:
            return index.texts.get(ordinal)
        shared = self._shared_texts
        return None if shared is None else shared.get(index.doc_ids[ordinal], ordinal)

    @cached_property
    def metadata(self) -> Metadata | None:
        """None where there are none, or none of these documents: that is no reason to show nothing else of them."""
        try:
            return self._open_metadata()
        except ArtifactError as error:
            log.warning("metadata are not shown: %s", error)
            return None

    def _open_metadata(self) -> Metadata | None:
        """Of a live index those of its open state; of a plain one those that lie beside it."""
        if not self._is_plain:
            return metadata_of_live(self.index)
        path = self.place.metadata
        return open_metadata(path, self.index.segments[0].index) if path.is_dir() else None

    def metadata_of(self, index: Index, ordinal: int) -> dict[str, Value]:
        """What is known of the document of a row beside its text; nothing where there are no metadata."""
        return {} if self.metadata is None else self.metadata.of_row(index, ordinal)

    def encode(self, text: str) -> Row:
        """The whole vector of a query."""
        with self.encoders.one() as encoder:
            return encoder.encode(text)

    def encode_all(self, texts: list[str]) -> list[Row]:
        """The whole vectors of many queries, computed in batches."""
        with self.encoders.one() as encoder:
            return encoder.encode_all(texts)

    def own_terms(self, text: str) -> NDArray[np.int32]:
        """The terms that a query's text itself holds, each once, in order."""
        with self.encoders.one() as encoder:
            # for so few, np.unique takes ten times as long, and imports masked arrays at its first call
            return np.array(sorted(set(encoder.own_terms(text).tolist())), np.int32)

    def cut(self, row: Row) -> Row:
        """A query's vector as the index is searched with it: its heaviest terms."""
        return prune_row(*row, self.place.qk)

    def searcher(self, overlap: float, two_step: int) -> LiveSearcher:
        """The searcher with this overlap threshold and this many candidates of a first pass (0: one pass)."""
        with self._lock:
            if (overlap, two_step) not in self._searchers:
                self._searchers[overlap, two_step] = self._open_searcher(overlap, two_step)
            return self._searchers[overlap, two_step]

    def _open_searcher(self, overlap: float, two_step: int) -> LiveSearcher:
        if not two_step:
            return LiveSearcher(self.index, self._method, overlap)
        vectors = self.place.vectors
        if vectors is None and is_live(self.place.index):
            return LiveSearcher(self.index, self._method, overlap, two_step, self.place.qk)
        if vectors is None or not vectors.is_dir():
            where = "" if vectors is None else f", and there are none at {vectors}"
            raise ArtifactError(
                f"a two-step search ranks by the documents' full vectors{where}; give a run, which keeps them, or the "
                "vectors of an index with vectors=PATH"
            )
        opened = open_vectors(vectors)
        require_made_of(self.parents, opened.fingerprint, self.place.index, vectors)
        return LiveSearcher(self.index, self._method, overlap, two_step, self.place.qk, [opened])

    def allowed(self, where: str | Sequence[str]) -> Sequence[NDArray[np.uint8]] | None:
        """Which rows of every segment fulfil all conditions; None where there is no condition."""
        asked = (where,) if isinstance(where, str) else tuple(where)
        if not asked:
            return None
        with self._lock:
            if asked not in self._masks:
                if len(self._masks) >= MOST_FILTERS:
                    self._masks.pop(next(iter(self._masks)))
                self._masks[asked] = self._make_masks(asked)
            return self._masks[asked]

    def _make_masks(self, where: Sequence[str]) -> Sequence[NDArray[np.uint8]]:
        conditions = [parse_condition(text) for text in where]
        metadata = vars(self).get("metadata") or self._open_metadata()  # those that are open are of this index
        if metadata is None:
            where_looked = f"at {self.place.metadata}" if self._is_plain else f"in {self.place.index}"
            raise ArtifactError(
                f"there are no metadata {where_looked} to filter by; make them of the collection or a file: lexigraft "
                f"index metadata {self.place.option} --data DATA, or --file FILE"
            )
        return filter_masks(metadata, conditions)

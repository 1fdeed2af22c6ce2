"""`Retriever`: texts to ranked and explained documents, over a run, an index or a live index."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self, TypeVar

from lexigraft.core.cut import DocumentCut, Keep, QueryCut
from lexigraft.core.errors import InputError, MixedVersionsError, SettingError
from lexigraft.core.settings import DataSettings, LexicalSettings, Settings, WordsSettings
from lexigraft.core.types import Document, Explanation, Vocabulary
from lexigraft.explain.contributions import explain
from lexigraft.index.live.state import is_live
from lexigraft.retrieve import saved
from lexigraft.retrieve.answer import Answer, answer_query
from lexigraft.retrieve.finding import Asked, find_hits, weighted_terms
from lexigraft.retrieve.given_texts import documents_of
from lexigraft.retrieve.hits import Hit, WeightedTerm
from lexigraft.retrieve.opened import Opened
from lexigraft.retrieve.opened_peer import OpenedPeer
from lexigraft.retrieve.place import Place, find_place
from lexigraft.retrieve.unknown_words import unknown_words
from lexigraft.search.batch import answer_all
from lexigraft.search.overlap import TERMS

ATTEMPTS = 10  # to open an index and its encoder while both are replaced

T = TypeVar("T")

log = logging.getLogger(__name__)


class Retriever:
    """An open index with the encoder that fits it.

    Made by `Retriever.open` of something on disk, or by `Retriever.from_texts` or `Retriever.from_file`. Searches may
    come from many threads at once. `add` and `delete` change a live index, and what this object searches with it; other
    objects see the change after `refresh`.
    """

    def __init__(self, place: Place, method: str = "auto", workspace: TemporaryDirectory[str] | None = None) -> None:
        self._place, self._method, self._workspace = place, method, workspace
        self._peer = OpenedPeer(place) if place.kind else None
        self._opened: Opened | None = None if place.kind else Opened(place, method)

    @classmethod
    def open(
        cls,
        path: str | Path,
        system: str | None = None,
        *,
        qk: QueryCut | None = None,
        dk: DocumentCut | None = None,
        vectors: str | Path | None = None,
        method: str = "auto",
    ) -> Self:
        """Open a run, an index, a live index or a saved retriever.

        Of a run, `system` is one of its systems: its learned model where none is named. It is searched at the operating
        point that validation queries chose for the run's cost budget; `qk` and `dk` (terms kept of a query and of a
        document, 0 for all; a qk below 1 keeps what weighs at least that share of the heaviest, and "m0.8" the fewest
        of the heaviest terms that have this share of the mass) choose another.
        `vectors` are those that an index was made of, for two-step searches.
        """
        place = find_place(Path(path), system, qk, dk, None if vectors is None else Path(vectors))
        retriever = cls(place, method)
        if not place.kind and retriever.opened.is_model and place.why:
            log.info("searching %s with %s", place.name, place.why)
        return retriever

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        ids: Iterable[str] | None = None,
        titles: Iterable[str] | None = None,
        settings: LexicalSettings | None = None,
        words: WordsSettings | None = None,
    ) -> Self:
        """Index texts by BM25 and open the result, a live index that lasts as long as this object, or longer by `save`.

        Without `ids`, documents are called "0", "1" and so on. `words` says how texts are cut into words, `settings`
        what BM25 makes of those.
        """
        return cls._of_documents(documents_of(texts, ids, titles), settings, words)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        fields: str = "",
        format: str = "auto",
        settings: LexicalSettings | None = None,
        words: WordsSettings | None = None,
    ) -> Self:
        """As `from_texts`, of the documents in a file or folder of any format that `lexigraft index --data` takes.

        `fields` says which field is what, such as "id=sku,title=name,text=description"; those that are not named are
        guessed. `format` is the file's where its name does not say it.
        """
        from lexigraft.data.sources import open_source  # searching must not wait for what reads collections
        from lexigraft.stages.collect import reading

        data = DataSettings(fields=fields, format=format)
        return cls._of_documents(open_source(str(path), reading(data)).documents(), settings, words)

    @classmethod
    def _of_documents(
        cls, documents: Iterable[Document], settings: LexicalSettings | None, words: WordsSettings | None
    ) -> Self:
        from lexigraft.retrieve import live_changes  # nor for what writes indexes

        workspace = TemporaryDirectory(prefix="lexigraft-")
        index = Path(workspace.name) / "index"
        read_by = replace(Settings(), lexical=settings or LexicalSettings(), words=words or WordsSettings())
        live_changes.begin_live_bm25(index, documents, read_by)
        return cls(find_place(index), workspace=workspace)

    @property
    def name(self) -> str:
        """What is searched, for people."""
        return self._place.name

    @property
    def operating_point(self) -> Keep:
        """(qk, dk): terms kept of a query and of a document; 0 keeps all, a qk below 1 is a share of the heaviest, and
        "m0.8" of the mass."""
        return self._place.qk, self._place.dk

    @property
    def n_documents(self) -> int:
        """How many documents can be found; of an index of passages, how many passages."""
        return self._peer.opened.n_documents if self._peer is not None else self._state().index.n_documents

    @property
    def in_passages(self) -> bool:
        """Whether documents were cut into passages, of which the best one gives a document its score."""
        return self._peer.opened.passages if self._peer is not None else self._state().index.passages

    @property
    def keeps_texts(self) -> bool:
        """Whether there is the text of at least one document."""
        return self._peer.keeps_texts if self._peer is not None else self._state().keeps_texts

    @property
    def vocabulary(self) -> Vocabulary:
        """The terms that queries and documents are written in."""
        return self._state().index.vocabulary

    def __len__(self) -> int:
        return self.n_documents

    def search(
        self,
        query: str,
        k: int = 10,
        where: str | Sequence[str] = (),
        overlap: float = 0.0,
        two_step: int = 0,
        overlap_of: str = TERMS,
    ) -> list[Hit]:
        """The k best documents; none where no word of the query is known.

        `where` is a condition on metadata, such as 'year >= 2020 and lang in ("de", "en")', or several that all must
        hold. `overlap`: only documents that hold this share of the query's terms or, with `overlap_of` = "words", of
        those that its text itself holds. `two_step`: so many candidates are ranked again by their full vectors.
        """
        asked = Asked(k, where, overlap, two_step, overlap_of)
        if self._peer is not None:
            return self._ask_peer(lambda peer: peer.hits([query], asked))[0]
        return self._ask(lambda state: find_hits(state, query, state.encode(query), asked))

    def search_many(
        self,
        queries: Sequence[str],
        k: int = 10,
        where: str | Sequence[str] = (),
        overlap: float = 0.0,
        two_step: int = 0,
        threads: int = 0,
        overlap_of: str = TERMS,
    ) -> list[list[Hit]]:
        """`search` for every query, in order: encoded in batches, then searched by so many threads; 0: one for each
        core. The results are the same with any number."""
        asked, texts = Asked(k, where, overlap, two_step, overlap_of), list(queries)
        if self._peer is not None:
            return self._ask_peer(lambda peer: peer.hits(texts, asked))

        def find(state: Opened) -> list[list[Hit]]:
            rows = state.encode_all(texts)
            return answer_all(lambda at: find_hits(state, texts[at], rows[at], asked), len(texts), threads)

        return self._ask(find)

    def answer(
        self,
        query: str,
        k: int = 10,
        where: str | Sequence[str] = (),
        overlap: float = 0.0,
        two_step: int = 0,
        overlap_of: str = TERMS,
    ) -> Answer:
        """`search`, with everything there is to show: the query's weighted terms and, of each document, the terms that
        matched, its text and the part of it that shows best why it was found, and its metadata. Texts and metadata are
        read when they are asked for. An index that keeps no texts answers without."""
        asked = Asked(k, where, overlap, two_step, overlap_of)
        if self._peer is not None:
            return self._ask_peer(lambda peer: peer.answer(query, asked))
        return self._ask(lambda state: answer_query(state, query, asked))

    def explain(self, query: str, doc_id: str) -> Explanation:
        """What each shared term adds to a document's score."""

        def take_apart(state: Opened) -> Explanation:
            return explain(state.index.segment_of(doc_id).index, *state.cut(state.encode(query)), doc_id)

        return self._ask(take_apart)

    def terms(self, text: str) -> list[WeightedTerm]:
        """The weighted terms that a text becomes as a query, heaviest first."""
        return self._ask(lambda state: weighted_terms(state, text, state.cut(state.encode(text))))

    def unknown_words(self, text: str) -> list[str]:
        """The words of a text that no term stands for, stop-words apart: they find nothing. Without terms, none."""
        return [] if self._peer is not None else self._ask(lambda state: unknown_words(state, text))

    def add(
        self,
        texts: Iterable[str],
        ids: Iterable[str] | None = None,
        titles: Iterable[str] | None = None,
        replacing: bool = False,
    ) -> int:
        """Add documents to a live index, all or none; returns how many. `replacing`: a document whose id is there
        takes the place of the old one, which is otherwise an error. Without `ids`, documents are numbered on."""
        from lexigraft.retrieve import live_changes

        live = self._require_live("added to")
        documents = documents_of(texts, ids, titles, first=self.n_documents)
        added = live_changes.add_documents(live, documents, Settings(), live_changes.Adding(replacing=replacing))
        self.refresh()
        return added.n_rows

    def delete(self, ids: Iterable[str]) -> int:
        """Delete documents of a live index by id: all, or none where one is unknown; returns how many."""
        from lexigraft.retrieve import live_changes

        live = self._require_live("deleted from")
        deleted = live_changes.delete_documents(live, list(ids))
        self.refresh()
        return deleted.n_documents

    def _require_live(self, what: str) -> Path:
        self._state()
        if not is_live(self._place.index):
            raise InputError(
                f"{self.name} is a plain index, which is not {what}; make a live one of it: lexigraft index live "
                f"{self._place.index} --out LIVE"
            )
        return self._place.index

    def refresh(self) -> None:
        """See what others have changed: a live index is opened in its newest state. Searches that have begun end with
        the state they began with."""
        if self._peer is not None:
            self._peer = OpenedPeer(self._place)
            return
        self._state()
        self._opened = Opened(self._place, self._method)

    def save(self, path: str | Path, replace: bool = False) -> None:
        """Write a folder of its own with the index, the model that encodes queries, and the operating point; it can be
        moved, and `Retriever.open` opens it. A folder that is there already is refused; with `replace`, a saved
        retriever there is replaced, and anything else is still refused."""
        self._state()
        place = self._place
        saved.save(place.index, place.metadata, place.texts, place.qk, place.why, Path(path), replace)

    def close(self) -> None:
        """Give back what is held; of `from_texts`, the files, too. A closed retriever cannot be searched."""
        self._opened = self._peer = None
        if self._workspace is not None:
            self._workspace.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, question: Callable[[Opened], T]) -> T:
        """What `question` finds in the state that is open. Its encoder and full vectors are opened when they are first
        needed: where a writer has replaced the index and these since, all are opened anew, and none are mixed."""
        for _ in range(ATTEMPTS):
            state = self._state()
            try:
                return question(state)
            except MixedVersionsError:
                if not state.is_outdated():
                    raise
                self._opened = Opened(self._place, self._method)
        return question(self._state())

    def _ask_peer(self, question: Callable[[OpenedPeer], T]) -> T:
        """The same of a system without terms."""
        for _ in range(ATTEMPTS):
            peer = self._peer
            assert peer is not None, "who asks has looked"
            try:
                return question(peer)
            except MixedVersionsError as error:
                mixed, self._peer = error, OpenedPeer(self._place)
        raise mixed

    def _state(self) -> Opened:
        opened = self._opened
        if self._peer is not None:
            raise InputError(
                f"{self.name} is a {self._place.kind} system, whose scores have no terms to list, explain or save; "
                "take a system of terms, such as bm25 or the run's model (--system)"
            )
        if opened is None:
            raise SettingError(f"the retriever of {self.name} was closed; open it again")
        return opened

    @property
    def place(self) -> Place:
        """Where the index and what belongs to it lies."""
        return self._place

    @property
    def opened(self) -> Opened:
        """The state that is searched now, with its encoder."""
        return self._state()

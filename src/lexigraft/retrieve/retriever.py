"""`Retriever`: texts to ranked and explained documents, over a run, an index, a live index or an engine."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from lexigraft.core.checked_arguments import checked
from lexigraft.core.cut import DocumentCut, Keep, QueryCut
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import LexicalSettings, Settings, WordsSettings
from lexigraft.core.settings.grafted import GraftedSettings
from lexigraft.core.settings.prune import PruneSettings
from lexigraft.core.types import Explanation, Vocabulary, WholeScore
from lexigraft.engines.address import is_address
from lexigraft.index.live.state import is_live
from lexigraft.index.metadata_columns import GivenMetadata
from lexigraft.index.metadata_files import MetadataTable
from lexigraft.retrieve import saved
from lexigraft.retrieve.answer import Answer, answer_query
from lexigraft.retrieve.finding import Asked, find_hits, weighted_terms
from lexigraft.retrieve.given_texts import documents_of, documents_of_file, index_documents, metadata_of_file
from lexigraft.retrieve.held import Held
from lexigraft.retrieve.hits import Hit, WeightedTerm
from lexigraft.retrieve.opened import Opened
from lexigraft.retrieve.opened_engine import OpenedEngine, open_at
from lexigraft.retrieve.opened_peer import OpenedPeer
from lexigraft.retrieve.place import Place, find_place
from lexigraft.retrieve.unknown_words import unknown_words
from lexigraft.search.batch import answer_all
from lexigraft.search.overlap import TERMS

log = logging.getLogger(__name__)


class Retriever:
    """An open index with the encoder that fits it.

    Made by `Retriever.open` of something on disk, or by `Retriever.from_texts` or `Retriever.from_file`. Searches may
    come from many threads at once. `add` and `delete` change a live index, and what this object searches with it; other
    objects see the change after `refresh`.
    """

    def __init__(
        self, place: Place, method: str = "auto", workspace: TemporaryDirectory[str] | None = None,
        engine: OpenedEngine | None = None,
    ) -> None:  # fmt: skip
        self._place, self._workspace, self._held = place, workspace, Held(place, method, engine)
        self._terms: tuple[OpenedPeer, Retriever | None] | None = None

    @classmethod
    @checked
    def open(
        cls,
        path: str | Path,
        system: str | None = None,
        *,
        qk: QueryCut | None = None,
        dk: DocumentCut | None = None,
        vectors: str | Path | None = None,
        method: str = "auto",
        encoder: str | Path | None = None,
    ) -> Self:
        """Open a run, an index, a live index, a saved retriever, or what `lexigraft engine load` put into an engine, by
        its address ("qdrant://HOST/NAME").

        Of a run, `system` is one of its systems: its learned model where none is named. It is searched at the operating
        point that validation queries chose for the run's cost budget; `qk` and `dk` (terms kept of a query and of a
        document, 0 for all; a qk below 1 keeps what weighs at least that share of the heaviest, and "m0.8" the fewest
        of the heaviest terms that have this share of the mass) choose another.
        `vectors` are those that an index was made of, for two-step searches. Queries to an engine are encoded by the
        index that was loaded into it, or by the run, index or saved retriever at `encoder`.
        """
        if isinstance(path, str) and is_address(path):
            if dk is not None or vectors is not None:
                raise SettingError("an engine has the documents' terms that were loaded; leave out dk and vectors")
            engine = open_at(path, None if encoder is None else Path(encoder), system, qk)
            return cls(engine.place, method, engine=engine)
        if encoder is not None:
            raise SettingError("encoder is for an engine, by its address; a run or an index has its own")
        place = find_place(Path(path), system, qk, dk, None if vectors is None else Path(vectors))
        retriever = cls(place, method)
        if not place.kind and retriever.opened.is_model and place.why:
            log.info("searching %s with %s", place.name, place.why)
        return retriever

    @classmethod
    @checked
    def from_texts(
        cls,
        texts: Iterable[str],
        ids: Iterable[str] | Mapping[str, Any] | None = None,
        titles: Iterable[str] | None = None,
        settings: LexicalSettings | None = None,
        words: WordsSettings | None = None,
        metadata: Iterable[Mapping[str, Any]] | None = None,
    ) -> Self:
        """Index texts by BM25 and open the result, a live index that lasts as long as this object, or longer by `save`.

        Without `ids`, documents are called "0", "1" and so on. `words` says how texts are cut into words, `settings`
        what BM25 makes of those. `metadata`: of each document a mapping such as {"year": 2024, "tags": ["a", "b"]}, for
        searches with `where`.
        """
        kept = GivenMetadata()
        documents = documents_of(texts, ids, titles, metadata=metadata, kept=kept)
        index, workspace = index_documents(documents, settings, words, kept.table)
        return cls(find_place(index), workspace=workspace)

    @classmethod
    @checked
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
        guessed. `format` is the file's where its name does not say it. All other fields are metadata, for searches with
        `where`.
        """

        def metadata() -> MetadataTable:
            return metadata_of_file(path, fields, format)

        index, workspace = index_documents(documents_of_file(path, fields, format), settings, words, metadata)
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
        return self._held.other.n_documents if self._held.other is not None else self._held.state().index.n_documents

    @property
    def in_passages(self) -> bool:
        """Whether documents were cut into passages, of which the best one gives a document its score."""
        return self._held.other.passages if self._held.other is not None else self._held.state().index.passages

    @property
    def keeps_texts(self) -> bool:
        """Whether there is the text of at least one document."""
        return self._held.other.keeps_texts if self._held.other is not None else self._held.state().keeps_texts

    @property
    def vocabulary(self) -> Vocabulary:
        """The terms that queries and documents are written in."""
        return self._held.state().index.vocabulary

    def __len__(self) -> int:
        return self.n_documents

    @checked
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
        if self._held.other is not None:
            return self._held.ask_other(lambda other: other.hits([query], asked))[0]
        return self._held.ask(lambda state: find_hits(state, query, state.encode(query), asked))

    @checked
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
        if self._held.other is not None:
            return self._held.ask_other(lambda other: other.hits(texts, asked, threads))

        def find(state: Opened) -> list[list[Hit]]:
            rows = state.encode_all(texts)
            return answer_all(lambda at: find_hits(state, texts[at], rows[at], asked), len(texts), threads)

        return self._held.ask(find)

    @checked
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
        if self._held.other is not None:
            found = self._held.ask_other(lambda other: other.answer(query, asked))
        else:
            found = self._held.ask(lambda state: answer_query(state, query, asked))
        return replace(found, notices=self.notices(query))

    @checked
    def explain(self, query: str, doc_id: str) -> Explanation:
        """What each shared term adds to a document's score; of a hybrid, to the part of it that has terms, and `whole`
        says what each part adds. A dense score has no terms. Of a grafted system of a run, `origin` of each term says
        how much is the document's own word, and what was lent by which other one."""
        if self._place.kind:
            whole, terms = self.take_apart(query, doc_id), self.of_terms
            if terms is None:
                return Explanation("", doc_id, whole.score, (), 0, 0.0, self.shown(doc_id)[1], whole)
            return replace(terms.explain(query, doc_id), score=whole.score, whole=whole)
        return self._held.ask(lambda state: state.explain(state.cut(state.encode(query)), doc_id))

    @checked
    def take_apart(self, query: str, doc_id: str) -> WholeScore:
        """What each system of a hybrid adds to the score of a document; of a dense system, its score."""
        return self._held.ask_peer(lambda peer: peer.take_apart(query, doc_id))

    def shown(self, doc_id: str) -> tuple[str, int]:
        """(title, row) of a document of a dense system or a hybrid."""
        return self._held.ask_peer(lambda peer: peer.place_of(doc_id))

    @property
    def of_terms(self) -> "Retriever | None":
        """What has the terms of this: itself, of a hybrid its system that has some, and None of a dense system."""
        return self if not self._place.kind else self._held.ask_peer(self._opened_terms)

    def _opened_terms(self, peer: OpenedPeer) -> "Retriever | None":
        """Opened once, and anew where the hybrid was."""
        name = peer.system_of_terms
        if self._terms is None or self._terms[0] is not peer:
            assert self._place.run is not None, "only runs have such systems"
            self._terms = peer, Retriever.open(self._place.run.root, name) if name else None
        return self._terms[1]

    @checked
    def terms(self, text: str) -> list[WeightedTerm]:
        """The weighted terms that a text becomes as a query, heaviest first."""
        return self._held.ask(lambda state: weighted_terms(state, text, state.cut(state.encode(text))))

    @checked
    def unknown_words(self, text: str) -> list[str]:
        """The words of a text that no term stands for, stop-words apart: they find nothing. Without terms, none."""
        return [] if self._place.kind else self._held.ask(lambda state: unknown_words(state, text))

    @checked
    def notices(self, query: str) -> tuple[str, ...]:
        """What to tell whoever asks this, a line each: words that find nothing, what may have been meant where no word
        of the query is in the collection, and signs such as quotes that mean nothing here yet."""
        return self._held.told_of(query)

    @checked
    def add(
        self,
        texts: Iterable[str],
        ids: Iterable[str] | Mapping[str, Any] | None = None,
        titles: Iterable[str] | None = None,
        replacing: bool = False,
        metadata: Iterable[Mapping[str, Any]] | None = None,
        vectors: Any = None,
    ) -> int:
        """Add documents to a live index, all or none; returns how many. `replacing`: a document whose id is there
        takes the place of the old one, which is otherwise an error. Without `ids`, documents are numbered on.
        `metadata`: a mapping for each, as for `from_texts`; that of a document that is replaced goes with it.
        `vectors`: one for each, where `graft` was given some."""
        from lexigraft.retrieve import live_changes

        live = self._require_live("added to")
        kept = GivenMetadata()
        documents = documents_of(texts, ids, titles, self.n_documents, metadata, kept)
        adding = live_changes.Adding(replacing=replacing, vectors=vectors)
        added = live_changes.add_documents(live, documents, Settings(), adding, metadata=kept.table)
        self.refresh()
        return added.n_rows

    @checked
    def graft(
        self,
        vectors: Any = None,
        *,
        borrowed: float = GraftedSettings.borrowed,
        told: float = GraftedSettings.told,
        cost: float | None = 1.0,
        neighbours: int = GraftedSettings.neighbours,
        length: int = GraftedSettings.length,
        progress: "Progress" = SILENT,
    ) -> None:
        """Give the documents of a live index of BM25 words beside their own: such as their nearest `neighbours` have
        in a space of vectors, and such as a regression reads off their vector. Queries stay plain words. Searches find
        by BM25 until it is done; then `add` and `delete` go on as before.

        `vectors`: one for each document, an array [documents, width] in the order of their addition or a file of them
        (.npy, or Parquet with ids). Without, a sentence encoder makes them of the first `length` subwords of each text.
        `borrowed`, `told`: how much of both is added. `cost`: what a search may cost, as a share of BM25's; None keeps
        every word.
        """
        from lexigraft.retrieve.live_grafting import graft_live

        live = self._require_live("grafted")
        pruned = PruneSettings(budget="none") if cost is None else PruneSettings(cost=cost)
        grafted = GraftedSettings(borrowed=borrowed, told=told, neighbours=neighbours, length=length)
        graft_live(live, vectors, replace(Settings(), grafted=grafted, prune=pruned), progress=progress)
        self.refresh()

    @checked
    def delete(self, ids: Iterable[str]) -> int:
        """Delete documents of a live index by id: all, or none where one is unknown; returns how many."""
        from lexigraft.retrieve import live_changes

        live = self._require_live("deleted from")
        deleted = live_changes.delete_documents(live, list(ids))
        self.refresh()
        return deleted.n_documents

    def _require_live(self, what: str) -> Path:
        self._held.require_here(what)
        if not is_live(self._place.index):
            raise InputError(
                f"{self.name} is a plain index, which is not {what}; make a live one of it: lexigraft index live "
                f"{self._place.index} --out LIVE"
            )
        return self._place.index

    def refresh(self) -> None:
        """See what others have changed: a live index is opened in its newest state. Searches that have begun end with
        the state they began with."""
        self._held.open_again()

    @checked
    def save(self, path: str | Path, replace: bool = False) -> None:
        """Write a folder of its own with the index, the model that encodes queries, and the operating point; it can be
        moved, and `Retriever.open` opens it. A folder that is there already is refused; with `replace`, a saved
        retriever there is replaced, and anything else is still refused."""
        self._held.require_here("saved")
        place = self._place
        saved.save(place.index, place.metadata, place.texts, place.qk, place.why, Path(path), replace)

    def close(self) -> None:
        """Give back what is held; of `from_texts`, the files, too. A closed retriever cannot be searched."""
        self._held.close()
        if self._terms is not None and self._terms[1] is not None:
            self._terms[1].close()
        self._terms = None
        if self._workspace is not None:
            self._workspace.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def place(self) -> Place:
        """Where the index and what belongs to it lies."""
        return self._place

    @property
    def opened(self) -> Opened:
        """The state that is searched now, with its encoder."""
        return self._held.state()

"""What every expansion of a collection has: its documents and queries, and the BM25 indexes and counts made of them."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest, hash_file, write_json
from lexigraft.core.config import settings_config
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.lock import writer_lock
from lexigraft.core.plain_files import read_plain_file
from lexigraft.core.progress import Progress
from lexigraft.core.settings import Settings
from lexigraft.core.types import Document, Query
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.data.passages import cut_passages
from lexigraft.expand.generated import GeneratedTexts, expanded_documents, open_generated
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.index.inverted import Index
from lexigraft.index.store import open_index
from lexigraft.stages.encode import passage_config
from lexigraft.stages.ensure import keep_or_make
from lexigraft.stages.evaluate import known_judgements
from lexigraft.stages.vocabularies import judged_collection
from lexigraft.vectors import counts as counts_store
from lexigraft.vectors import store as vectors_store
from lexigraft.vectors.analysis import Reading, reading_in
from lexigraft.vectors.counts import write_counts
from lexigraft.vectors.deciding_words import LEXICAL, decide_words
from lexigraft.vectors.lexical import encode_documents
from lexigraft.vectors.store import open_vectors

ALL_QUERIES = "all"
NOTES = "notes.json"  # beside the vectors of longer documents: how many ids did not fit


@dataclass(frozen=True)
class Asked:
    """The queries that are searched with, and where there are any, the judgements of `split`."""

    split: str | None
    queries: list[Query]
    judged: dict[str, dict[str, int]] | None


@dataclass(frozen=True)
class Work:
    """One call: a collection, where to write, and how deep to search."""

    collection: Collection
    out: Path
    settings: Settings
    split: str
    progress: Progress

    def asked(self, index: Index) -> Asked:
        """The judged queries of the split, or all, where there are no judgements or `all` are asked for."""
        queries = list(self.collection.queries())
        if not queries:
            raise InputError(f"{self.collection.name} has no queries to expand")
        split = None if self.split == ALL_QUERIES else self.collection.evaluation_split(self.split)
        if split is None:
            return Asked(None, queries, None)
        judged = known_judgements(self.collection.qrels(split), split, queries, index)
        return Asked(split, [query for query in queries if query.query_id in judged], judged)

    def documents(self, texts: GeneratedTexts | None = None) -> Iterator[Document]:
        """What is indexed: with what was generated for it, where given, and in passages, where set."""
        data, documents = self.settings.data, self.collection.documents()
        tracked: Iterable[Document] = self.progress.track(documents, "reading documents")
        if texts is not None:
            tracked = expanded_documents(tracked, texts)
        if data.in_passages:
            tracked = cut_passages(tracked, data.passage_words, data.passage_overlap, data.passage_by)
        return iter(tracked)


@contextmanager
def begin(source: str, out: Path, settings: Settings, split: str, progress: Progress) -> Iterator[Work]:
    """Open `source` and hold the lock of `out`."""
    if out.is_file():
        raise SettingError(f"{out} is a file; give a folder to write to")
    with judged_collection(source, settings.data, progress) as collection, writer_lock(out):
        decided = decide_words(settings, collection.documents(), [LEXICAL])
        yield Work(collection, out, decided, split, progress)


def lexical_index(work: Work, system: str, file: Path | None = None, reading: Reading | None = None) -> Path:
    """The BM25 index of the documents, with the texts of `file` where it is given: kept, or made with its vectors.
    Words are read as `reading` says, or as set."""
    folder, index_settings = work.out / system, work.settings.index
    lexical, rule = reading or Reading(work.settings.lexical.decided(), work.settings.words.rule)
    config = {"corpus": work.collection.digest(CORPUS), **_reading(work), **settings_config(lexical), **rule.entry}
    if file is not None:
        if not file.is_file():
            raise InputError(f"there is no file {file}; give generated text as .jsonl or .tsv")
        config["generated"] = hash_file(file)

    def encode(target: Path) -> None:
        passages = work.settings.data.in_passages
        if file is None:
            encode_documents(work.documents(), lexical, target, passages, rule)
            return
        with open_generated(file) as texts:
            encode_documents(work.documents(texts), lexical, target, passages, rule)
            write_json(target / NOTES, texts.report("documents"))

    wanted = Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, config)
    vectors = keep_or_make(folder / "vectors", wanted, encode).manifest
    parents, options = {"vectors": vectors.fingerprint}, settings_config(index_settings)
    wanted = Manifest(index_store.KIND, index_store.FORMAT_VERSION, options, parents)

    def build(target: Path) -> None:
        build_index(open_vectors(folder / "vectors"), target, 0, index_settings, work.progress)

    keep_or_make(folder / "index", wanted, build)
    return folder / "index"


def term_counts(work: Work, index: Index, reading: Reading) -> Path:
    """The counted terms of the collection's documents in the vocabulary of `index`: kept, or made."""
    lexical, rule = reading
    config = {"corpus": work.collection.digest(CORPUS), **_reading(work), **settings_config(lexical), **rule.entry}
    parents = {"vocabulary": index.meta.vocab_fingerprint}

    def count(target: Path) -> None:
        write_counts(work.documents(), lexical, index.vocabulary, target, rule)

    keep_or_make(work.out / "counts", Manifest(counts_store.KIND, counts_store.FORMAT_VERSION, config, parents), count)
    return work.out / "counts"


def _reading(work: Work) -> dict[str, Any]:
    data = work.settings.data
    return {"on_duplicate": data.on_duplicate, "on_bad_bytes": data.on_bad_bytes, **passage_config(data)}


def notes(path: Path) -> dict[str, Any]:
    """What was noted when the vectors at `path` were made."""
    file = path / NOTES
    found: dict[str, Any] = json.loads(read_plain_file(file)) if file.is_file() else {}
    return found


def open_lexical(place: Path) -> tuple[Index, Reading]:
    """An index of BM25, and how its documents were read."""
    opened = open_index(place)
    if opened.meta.query_encoder.get("kind") != "bm25":
        raise SettingError(
            f"{place} is not an index of BM25: expansion by words needs one, such as RUN/judged/bm25/index; without "
            "--index one is made"
        )
    return opened, reading_in(opened.meta.query_encoder)


def require_same_reading(work: Work, index: Index, place: Path) -> None:
    """Raise where the index at `place` is of passages and documents are read whole, or the other way round."""
    data = work.settings.data
    if index.meta.passages and not data.in_passages:
        raise SettingError(
            f"{place} is an index of passages, and documents are read whole (data.passage_words = 0); give the length "
            "that it was made with: --set data.passage_words=N, and data.passage_overlap where it was set"
        )
    if data.in_passages and not index.meta.passages:
        raise SettingError(
            f"{place} is an index of whole documents, and they are cut into passages (data.passage_words = "
            f"{data.passage_words}, by {data.passage_by}); give --set data.passage_words=0, or no --index"
        )


def require_same_rows(work: Work, index: Index, place: Path, n_rows: int) -> None:
    """Raise where the collection's documents, as they are read here, are not as many as the index at `place` has."""
    if n_rows == index.n_documents:
        return
    data = work.settings.data
    cut = f" in passages (data.passage_words = {data.passage_words}, data.passage_overlap = {data.passage_overlap})"
    raise InputError(
        f"{place} has {index.n_documents} rows, and {work.collection.name} {n_rows}"
        f"{cut if data.passage_words else ''}; give the collection that it was made of"
        f"{', and its lengths by --set data.passage_words=N and data.passage_overlap=N' if data.passage_words else ''}"
    )

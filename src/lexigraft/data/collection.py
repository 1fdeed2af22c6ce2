"""A collection: documents, queries and judgements, read as streams (D1), and the one that lies in a folder.

What is in the folder decides how it is read, part by part:

    documents   corpus.jsonl (BEIR), collection.tsv or msmarco-docs.tsv (MS MARCO), documents.csv or another table,
                *.txt (one text a line), Markdown and HTML (one document a file)
    queries     queries.jsonl or another table, queries.*.tsv, topics.* (TREC)
    judgements  qrels/SPLIT.tsv, qrels.SPLIT.tsv (BEIR's three columns or TREC's four, or another table),
                qidpidtriples.SPLIT.tsv

each plain or as .gz. Fields of tables have any names (`fields`). The corpus is never held in memory; queries and
judgements are, where they are asked for. Errors name file and line. An id that comes twice is an error that names both
lines or, on request, the first is kept and the others are counted in a warning.
"""

import hashlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from lexigraft.core.artifact import hash_file
from lexigraft.core.errors import InputError
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.consistent_judgements import Placed
from lexigraft.data.duplicates import FirstLines
from lexigraft.data.fields import DOCUMENT, as_option
from lexigraft.data.folder_layout import (
    CorpusReader,
    bare_name,
    corpus_of_file,
    corpus_of_folder,
    qrels_files,
    query_files,
)
from lexigraft.data.readers.documents import text_lines
from lexigraft.data.readers.judgements import positives_of_triples, read_judgements
from lexigraft.data.readers.lines import open_unpacked
from lexigraft.data.readers.own import OwnFile
from lexigraft.data.readers.pages import pages_digest
from lexigraft.data.readers.topics import read_queries
from lexigraft.data.reading import STRICT, Reading

EVALUATION_SPLITS = ("test", "dev", "dev.small")
RECORDS_AT_ONCE = 64  # few, because a record may be large
CORPUS, QUERIES = "corpus", "queries"

Noun = TypeVar("Noun", Document, Query)

OF_LINES = (".jsonl", ".tsv", ".jsonl.gz", ".tsv.gz")  # files with a document a line

log = logging.getLogger(__name__)


class Collection(ABC):
    """What every source of texts gives; whoever reads one does not know where it lies."""

    name: str
    splits: Sequence[str]  # those with judgements

    @abstractmethod
    def documents(self) -> Iterator[Document]:
        """Stream the documents in their order."""

    @abstractmethod
    def queries(self) -> Iterator[Query]:
        """Stream the queries; none where there are none."""

    @abstractmethod
    def qrels(self, split: str) -> list[Qrel]:
        """The judgements of one split; raises for one that has none."""

    @abstractmethod
    def digest(self, part: str) -> str:
        """What CORPUS, QUERIES or a split depends on, as a string that changes when it changes; empty where absent."""

    @abstractmethod
    def description(self) -> dict[str, Any]:
        """What the whole collection depends on, for a manifest."""

    def about_how_many(self) -> int | None:
        """How many documents there are, for whoever shows how far work is; None where only reading them tells."""
        return None

    def evaluation_split(self, wanted: str) -> str | None:
        """`wanted`, or for "auto" the first of test and dev that has judgements; None where neither has."""
        if wanted != "auto":
            self.qrels(wanted)
            return wanted
        return next((split for split in EVALUATION_SPLITS if split in self.splits), None)


@dataclass(frozen=True)
class FolderCollection(Collection):
    """The files of one collection. Made by `open_collection`, which checks that they are there."""

    name: str
    folder: Path
    corpus_files: tuple[Path, ...]
    read_corpus: CorpusReader
    query_files: tuple[Path, ...]
    qrels_files: dict[str, Path]
    reading: Reading = STRICT

    @property
    def splits(self) -> Sequence[str]:  # type: ignore[override]
        return tuple(self.qrels_files)

    def documents(self) -> Iterator[Document]:
        for file in self.corpus_files:
            records = self.read_corpus(file, self.reading.on_bad_bytes)
            # The ids of plain text are the lines' numbers, which do not repeat.
            rule = "keep" if self.read_corpus is text_lines else self.reading.on_duplicate
            yield from distinct(records, file, rule)

    def about_how_many(self) -> int | None:
        """By the lines of files that have a document a line."""
        if any(not file.is_file() or not file.name.endswith(OF_LINES) for file in self.corpus_files):
            return None
        return sum(_n_lines(file) for file in self.corpus_files)

    def queries(self) -> Iterator[Query]:
        if len(self.query_files) == 1:
            (file,) = self.query_files
            yield from self._queries_in(file)
        else:
            yield from self._united_queries()

    def _queries_in(self, file: Path) -> Iterator[Query]:
        records = read_queries(file, self.reading.on_bad_bytes, self.reading.named)
        yield from distinct(records, file, self.reading.on_duplicate)

    def _united_queries(self) -> Iterator[Query]:
        """MS MARCO's files overlap: the same query in two of them is one query, another text is an error."""
        texts: dict[str, str] = {}
        for file in self.query_files:
            for query in self._queries_in(file):
                if query.query_id not in texts:
                    texts[query.query_id] = query.text
                    yield query
                elif texts[query.query_id] != query.text:
                    raise InputError(f"{file}: query {query.query_id!r} has another text in an earlier file")

    def qrels(self, split: str) -> list[Qrel]:
        if split not in self.qrels_files:
            present = ", ".join(self.qrels_files) or "none"
            raise InputError(f"{self.folder} has no judgements for split {split!r}; present: {present}")
        file = self.qrels_files[split]
        if "triples" in file.name:
            return list(positives_of_triples(file, self.reading.on_bad_bytes))
        reading = self.reading
        return list(read_judgements(file, reading.on_bad_bytes, reading.named, reading.on_duplicate))

    def digest(self, part: str) -> str:
        judged = (self.qrels_files[part],) if part in self.qrels_files else ()
        files = {CORPUS: self.corpus_files, QUERIES: self.query_files}.get(part, judged)
        # Other fields of the same file are other texts. They are asked for first: who reads the beginning of a file
        # finds that it is none of records before all of it is hashed.
        entry = [f"{key}={value}" for key, value in self._entry().items()] if files else []
        hashes = [*map(_hash, files), *entry]
        if len(hashes) == 1:
            return hashes[0]
        return hashlib.sha256("".join(hashes).encode()).hexdigest() if hashes else ""

    def description(self) -> dict[str, Any]:
        files = (*self.corpus_files, *self.query_files, *self.qrels_files.values())
        return {
            "source": "files",
            "on_duplicate": self.reading.on_duplicate,
            "on_bad_bytes": self.reading.on_bad_bytes,
            **self._entry(),
            "files": {self._name_of(file): _hash(file) for file in files},
        }

    def _entry(self) -> dict[str, str]:
        """What was chosen of fields and format; of a user's own file as it was understood, whether named or guessed."""
        if not isinstance(self.read_corpus, OwnFile):
            return self.reading.entry
        understood = self.read_corpus.understood(self.corpus_files[0], self.reading.on_bad_bytes)
        documents = [role.key for role in DOCUMENT]
        others = as_option({key: names for key, names in self.reading.named.items() if key not in documents})
        return {"fields": ",".join(filter(None, (understood, others))), "format": self.read_corpus.format}

    def _name_of(self, file: Path) -> str:
        return (file.relative_to(self.folder) if file.is_relative_to(self.folder) else file).as_posix()


def open_collection(folder: Path, reading: Reading = STRICT) -> FolderCollection:
    """The collection at `folder`, or one file of documents; raises `InputError` saying what is missing."""
    queries: tuple[Path, ...] = ()
    judged: dict[str, Path] = {}
    if folder.is_file():
        name, home, corpus = bare_name(folder), folder.parent, corpus_of_file(folder, reading)
    elif folder.is_dir():
        files = sorted(file for file in folder.iterdir() if file.is_file())
        name, home, corpus = folder.resolve().name, folder, corpus_of_folder(folder, files, reading)
        queries, judged = query_files(files), qrels_files(folder, files)
    else:
        raise InputError(
            f"there is no collection at {folder}; give a folder with corpus.jsonl, or a file of documents such as "
            ".csv, .jsonl or .txt"
        )
    queries = (_present(Path(reading.queries)),) if reading.queries else queries
    elsewhere = {split: _present(file) for split, file in reading.qrels_files.items()}
    return FolderCollection(name, home, *corpus, queries, dict(sorted({**judged, **elsewhere}.items())), reading)


def _n_lines(path: Path) -> int:
    with open_unpacked(path) as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def _present(file: Path) -> Path:
    if not file.is_file():
        raise InputError(f"there is no file {file}, which is given for queries or judgements")
    return file


def _hash(place: Path) -> str:
    return hash_file(place) if place.is_file() else pages_digest(place)


def distinct(records: Iterable[tuple[Placed, Noun]], file: Path, on_duplicate: str) -> Iterator[Noun]:
    """The first record of every id; at a second one, an error or a warning, as `on_duplicate` says."""
    if on_duplicate == "keep":
        yield from (noun for _, noun in records)
        return
    first_lines, n_dropped, example, stream = FirstLines(), 0, "", iter(records)
    while block := list(islice(stream, RECORDS_AT_ONCE)):
        first_of = first_lines.first_lines([noun[0] for _, noun in block], [line.number for line, _ in block])
        for (line, noun), first in zip(block, first_of, strict=True):
            if first == line.number:
                yield noun
                continue
            n_dropped, example = n_dropped + 1, example or f"{noun[0]!r} on {line.unit}s {first} and {line.number}"
            if on_duplicate == "error":
                raise InputError(
                    f"{line.where}: the _id {noun[0]!r} was used on {line.unit} {first} already; ids must be distinct "
                    '(to keep the first and go on: set={"data.on_duplicate": "skip"})'
                )
    if n_dropped:
        message = "%s: %d records dropped because their _id came before (such as %s); the first was kept"
        log.warning(message, file, n_dropped, example)

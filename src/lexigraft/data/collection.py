"""A collection: documents, queries and judgements, read as streams (D1), and the one that lies in a folder.

What is in the folder decides how it is read, part by part:

    documents   corpus.jsonl (BEIR), collection.tsv or msmarco-docs.tsv (MS MARCO), *.txt (one text a line)
    queries     queries.jsonl, queries.*.tsv, topics.* (TREC)
    judgements  qrels/SPLIT.tsv, qrels.SPLIT.tsv (BEIR's three columns or TREC's four), qidpidtriples.SPLIT.tsv

each plain or as .gz. The corpus is never held in memory; queries and judgements are, where they are asked for. Errors
name file and line. An id that comes twice is an error that names both lines or, on request, the first is kept and the
others are counted in a warning.
"""

import hashlib
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from lexigraft.core.artifact import hash_file
from lexigraft.core.errors import InputError
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.duplicates import FirstLines
from lexigraft.data.readers.documents import CORPUS_FILES, Documents, text_lines
from lexigraft.data.readers.judgements import positives_of_triples, read_judgements
from lexigraft.data.readers.lines import Line
from lexigraft.data.readers.topics import read_queries

EVALUATION_SPLITS = ("test", "dev", "dev.small")
RECORDS_AT_ONCE = 64  # few, because a record may be large
CORPUS, QUERIES = "corpus", "queries"
QRELS_PREFIXES = ("qrels.", "qidpidtriples.")  # judgements first: triples only stand in for them

Noun = TypeVar("Noun", Document, Query)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reading:
    """How a collection's files are read: what happens at an id used twice (error, skip; or keep, for who counts them)
    and at bytes that are not UTF-8 (error, replace)."""

    on_duplicate: str = "error"
    on_bad_bytes: str = "error"


STRICT = Reading()


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
    read_corpus: Callable[[Path, str], Documents]
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

    def queries(self) -> Iterator[Query]:
        if len(self.query_files) == 1:
            (file,) = self.query_files
            yield from distinct(read_queries(file, self.reading.on_bad_bytes), file, self.reading.on_duplicate)
        else:
            yield from self._united_queries()

    def _united_queries(self) -> Iterator[Query]:
        """MS MARCO's files overlap: the same query in two of them is one query, another text is an error."""
        texts: dict[str, str] = {}
        for file in self.query_files:
            for query in distinct(read_queries(file, self.reading.on_bad_bytes), file, self.reading.on_duplicate):
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
        read = positives_of_triples if "triples" in file.name else read_judgements
        return list(read(file, self.reading.on_bad_bytes))

    def digest(self, part: str) -> str:
        if part in self.qrels_files:
            return hash_file(self.qrels_files[part])
        files = {CORPUS: self.corpus_files, QUERIES: self.query_files}.get(part, ())
        if len(files) == 1:
            return hash_file(files[0])
        return hashlib.sha256("".join(map(hash_file, files)).encode()).hexdigest() if files else ""

    def description(self) -> dict[str, Any]:
        files = (*self.corpus_files, *self.query_files, *self.qrels_files.values())
        return {
            "source": "files",
            "on_duplicate": self.reading.on_duplicate,
            "on_bad_bytes": self.reading.on_bad_bytes,
            "files": {file.relative_to(self.folder).as_posix(): hash_file(file) for file in files},
        }


def open_collection(folder: Path, reading: Reading = STRICT) -> FolderCollection:
    """The collection at `folder` (or one file of texts); raises `InputError` saying what is missing."""
    if folder.is_file() and _bare_name(folder).endswith(".txt"):
        return FolderCollection(_bare_name(folder), folder.parent, (folder,), text_lines, (), {}, reading)
    if not folder.is_dir():
        problem = f"{folder} is a file" if folder.is_file() else f"there is no collection at {folder}"
        raise InputError(f"{problem}; give a folder with corpus.jsonl, or a file of texts (*.txt)")
    files = sorted(file for file in folder.iterdir() if file.is_file())
    corpus, read_corpus = _corpus(folder, files)
    named = (folder.resolve().name, folder, corpus, read_corpus)
    return FolderCollection(*named, _query_files(files), _qrels_files(folder, files), reading)


def _corpus(folder: Path, files: list[Path]) -> tuple[tuple[Path, ...], Callable[[Path, str], Documents]]:
    for name, read in CORPUS_FILES.items():
        if found := [file for file in files if _bare_name(file) == name]:
            return (found[0],), read
    if texts := tuple(file for file in files if _bare_name(file).endswith(".txt") and not _is_other_part(file)):
        return texts, text_lines
    raise InputError(
        f"{folder} has no corpus.jsonl, collection.tsv, msmarco-docs.tsv or *.txt (plain or .gz): it is not a "
        "collection in BEIR layout, nor in MS MARCO's, nor plain text"
    )


def _query_files(files: list[Path]) -> tuple[Path, ...]:
    if whole := [file for file in files if _bare_name(file) == "queries.jsonl"]:
        return (whole[0],)
    return tuple(file for file in files if _is_query_file(file))


def _is_query_file(file: Path) -> bool:
    name = _bare_name(file)
    return (name.startswith("queries") and name.endswith(".tsv")) or name.startswith("topics")


def _is_other_part(file: Path) -> bool:
    return _is_query_file(file) or file.name.startswith(QRELS_PREFIXES)


def _qrels_files(folder: Path, files: list[Path]) -> dict[str, Path]:
    """By split: files in qrels/ by their name, others by what stands between "qrels." and the ending."""
    inside = (folder / "qrels").iterdir() if (folder / "qrels").is_dir() else ()
    judged = (file for file in sorted(inside) if not file.name.lower().startswith("readme"))
    found = {_split_name(file): file for file in judged if file.suffix in (".tsv", ".txt", ".qrels", ".gz")}
    for prefix in QRELS_PREFIXES:
        for file in files:
            if file.name.startswith(prefix):
                found.setdefault(_split_name(file).removeprefix(prefix), file)
    return dict(sorted(found.items()))


def _split_name(file: Path) -> str:
    return re.sub(r"\.(tsv|txt|qrels)$", "", _bare_name(file))


def _bare_name(file: Path) -> str:
    return file.name.removesuffix(".gz")


def distinct(records: Iterable[tuple[Line, Noun]], file: Path, on_duplicate: str) -> Iterator[Noun]:
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
            n_dropped, example = n_dropped + 1, example or f"{noun[0]!r} on lines {first} and {line.number}"
            if on_duplicate == "error":
                raise InputError(
                    f"{line.where}: the _id {noun[0]!r} was used on line {first} already; ids must be distinct (to "
                    "keep the first and go on: --on-duplicate skip)"
                )
    if n_dropped:
        message = "%s: %d records dropped because their _id came before (such as %s); the first was kept"
        log.warning(message, file, n_dropped, example)

"""A collection in BEIR layout, read as a stream (D1).

    DIR/corpus.jsonl[.gz]     {"_id", "title"?, "text"}
    DIR/queries.jsonl[.gz]    {"_id", "text"}
    DIR/qrels/SPLIT.tsv       query-id <tab> corpus-id <tab> score, with a header line

The corpus is never held in memory; queries and judgements are, where they are asked for. Errors name file and line. Of
several records with one id the first is kept, and the others are counted in a warning (or, on request, are an error).
"""

import gzip
import json
import logging
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import hash_file
from lexigraft.core.errors import InputError
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.duplicates import FirstLines

EVALUATION_SPLITS = ("test", "dev")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Collection:
    """The files of one collection. Made by `open_collection`, which checks that they are there."""

    folder: Path
    corpus_file: Path
    queries_file: Path | None
    qrels_files: dict[str, Path]
    on_duplicate: str = "warn"

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    def documents(self) -> Iterator[Document]:
        """Stream the documents in file order."""
        for where, record in self._distinct(self.corpus_file):
            title = record.get("title") or ""
            if not isinstance(title, str):
                raise InputError(f"{where}: field 'title' is not a string: {title!r}")
            yield Document(record["_id"], title, _text_field(record, "text", where))

    def queries(self) -> Iterator[Query]:
        if self.queries_file is None:
            return
        for where, record in self._distinct(self.queries_file):
            yield Query(record["_id"], _text_field(record, "text", where))

    def _distinct(self, file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """The first record of every id."""
        first_lines, n_dropped, example = FirstLines(), 0, ""
        for line, where, record in _json_lines(file):
            identifier = _text_field(record, "_id", where)
            first = first_lines.first_line(identifier, line)
            if first == line:
                yield where, record
                continue
            n_dropped, example = n_dropped + 1, example or f"{identifier!r} on lines {first} and {line}"
            if self.on_duplicate == "error":
                raise InputError(
                    f"{where}: the _id {identifier!r} was used on line {first} already; ids must be distinct"
                )
        if n_dropped:
            log.warning(
                "%s: %d records dropped because their _id came before (such as %s); the first was kept",
                file,
                n_dropped,
                example,
            )

    def qrels(self, split: str) -> list[Qrel]:
        if split not in self.qrels_files:
            present = ", ".join(self.qrels_files) or "none"
            raise InputError(f"{self.folder} has no judgements for split {split!r}; present: {present}")
        return list(_read_qrels(self.qrels_files[split]))

    def evaluation_split(self, wanted: str) -> str | None:
        """`wanted`, or for "auto" the first of test and dev that has judgements; None where neither has."""
        if wanted != "auto":
            self.qrels(wanted)
            return wanted
        return next((split for split in EVALUATION_SPLITS if split in self.qrels_files), None)

    def file_hashes(self) -> dict[str, str]:
        files = [self.corpus_file, *([self.queries_file] if self.queries_file else []), *self.qrels_files.values()]
        return {file.relative_to(self.folder).as_posix(): hash_file(file) for file in files}


def open_collection(folder: Path, on_duplicate: str = "warn") -> Collection:
    """The collection at `folder`; raises `InputError` saying what is missing. `on_duplicate`: warn or error."""
    if not folder.is_dir():
        raise InputError(f"there is no collection at {folder}; give a folder with corpus.jsonl")
    corpus = _plain_or_gzip(folder, "corpus.jsonl")
    if corpus is None:
        raise InputError(f"{folder} has no corpus.jsonl or corpus.jsonl.gz: it is not a collection in BEIR layout")
    qrels = {file.stem: file for file in sorted((folder / "qrels").glob("*.tsv"))}
    return Collection(folder, corpus, _plain_or_gzip(folder, "queries.jsonl"), qrels, on_duplicate)


def _plain_or_gzip(folder: Path, name: str) -> Path | None:
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def _lines(path: Path) -> Iterator[tuple[int, str, str]]:
    """Every non-empty line: its number, "file:number", and text."""
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8-sig")
            if path.suffix == ".gz"
            else path.open(encoding="utf-8-sig") as file
        ):
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, f"{path}:{number}", line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is not a whole gzip file: {error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 ({error}); convert it, for example with iconv") from error


def _json_lines(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    for number, where, line in _lines(path):
        try:
            record = json.loads(line)
        except (
            ValueError,
            RecursionError,
        ) as error:  # malformed, a number of thousands of digits, or nested too deeply
            raise InputError(f"{where}: not valid JSON: {error}") from error
        if not isinstance(record, dict):
            raise InputError(f"{where}: expected a JSON object, found {type(record).__name__}")
        yield number, where, record


def _text_field(record: dict[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        problem = f"field {key!r} is not a string: {value!r}" if key in record else f"field {key!r} is missing"
        raise InputError(f"{where}: {problem}; present: {', '.join(record) or 'nothing'}")
    if key == "_id" and (not value or "\0" in value or not _is_utf8(value)):
        raise InputError(f"{where}: an _id must not be empty or hold NUL characters or lone surrogates: {value!r}")
    return value


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_qrels(path: Path) -> Iterator[Qrel]:
    for number, where, line in _lines(path):
        fields = line.rstrip("\r\n").split("\t")
        if len(fields) != 3:
            raise InputError(
                f"{where}: expected query-id, corpus-id and score separated by tabs, found {len(fields)} fields"
            )
        if number == 1 and not _is_number(fields[2]):
            continue  # the header
        try:
            yield Qrel(fields[0], fields[1], int(fields[2]))
        except ValueError:
            raise InputError(f"{where}: the score {fields[2]!r} is not a whole number") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

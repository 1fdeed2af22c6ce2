"""What is understood of a user's file before anything is built of it: fields, their types, some records, counts,
warnings."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from shlex import quote
from typing import Any

from lexigraft.core.bounds import MOST_KEYS
from lexigraft.core.dates import read_period
from lexigraft.core.errors import InputError
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.collection import FolderCollection, open_collection
from lexigraft.data.duplicates import FirstLines
from lexigraft.data.even_sample import EvenSample
from lexigraft.data.fields import DOCUMENT, ID, JUDGEMENT, QUERY, QUERY_ID, Chosen
from lexigraft.data.readers.formats import format_of
from lexigraft.data.readers.metadata import cell_value
from lexigraft.data.readers.own import OwnFile
from lexigraft.data.readers.pages import other_kinds
from lexigraft.data.readers.records import Record
from lexigraft.data.readers.standard_input import SPOOLED, STANDARD_INPUT, standard_input
from lexigraft.data.reading import FILES, LINES, Reading

DOCUMENTS, QUERIES, JUDGEMENTS = "documents", "queries", "judgements"
WHOLE, NUMBER = "whole number", "number"
SHOWN = 3
LONG = 200_000  # characters of a text that is said to be long

Noun = Document | Query | Qrel


@dataclass
class Column:
    """What stands in one field: in how many records each kind of value."""

    role: str
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, value: Any) -> None:
        if value is not None and value != "" and value == value:
            self.kinds[_kind(value)] += 1

    @property
    def n_filled(self) -> int:
        return self.kinds.total()

    @property
    def words(self) -> str:
        """Such as text, or: number, text (3)."""
        (first, _), *others = self.kinds.most_common() or [("nothing", 0)]
        return ", ".join([first, *(f"{kind} ({count:,})" for kind, count in others)])


@dataclass
class Look:
    """What was found. `chosen` is None where the file has no fields (text a line)."""

    source: str
    part: str
    format: str
    chosen: Chosen | None = None
    columns: dict[str, Column] = field(default_factory=dict)
    n_records: int = 0
    n_empty: int = 0
    n_repeated: int = 0
    n_more: int = 0  # values of fields beyond those that are counted
    words: int = 0
    longest: int = 0
    sample: EvenSample = field(default_factory=EvenSample)  # of the texts
    shown: list[Noun] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def look_at(source: str, part: str, reading: Reading) -> Look:
    """Read all of `source`, which is a file, a folder of pages or standard input, as documents, queries or judgements.
    Memory holds a record, and 16 to 32 bytes for each to find ids that repeat."""
    place = standard_input() if source == STANDARD_INPUT else Path(source)
    if part == DOCUMENTS:
        collection = open_collection(place, replace(reading, on_duplicate="keep"))
        if not isinstance(collection.read_corpus, OwnFile):
            return _look_at_known(source, collection)
        own, place = replace(collection.read_corpus, quiet=True), collection.corpus_files[0]
    else:
        if not place.is_file():
            raise InputError(f"there is no file {place}")
        own = OwnFile(format_of(place, reading.format, place.name == SPOOLED), reading.named, quiet=True)
        if own.format in (LINES, FILES):
            raise InputError(f"{place}: {part} are read from a table or JSON; say with --format which it is")
    return _look_at_own(source, part, own, place, reading.on_bad_bytes)


def _look_at_own(source: str, part: str, own: OwnFile, place: Path, on_bad_bytes: str) -> Look:
    roles = {DOCUMENTS: DOCUMENT, QUERIES: QUERY, JUDGEMENTS: JUDGEMENT}[part]
    chosen, _ = own.opened(place, roles, on_bad_bytes)
    found = Look(source, part, own.format, chosen)
    role_of = {name: key for key, names in chosen.by_role.items() for name in names}
    found.columns = {name: Column(role_of.get(name, "")) for name in (*role_of, *chosen.rest)[:MOST_KEYS]}
    readers: dict[str, Callable[[Path, str], Iterator[tuple[Record, Noun]]]] = {
        DOCUMENTS: own.documents,
        QUERIES: own.queries,
        JUDGEMENTS: own.judgements,
    }
    read = readers[part]
    _count(found, _with_columns(found, read(place, on_bad_bytes)))
    _warn(found)
    if part == DOCUMENTS and place.is_dir():
        others = other_kinds(place)
        if others:
            listed = ", ".join(f"{count:,} {kind}" for kind, count in others.most_common(8))
            found.warnings.append(f"files that are not read: {listed}")
    return found


def _look_at_known(source: str, collection: FolderCollection) -> Look:
    """Documents in a layout that has no fields to choose: BEIR's, MS MARCO's, text a line."""
    names = " ".join(file.name for file in collection.corpus_files[:SHOWN])
    lines = collection.corpus_files[0].name.removesuffix(".gz").endswith((".txt", SPOOLED))
    found = Look(source, DOCUMENTS, "text, a document a line" if lines else names)
    _count(found, collection.documents())
    _warn(found)
    if lines:
        found.warnings.append("each line is a document; --format files makes each file one")
    return found


def _with_columns(found: Look, records: Iterator[tuple[Record, Noun]]) -> Iterator[Noun]:
    """The nouns, while what stands in the fields is counted."""
    of_texts = found.format in ("csv", "tsv")
    for record, noun in records:
        for name, value in record.values.items():
            if name not in found.columns:
                if len(found.columns) >= MOST_KEYS:
                    found.n_more += 1
                    continue
                found.columns[name] = Column("")
            found.columns[name].add(cell_value(value) if of_texts and value else value)
        yield noun


def _count(found: Look, nouns: Iterator[Noun]) -> None:
    ids = FirstLines()
    for number, noun in enumerate(nouns, 1):
        found.n_records = number
        if number <= SHOWN:
            found.shown.append(noun)
        if isinstance(noun, Qrel):
            continue
        text = noun.contents if isinstance(noun, Document) else noun.text
        found.sample.add(text)
        n_words = len(text.split())
        found.words += n_words
        found.n_empty += n_words == 0
        found.longest = max(found.longest, len(text))
        found.n_repeated += ids.first_lines([noun[0]], [number]) != [number]
    if not found.n_records:
        raise InputError(f"{found.source} has no {found.part}")


def _warn(found: Look) -> None:
    say = found.warnings.append
    if found.chosen is not None and not found.chosen.by_role.get(ID, found.chosen.by_role.get(QUERY_ID, ("",))):
        say(f'there is no id: {found.part} are numbered "1", "2" and so on; --fields names one')
    if found.n_repeated:
        say(f"{found.n_repeated:,} ids came before, which is an error when it is built, or: --on-duplicate skip")
    if found.n_empty:
        say(f"{found.n_empty:,} {found.part} have no words, and no search finds them")
    if found.n_more:
        say(f"there are more than {MOST_KEYS:,} fields: neither shown nor kept to filter by are those that come later")
    if found.longest > LONG:
        say(f"the longest text has {found.longest:,} characters; --set data.passage_words=200 searches passages")
    for name, column in found.columns.items():
        # Of a table of texts, what reads as a number is one only where numbers may be meant: in metadata.
        meant = not (column.role and found.format in ("csv", "tsv"))
        if meant and len({NUMBER if kind == WHOLE else kind for kind in column.kinds}) > 1:
            say(f"field {name!r} has values of several types: {column.words}")
    if found.format == "tsv" and any(_in_quotes(noun) for noun in found.shown):
        say("texts stand in quotes, which are text in .tsv; a table that quotes its fields is read with --format csv")


def _in_quotes(noun: Noun) -> bool:
    texts: Sequence[object] = noun
    return any(isinstance(text, str) and len(text) > 1 and text[0] == text[-1] == '"' for text in texts)


def _kind(value: Any) -> str:
    """A type in words. A whole number that is stored with a point is one."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return WHOLE
    if isinstance(value, str) and "-" in value and read_period(value) is not None:
        return "date"  # as conditions read it; a year alone is a number
    names = {
        Decimal: NUMBER,
        datetime: "date and time",
        date: "date",
        bytes: "bytes",
        str: "text",
        float: NUMBER,
        list: "list",
        dict: "object",
    }
    return next((name for kind, name in names.items() if isinstance(value, kind)), type(value).__name__)


def build_commands(found: Look, given: Reading) -> list[str]:
    """What to call next, with what was understood written out."""
    options = [f"--fields {quote(found.chosen.option)}"] if found.chosen is not None and found.format != FILES else []
    options += [f"--format {given.format}"] if given.format != "auto" else []
    said = " ".join(options)
    if found.part == DOCUMENTS:
        data = f"--data {quote(found.source)} {said}".rstrip()
        return [f"lexigraft index {data} --out INDEX", f"lexigraft run {data} --out RUN"]
    option = "--queries" if found.part == QUERIES else "--qrels test="
    joined = f"{option} {quote(found.source)}" if found.part == QUERIES else f"{option}{quote(found.source)}"
    return [f"lexigraft run --data DOCUMENTS --out RUN {joined} {said}".rstrip()]

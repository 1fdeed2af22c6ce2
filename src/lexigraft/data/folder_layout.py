"""What is in a folder: which of its files are documents, queries and judgements, and how each is read."""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from lexigraft.core.errors import InputError
from lexigraft.core.types import Document
from lexigraft.data.fields import DOCUMENT, names_any
from lexigraft.data.readers.documents import CORPUS_FILES, text_lines
from lexigraft.data.readers.formats import PAGE_SUFFIXES, READERS, bare_suffix, format_of
from lexigraft.data.readers.lines import Line
from lexigraft.data.readers.own import OwnFile
from lexigraft.data.readers.pages import page_files
from lexigraft.data.readers.records import Record
from lexigraft.data.readers.standard_input import SPOOLED
from lexigraft.data.reading import AUTO, FILES, LINES, Reading

QRELS_PREFIXES = ("qrels.", "qidpidtriples.")  # judgements first: triples only stand in for them
OWN_STEMS = ("corpus", "documents")  # of users' files of documents in a folder: documents.csv
_TABLES = tuple(f".{name}" for name in READERS)

log = logging.getLogger(__name__)

CorpusReader: TypeAlias = Callable[[Path, str], Iterator[tuple[Line, Document]] | Iterator[tuple[Record, Document]]]


class Corpus(NamedTuple):
    """The files of the documents, and what reads each."""

    files: tuple[Path, ...]
    read: CorpusReader


def bare_name(file: Path) -> str:
    """Without .gz."""
    return file.name.removesuffix(".gz")


def corpus_of_file(file: Path, reading: Reading) -> Corpus:
    """One file of documents, by its name, or of standard input by how it begins."""
    named = names_any(reading.named, DOCUMENT)
    known = CORPUS_FILES.get(bare_name(file))
    if known is not None and bare_suffix(file) == ".tsv" and not named and reading.format == AUTO:
        return Corpus((file,), known)  # MS MARCO's have no line that names the columns
    found = format_of(file, reading.format, by_content=file.name == SPOOLED)
    if found == LINES and named:
        raise InputError(f"{file} is read a text a line and has no fields; leave fields out, or say its format")
    return Corpus((file,), text_lines if found == LINES else OwnFile(found, reading.named))


def corpus_of_folder(folder: Path, files: list[Path], reading: Reading) -> Corpus:
    """The documents of a folder: a file that is known by its name, or all its texts."""
    known = [file for file in files if bare_name(file) in CORPUS_FILES or _is_table(file, OWN_STEMS)]
    if reading.format not in (LINES, FILES) and known:
        file = _only(known)
        read = CORPUS_FILES.get(bare_name(file))
        if read is None:
            return corpus_of_file(file, reading)
        own = OwnFile(bare_suffix(file).removeprefix("."), reading.named)
        return Corpus((file,), own if names_any(reading.named, DOCUMENT) else read)
    if reading.format in READERS:
        raise InputError(f"{folder} is a folder; format {reading.format} is for a file: give that")
    return _texts(folder, files, reading.format)


def _texts(folder: Path, files: list[Path], wanted: str) -> Corpus:
    """Text in lines (*.txt in the folder itself), or pages in it and in folders below."""
    lines = tuple(file for file in files if bare_name(file).endswith(".txt") and not _is_other_part(file))
    if wanted != FILES and lines:
        page = next((file for file in page_files(folder) if _is_marked_up(file)), None)
        if page is not None and wanted == AUTO:
            raise InputError(
                f"{folder} has {lines[0].name}, read a document a line, and {page.relative_to(folder)}, read a "
                "document a file; say which is meant: --format lines, or --format files for all of them"
            )
        for file in lines:
            _only([other for other in lines if bare_name(other) == bare_name(file)])
        return Corpus(lines, text_lines)
    if wanted != LINES and any(page_files(folder)):
        return Corpus((folder,), OwnFile(FILES))
    tables = [file.name for file in files if bare_suffix(file) in _TABLES]
    hint = f"; if {tables[0]} holds the documents, give that file" if tables else ""
    raise InputError(
        f"{folder} has no corpus.jsonl, collection.tsv, msmarco-docs.tsv, documents.csv (.tsv, .jsonl, .json, "
        f".parquet) or files of text ({', '.join(PAGE_SUFFIXES)}): it is not a collection in BEIR layout, nor in MS "
        f"MARCO's, nor of other documents{hint}"
    )


def _is_marked_up(file: Path) -> bool:
    """Markdown or HTML; a readme is about the folder, and not in it."""
    return bare_suffix(file) not in (".txt", ".text") and not file.name.lower().startswith("readme")


def _only(found: Sequence[Path], what: str = "") -> Path:
    """The one file; raises where there are several, of which only one would be read."""
    if len(found) > 1:
        first, second = found[:2]
        one_name = Path(bare_name(first)).stem == Path(bare_name(second)).stem
        what = what or ("are two files of one name" if one_name else "are both files of documents")
        raise InputError(f"{first} and {second.name} {what}; keep the one that is meant")
    return found[0]


def _is_table(file: Path, stems: Sequence[str]) -> bool:
    return bare_suffix(file) in _TABLES and Path(bare_name(file)).stem in stems


def query_files(files: list[Path]) -> tuple[Path, ...]:
    """queries.jsonl or another table of that name; else MS MARCO's and TREC's, which may be several."""
    others = [file for file in files if _is_query_file(file)]
    if whole := [file for file in files if _is_table(file, ("queries",)) and bare_suffix(file) != ".tsv"]:
        only = _only([*whole, *(file for file in others if bare_name(file) == "queries.tsv")])
        if others:
            log.warning("%s holds the queries; %s is not read", only, ", ".join(file.name for file in others))
        return (only,)
    return tuple(others)


def _is_query_file(file: Path) -> bool:
    name = bare_name(file)
    return (name.startswith("queries") and name.endswith(".tsv")) or name.startswith("topics")


def _is_other_part(file: Path) -> bool:
    return _is_query_file(file) or file.name.startswith(QRELS_PREFIXES)


def qrels_files(folder: Path, files: list[Path]) -> dict[str, Path]:
    """By split: files in qrels/ by their name, others by what stands between "qrels." and the ending."""
    inside = (folder / "qrels").iterdir() if (folder / "qrels").is_dir() else ()
    endings = (".txt", ".qrels", *_TABLES)
    judged = [
        file for file in sorted(inside)
        if not file.name.lower().startswith("readme") and (bare_suffix(file) in endings or file.suffix == ".gz")
    ]  # fmt: skip
    found: dict[str, Path] = {}
    for file in judged:
        split = _split_name(file)
        if split in found:
            _only([found[split], file])
        found[split] = file
    for prefix in QRELS_PREFIXES:
        of_kind: dict[str, Path] = {}
        for file in (file for file in files if file.name.startswith(prefix)):
            split = _split_name(file).removeprefix(prefix)
            stands_in = prefix != QRELS_PREFIXES[0]  # triples only stand in for judgements
            _only([*(others[split] for others in (of_kind, {} if stands_in else found) if split in others), file],
                  f"are both judgements of {split!r}")  # fmt: skip
            of_kind[split] = file
        found = {**of_kind, **found}
    return dict(sorted(found.items()))


def _split_name(file: Path) -> str:
    return re.sub(r"\.(tsv|txt|qrels|csv|jsonl|json|parquet)$", "", bare_name(file))

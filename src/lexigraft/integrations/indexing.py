"""Documents that a framework streams, as an index: counted by BM25, encoded by a model, or with the vectors that they
bring."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lexigraft.core.cut import DocumentCut, document_cut
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.folders import make_folders
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.integrations.given_vectors import GivenVectors
from lexigraft.retrieve.kept_metadata import keep_metadata
from lexigraft.stages.standalone import build, encode, index_vectors

Record = Mapping[str, Any]
ID, TITLE, TEXT, TOKS = OWN = "docno", "title", "text", "toks"

NO_VALUES = ("NAType", "NaTType")  # of pandas, which is not imported for this


def index_records(
    records: Iterable[Record],
    out: Path,
    model: Path | None = None,
    keep: DocumentCut = 0,
    replace: bool = False,
    settings: Settings | None = None,
    progress: Progress = SILENT,
) -> Path:
    """Write the index of a stream of {docno, text, title, ...} at `out`; what else a record has are metadata.

    By BM25, or by the `model` at a path, or that of the run there. Records that have `toks`, {term: weight}, are
    indexed by these; a model then only writes the queries, and must know the terms. `keep`: terms kept of each. What
    is at `out` is refused; with `replace`, an index there is replaced.
    """
    settings, keep, out = settings or Settings(), document_cut(keep), Path(out)
    if not replace and out.exists():
        raise ArtifactError(f"{out} is there already; give another path, or overwrite=True to have it replaced")
    make_folders(out.absolute().parent)
    with TemporaryDirectory(prefix=f".{out.name}.", dir=out.absolute().parent) as scratch:
        corpus, vectors = Path(scratch, "corpus"), Path(scratch, "vectors")
        given = _write_corpus(progress.track(records, "reading documents"), corpus, GivenVectors(vectors, model, out))
        if given is not None:
            texts = str(corpus) if given.have_texts else None
            index_vectors(vectors, out, given.settings(settings), keep, progress, replace, texts, given.invert)
        elif model is not None:
            encode(str(corpus), model, vectors, settings, progress)
            index_vectors(vectors, out, settings, keep, progress, replace, str(corpus))
        else:
            build(str(corpus), out, settings, keep, progress, replace)
        keep_metadata(out, str(corpus), settings.data)
    return out


def _write_corpus(records: Iterable[Record], folder: Path, vectors: GivenVectors) -> GivenVectors | None:
    """The records as a collection in `folder`; `vectors` takes what they bring, and is None where they bring none."""
    make_folders(folder)
    stream, first = _peek(records)
    given = vectors if TOKS in first else None
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as file, given or nullcontext():
        for number, record in enumerate(stream):
            doc_id, title, text = checked(record, number, given is not None)
            others = {key: value for key, value in record.items() if key not in OWN and not is_missing(value)}
            line = {"_id": doc_id, "title": title, "text": text, "metadata": others}
            file.write(json.dumps(line, default=_plain) + "\n")
            if given is not None:
                given.add(doc_id, title, text, record[TOKS])
    return given


def _peek(records: Iterable[Record]) -> tuple[Iterator[Record], Record]:
    """All records, and the first of them."""
    stream = iter(records)
    for first in stream:
        if not isinstance(first, Mapping):
            raise InputError(f"document 0 is {first!r:.100}; give mappings such as {{'docno': 'd1', 'text': '...'}}")
        return _after(first, stream), first
    raise InputError("there are no documents to index")


def _after(first: Record, rest: Iterator[Record]) -> Iterator[Record]:
    yield first
    yield from rest


def checked(record: Record, number: int, has_toks: bool) -> tuple[str, str, str]:
    """(docno, title, text) of a record, which must have the first, and the last or the vector that stands for it."""
    doc_id = record.get(ID)
    if not isinstance(doc_id, str) or not doc_id:
        raise InputError(f"document {number} has {doc_id!r} as {ID}; give a string that is not empty")
    if has_toks != (TOKS in record):
        raise InputError(f"document {doc_id!r} has {'no ' * has_toks}{TOKS}, and others differ; give all or none")
    return doc_id, _text(record, doc_id, TITLE, False), _text(record, doc_id, TEXT, not has_toks)


def _text(record: Record, doc_id: str, field: str, is_needed: bool) -> str:
    value = record.get(field)
    if not is_needed and is_missing(value):
        return ""
    if not isinstance(value, str):
        raise InputError(f"document {doc_id!r} has {value!r:.100} as {field}; give a string, which may be empty")
    return value


def is_missing(value: Any) -> bool:
    """Whether it is None, or what pandas puts into the cells of a table that have no value."""
    if isinstance(value, float | np.floating):  # numpy's of 32 bits is no float
        return math.isnan(value)
    return value is None or type(value).__name__ in NO_VALUES


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy, and dates, as JSON can hold them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)

"""JSON vectors as rows: {"id", "contents"?, "vector": {term: weight}} a line, of one file or a folder of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import open_array
from lexigraft.core.errors import InputError
from lexigraft.core.progress import Progress
from lexigraft.core.types import Document, Vocabulary
from lexigraft.data.readers.documents import json_records
from lexigraft.export.importing.rows import ReadRows, number_terms
from lexigraft.vectors.rows_writer import DocumentRowsWriter, RowsWriter
from lexigraft.vectors.store import row_ranges, shown_title

SUFFIXES = (".json", ".jsonl", ".gz")  # of the files that Anserini reads in a folder
ENTRIES_AT_ONCE, ROWS_AT_ONCE = 1 << 20, 1 << 16
SMALLEST = 1e-37  # weight: 32 bits hold less only with fewer digits


class _Read(NamedTuple):
    doc_id: str
    title: str
    term_ids: list[int]
    weights: NDArray[np.float32]


def vector_files(path: Path) -> list[Path]:
    """The files of JSON vectors at `path`, itself or those in that folder, in the order of their names."""
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and not file.name.startswith("."))
    if not found:
        raise InputError(f"{path} has no file of JSON vectors (named {', '.join(f'*{suffix}' for suffix in SUFFIXES)})")
    return found


def read_vectors(path: Path, folder: Path, like: Vocabulary | None, progress: Progress) -> ReadRows:
    """Write the rows of the files at `path` into `folder`."""
    raw = folder / "raw"
    raw.mkdir()
    number_of: dict[str, int] = {}
    largest, are_whole = 0.0, True
    with DocumentRowsWriter(raw) as rows:
        for batch in _batches(progress.track(_records(path, number_of), "reading vectors")):
            rows.append_names([one.doc_id for one in batch], [one.title for one in batch])
            weights = np.concatenate([one.weights for one in batch])
            ids = np.fromiter((term for one in batch for term in one.term_ids), np.int32, len(weights))
            rows.append_rows(np.cumsum([len(one.weights) for one in batch]), ids, weights)
            largest = max(largest, float(weights.max(initial=0)))
            are_whole = are_whole and bool((weights == np.rint(weights)).all())
        if not rows.n_rows or not number_of:
            raise InputError(f'{path} has no document with a term; a line is {{"id": ..., "vector": {{term: weight}}}}')
    vocabulary, ids_of = number_terms(path, list(number_of), like)
    _write_numbered(raw, ids_of, folder)
    for name in ("row_ids", "titles"):
        for file in (f"{name}.utf8", f"{name}.offsets.npy"):
            (raw / file).replace(folder / file)
    return ReadRows(folder, vocabulary, largest, are_whole)


def _records(path: Path, number_of: dict[str, int]) -> Iterator[_Read]:
    """Every line; new terms are numbered as they come."""
    for file in vector_files(path):
        for line, record in json_records(file):
            doc_id, vector, contents = record.get("id"), record.get("vector"), record.get("contents", "")
            if type(doc_id) is int:
                doc_id = str(doc_id)
            if not isinstance(doc_id, str) or not isinstance(vector, dict) or not isinstance(contents, str):
                wrong = "contents" if isinstance(doc_id, str) and isinstance(vector, dict) else "id and vector"
                raise InputError(
                    f'{line.where}: {wrong}: a line is {{"id": "...", "contents": "...", "vector": {{"term": weight}}}}'
                    ", where contents may be absent"
                )
            _require_name(doc_id, line.where, "id")
            weights = _weights(vector, line.where)
            try:
                ids = [number_of[term] for term in vector]
            except KeyError:
                for term in vector:
                    if term not in number_of:
                        _require_name(term, line.where, "term")
                        number_of[term] = len(number_of)
                ids = [number_of[term] for term in vector]
            yield _Read(doc_id, shown_title(Document(doc_id, "", contents)), ids, weights)


def _weights(vector: dict[str, Any], where: str) -> NDArray[np.float32]:
    values = list(vector.values())
    if set(map(type, values)) <= {int, float} and (not values or (min(values) > 0 and max(values) < 2**63)):
        weights = np.array(values, np.float32)
        if (weights >= np.float32(SMALLEST)).all():  # false of what is not a number
            return weights
    for term, weight in vector.items():
        if type(weight) not in (int, float) or not SMALLEST <= weight < 2**63:  # false of what is not a number
            raise InputError(
                f"{where}: term {term!r} weighs {str(weight)[:40]}; a weight is a number above 0, from {SMALLEST:g} on"
            )
    raise AssertionError("one of the weights is wrong")


def _require_name(name: str, where: str, what: str) -> None:
    if not name or "\0" in name or any("\ud800" <= char <= "\udfff" for char in name):
        raise InputError(f"{where}: the {what} {name!r} is empty, or holds a NUL character or a lone surrogate")


def _batches(records: Iterator[_Read]) -> Iterator[list[_Read]]:
    batch: list[_Read] = []
    n_entries = 0
    for one in records:
        batch.append(one)
        n_entries += len(one.term_ids)
        if n_entries >= ENTRIES_AT_ONCE or len(batch) >= ROWS_AT_ONCE:
            yield batch
            batch, n_entries = [], 0
    if batch:
        yield batch


def _write_numbered(raw: Path, ids_of: NDArray[np.int32], folder: Path) -> None:
    """The rows in `raw` with other ids of terms, ascending in each row."""
    indptr, term_ids, weights = (open_array(raw / f"{name}.npy") for name in ("indptr", "term_ids", "weights"))
    with RowsWriter(folder) as rows:
        for first, last in row_ranges(indptr):
            span = slice(indptr[first], indptr[last])
            lengths = np.diff(indptr[first : last + 1])
            ids = ids_of[term_ids[span]]
            order = np.lexsort((ids, np.repeat(np.arange(last - first), lengths)))
            rows.append_rows(np.cumsum(lengths), ids[order], weights[span][order])

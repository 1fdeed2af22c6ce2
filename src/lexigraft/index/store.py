"""An inverted index on disk: the files of an `index` artifact, read by memory map.

entries.npy       uint32 [ranges x terms]   where each term's list in each range of documents begins, and its form
stream.npy        uint16 [words]            the lists (index/codec.py)
range_starts.npy  int64 [ranges + 1]        where each range's lists begin
lengths.npy       int64 [terms]             postings of each term
list_max.npy      uint32 [terms]            the largest impact of each term, 0 for an empty list; no search reads it
own_lengths.npy   int64 [terms]             of those, own words of their documents; only where others were added
tie_rank.npy      int32 [documents]         position of each document in `doc_id` order, which breaks ties
doc_ids.*, titles.*, terms.*                string tables
texts.*                                     what documents say, where it is kept (index/texts.py)
meta.json                                   counts, scale, pruning, vocabulary fingerprint, query encoder
"""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import StringTable, open_array
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.errors import ArtifactError
from lexigraft.core.made_here import validate_unless_known
from lexigraft.core.pinned import of_one_version
from lexigraft.core.stored_record import read_record
from lexigraft.core.types import Vocabulary
from lexigraft.core.validation import require_length, require_within
from lexigraft.index.inverted import OF_META, Index, IndexMeta
from lexigraft.index.structure import require_structure
from lexigraft.index.texts import StoredTexts, open_texts
from lexigraft.index.validate import validate_index
from lexigraft.index.version1 import open_version1

KIND, FORMAT_VERSION = "index", 2
OWN_LENGTHS = "own_lengths.npy"


@of_one_version
def open_index(path: Path, checksums: bool = True) -> Index:
    """The index at `path`; `checksums` reads every byte of it first.

    One that was not made here, or not validated here before, is looked through as a whole, so that nothing in its files
    can lead a kernel outside of its arrays (core/made_here.py). Without checksums, so is one whose files are not known
    to be as they were then.
    """
    manifest = open_artifact(path, KIND, (1, FORMAT_VERSION), checksums)
    index = open_version1(path) if manifest.format_version == 1 else _open_version2(path)
    validate_unless_known(path, manifest, checksums, lambda: validate_index(path, index))
    return replace(index, manifest=manifest)


def _open_version2(path: Path) -> Index:
    meta = read_record(path / "meta.json", IndexMeta, OF_META)
    range_starts = open_array(path / "range_starts.npy", np.int64)
    entries = open_array(path / "entries.npy", np.uint32)
    stream, lengths = open_array(path / "stream.npy", np.uint16), open_array(path / "lengths.npy", np.int64)
    tie_rank, list_max = open_array(path / "tie_rank.npy", np.int32), open_array(path / "list_max.npy", np.uint32)
    counts = (meta.n_documents, meta.n_terms, meta.range_size)
    require_structure(path, *counts, entries, len(stream), range_starts, lengths, tie_rank)
    return Index(
        doc_ids=StringTable(path, "doc_ids"),
        titles=StringTable(path, "titles"),
        vocabulary=Vocabulary(StringTable(path, "terms")),
        entries=entries.reshape(len(range_starts) - 1, meta.n_terms),
        stream=stream,
        range_starts=range_starts,
        lengths=lengths,
        list_max=list_max,
        tie_rank=tie_rank,
        meta=meta,
        texts=_texts(path, meta.n_documents),
        own_lengths=_own_lengths(path, meta),
    )


def _own_lengths(path: Path, meta: IndexMeta) -> NDArray[np.int64] | None:
    file = path / OWN_LENGTHS
    if not file.is_file():
        return None
    found: NDArray[np.int64] = open_array(file, np.int64)
    require_length(file, len(found), meta.n_terms)
    require_within(file, found, 0, meta.n_documents + 1)
    return found


def _texts(path: Path, n_documents: int) -> StoredTexts | None:
    texts = open_texts(path)
    if texts is not None and len(texts) != n_documents:
        raise ArtifactError(f"{path} keeps {len(texts)} texts of {n_documents} documents; build it again")
    return texts


def write_meta(folder: Path, meta: IndexMeta) -> None:
    write_json(folder / "meta.json", asdict(meta))

"""An inverted index on disk: the files of an `index` artifact, read by memory map.

entries.npy       uint32 [ranges x terms]   where each term's list in each range of documents begins, and its form
stream.npy        uint16 [words]            the lists (index/codec.py)
range_starts.npy  int64 [ranges + 1]        where each range's lists begin
lengths.npy       int64 [terms]             postings of each term
list_max.npy      uint32 [terms]            the largest impact of each term, 0 for an empty list; no search reads it
tie_rank.npy      int32 [documents]         position of each document in `doc_id` order, which breaks ties
doc_ids.*, titles.*, terms.*                string tables
texts.*                                     what documents say, where it is kept (index/texts.py)
meta.json                                   counts, scale, pruning, vocabulary fingerprint, query encoder
"""

import json
from dataclasses import asdict, replace
from pathlib import Path

from lexigraft.core.arrays import StringTable, open_array
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.errors import ArtifactError
from lexigraft.core.pinned import of_one_version
from lexigraft.core.types import Vocabulary
from lexigraft.index.inverted import Index, IndexMeta
from lexigraft.index.structure import require_range_size, require_structure
from lexigraft.index.texts import StoredTexts, open_texts
from lexigraft.index.version1 import open_version1

KIND, FORMAT_VERSION = "index", 2


@of_one_version
def open_index(path: Path, checksums: bool = True) -> Index:
    """The index at `path`; `checksums` reads every byte of it first.

    Without them sizes are compared, and whether the files fit together: entries that point outside their range are
    found. A damaged byte in a list is not, and can then give wrong answers or end the process (SIGSEGV), because
    kernels do not check what they read. Leave the checksums out only for files that nothing else can change.
    """
    manifest = open_artifact(path, KIND, (1, FORMAT_VERSION), checksums)
    if manifest.format_version == 1:
        return replace(open_version1(path), manifest=manifest)
    meta = IndexMeta(**json.loads((path / "meta.json").read_text(encoding="utf-8")))
    require_range_size(path, meta.range_size)
    range_starts, entries = open_array(path / "range_starts.npy"), open_array(path / "entries.npy")
    stream, lengths = open_array(path / "stream.npy"), open_array(path / "lengths.npy")
    tie_rank = open_array(path / "tie_rank.npy")
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
        list_max=open_array(path / "list_max.npy"),
        tie_rank=tie_rank,
        meta=meta,
        texts=_texts(path, meta.n_documents),
        manifest=manifest,
    )


def _texts(path: Path, n_documents: int) -> StoredTexts | None:
    texts = open_texts(path)
    if texts is not None and len(texts) != n_documents:
        raise ArtifactError(f"{path} keeps {len(texts)} texts of {n_documents} documents; build it again")
    return texts


def write_meta(folder: Path, meta: IndexMeta) -> None:
    write_json(folder / "meta.json", asdict(meta))

"""Indexes of format 1 (one array of ordinals and one of impacts), opened as if they were of the present one.

Their lists are encoded on opening, in memory: a second or two for ten million postings. Building the index again makes
it the present format on disk.
"""

import json
from pathlib import Path

import numpy as np

from lexigraft.core.arrays import StringTable, open_array, read_only
from lexigraft.core.types import Vocabulary
from lexigraft.index.codec import RANGE, encode_range, padded, require_addressable
from lexigraft.index.inverted import Index, IndexMeta


def open_version1(path: Path) -> Index:
    meta = IndexMeta(**json.loads((path / "meta.json").read_text(encoding="utf-8")))
    lengths = np.diff(open_array(path / "indptr.npy"))
    ordinals, impacts = open_array(path / "doc_ordinals.npy"), open_array(path / "impacts.npy")
    terms = np.repeat(np.arange(meta.n_terms), lengths)
    numbers = (ordinals // RANGE).astype(np.uint16)
    by_range = np.argsort(numbers, kind="stable")  # within a range by term, then by document
    ends = np.cumsum(np.bincount(numbers, minlength=-(-meta.n_documents // RANGE)))
    range_starts, entries, words = [0], [], []
    for first, here in zip(range(0, meta.n_documents, RANGE), np.split(by_range, ends[:-1]), strict=True):
        starts = np.concatenate(([0], np.cumsum(np.bincount(terms[here], minlength=meta.n_terms))))
        places = (ordinals[here] - first).astype(np.uint16)
        n_here = min(RANGE, meta.n_documents - first)
        found = encode_range(starts, places, impacts[here], padded(n_here), 8)
        require_addressable(len(found[1]), n_here)
        entries.append(found[0])
        words.append(found[1])
        range_starts.append(range_starts[-1] + len(found[1]))
    return Index(
        doc_ids=StringTable(path, "doc_ids"),
        titles=StringTable(path, "titles"),
        vocabulary=Vocabulary(StringTable(path, "terms")),
        entries=read_only(np.array(entries, np.uint32).reshape(-1, meta.n_terms)),
        stream=read_only(np.concatenate([np.zeros(0, np.uint16), *words])),
        range_starts=read_only(np.array(range_starts, np.int64)),
        lengths=read_only(lengths),
        list_max=read_only(open_array(path / "list_max.npy").astype(np.uint32)),
        tie_rank=open_array(path / "tie_rank.npy"),
        meta=meta,
    )

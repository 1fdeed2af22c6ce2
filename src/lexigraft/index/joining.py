"""Indexes of parts of a collection to one index of all of it: the same, to the bit, as one built at once.

Lists are kept by ranges of documents. Where every part but the last is made of whole ranges, and all have one scale,
the lists of all are those of the parts, one after the other: nothing is inverted again. Any other parts are read back
to rows, as segments of a live index are when they are merged, and inverted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from lexigraft.core.arrays import ArrayWriter, release_pages, write_strings
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import IndexSettings
from lexigraft.core.types import require_same_vocabulary
from lexigraft.index.build import build_index, tie_rank
from lexigraft.index.inverted import Index, IndexMeta
from lexigraft.index.live.merging import rebuild_vectors
from lexigraft.index.live.reader import Segment
from lexigraft.index.live.texts import rows_of_segments, write_living_texts
from lexigraft.index.store import write_meta
from lexigraft.index.texts import keep_texts, own_order

WORDS_AT_ONCE = 1 << 22  # of lists that are copied
REMEDY = "build the shards with the same model and settings"
MOST_BITS_READ_BACK = 16  # the 24 bits of a float32 do not tell impacts of 24 bits apart once they are multiplied


@dataclass(frozen=True)
class Part:
    """An open index, and where it lies."""

    path: Path
    index: Index


class Joined(NamedTuple):
    """The index that was written, and the largest error of a weight that came of different scales."""

    meta: IndexMeta
    largest_error: float


def join_indexes(
    parts: Sequence[Part],
    folder: Path,
    query_encoder: Mapping[str, Any],
    settings: IndexSettings | None = None,
    progress: Progress = SILENT,
) -> Joined:
    """Write the index of the documents of all parts, in order, into `folder`. `query_encoder` describes the encoder as
    seen from where the index will lie."""
    settings = settings or IndexSettings()
    require_parts(parts)
    indexes = [part.index for part in parts]
    if settings.reorder or not _are_whole_ranges(indexes):
        return _invert_again(parts, folder, query_encoder, settings, progress)
    meta = _append_lists(indexes, folder, query_encoder, progress)
    _write_texts(indexes, folder, meta)
    return Joined(meta, 0.0)


def require_parts(parts: Sequence[Part]) -> None:
    """Raise unless all parts were made alike: by one encoder over one vocabulary, of documents cut alike."""
    first = parts[0]
    for part in parts[1:]:
        ours, theirs = part.index.meta, first.index.meta
        require_same_vocabulary(str(part.path), ours.vocab_fingerprint, str(first.path), theirs.vocab_fingerprint)
        differs = {
            "encoder": (_identity(ours), _identity(theirs)),
            "cut of documents (--keep)": (ours.keep, theirs.keep),
            "bits of an impact (index.bits)": (ours.bits, theirs.bits),
            "passages": (ours.passages, theirs.passages),
        }
        for what, (here, there) in differs.items():
            if here != there:
                raise InputError(f"{part.path} and {first.path} differ in their {what}: {here} and {there}; {REMEDY}")


def _identity(meta: IndexMeta) -> dict[str, Any]:
    """A model is known by its fingerprint, wherever it lies."""
    return {key: value for key, value in meta.query_encoder.items() if key != "model"}


def _are_whole_ranges(indexes: Sequence[Index]) -> bool:
    """Whether the lists of these indexes, one after the other, are those of one index."""
    alike = {(one.meta.scale, one.meta.range_size, one.meta.reordered) for one in indexes}
    whole = all(one.n_documents % one.meta.range_size == 0 for one in indexes[:-1])
    return whole and len(alike) == 1 and not indexes[0].meta.reordered


def _append_lists(
    indexes: Sequence[Index], folder: Path, query_encoder: Mapping[str, Any], progress: Progress
) -> IndexMeta:
    first = indexes[0]
    range_starts, lengths = [np.zeros(1, np.int64)], np.zeros(first.n_terms, np.int64)
    list_max = np.zeros(first.n_terms, np.uint32)
    with (
        ArrayWriter(folder / "entries.npy", np.uint32) as entries,
        ArrayWriter(folder / "stream.npy", np.uint16) as stream,
    ):
        for index in progress.track(indexes, "joining shards", len(indexes)):
            range_starts.append(index.range_starts[1:] + stream.length)
            for row in index.entries:
                entries.append(row)
            for start in range(0, len(index.stream), WORDS_AT_ONCE):
                stream.append(index.stream[start : start + WORDS_AT_ONCE])
            lengths += index.lengths
            list_max = np.maximum(list_max, index.list_max)
            release_pages(index.stream, index.entries)
    np.save(folder / "range_starts.npy", np.concatenate(range_starts))
    np.save(folder / "lengths.npy", lengths)
    np.save(folder / "list_max.npy", list_max)
    doc_ids = list(chain.from_iterable(index.doc_ids for index in indexes))
    np.save(folder / "tie_rank.npy", tie_rank(doc_ids))
    write_strings(folder, "doc_ids", doc_ids)
    write_strings(folder, "titles", chain.from_iterable(index.titles for index in indexes))
    write_strings(folder, "terms", first.vocabulary.terms)
    counts = {"n_documents": len(doc_ids), "n_postings": int(lengths.sum())}
    meta = replace(first.meta, **counts, query_encoder=query_encoder)  # type: ignore[arg-type]
    write_meta(folder, meta)
    return meta


def _invert_again(
    parts: Sequence[Part], folder: Path, query_encoder: Mapping[str, Any], settings: IndexSettings, progress: Progress
) -> Joined:
    shared = parts[0].index.meta
    if shared.bits > MOST_BITS_READ_BACK:
        raise InputError(
            f"impacts of {shared.bits} bits are merged only where every shard but the last has a multiple of "
            f"{shared.range_size:,} documents and all have one scale: make them by --shards, or with index.bits=16"
        )
    segments = [Segment(part.index) for part in parts]
    # Within the draft: the next writer removes what a kill leaves of that.
    with TemporaryDirectory(prefix=".rows-", dir=folder) as name:
        vectors, scale, error = rebuild_vectors(segments, Path(name), progress)
        vectors = replace(vectors, query_encoder=query_encoder)
        # They are cut already: by mass they would be cut once more.
        settings = replace(settings, bits=shared.bits)
        meta = build_index(vectors, folder, 0, settings, progress, scale, shared.range_size)
        row_ids = list(vectors.matrix.row_ids)
    meta = replace(meta, keep=shared.keep)
    write_meta(folder, meta)
    _write_texts([part.index for part in parts], folder, meta, row_ids)
    return Joined(meta, error)


def _write_texts(indexes: Sequence[Index], folder: Path, meta: IndexMeta, row_ids: Sequence[str] = ()) -> None:
    """The texts that parts keep; none where no part keeps any."""
    with TemporaryDirectory(prefix=".texts-", dir=folder) as name:
        write_living_texts(rows_of_segments(Segment(index) for index in indexes), Path(name))
        keep_texts(Path(name), folder, row_ids, own_order(folder, meta.reordered))

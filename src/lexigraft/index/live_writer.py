"""The one writer of a live index: append, delete and merge, each of which happens whole or not at all.

New files are written first and are on the disk before the state that names them; what no state names is removed after
the state has changed, and what killed writers left is removed before anything is written.
"""

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.artifact import MANIFEST, Manifest, hash_file, sync, write_artifact
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.lock import writer_lock
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import IndexSettings
from lexigraft.core.types import document_of
from lexigraft.index import store
from lexigraft.index.agreement import common_scale, require_8_bits, require_alike, seen_from_segment
from lexigraft.index.build import build_index
from lexigraft.index.deleted import write_deleted
from lexigraft.index.live import Segment, open_segment
from lexigraft.index.live_folder import SCRATCH, abandon, make_folders, remove, require_free, sweep
from lexigraft.index.live_state import SEGMENTS, LiveState, SegmentState, read_state, segment_name, write_state
from lexigraft.index.merging import plan_merge, rebuild_vectors
from lexigraft.vectors.store import DocumentVectors

SHOWN_IDS = 3

OnMissing = Literal["error", "ok"]


@dataclass(frozen=True)
class Appended:
    segment: str
    n_rows: int
    n_replaced: int  # documents of these ids that were deleted in the same step
    scale: float
    own_scale: bool  # weights were too large for the scales there were


@dataclass(frozen=True)
class Deleted:
    n_documents: int
    n_rows: int
    n_missing: int


@dataclass(frozen=True)
class Merged:
    segments: tuple[str, ...]
    into: str | None  # None where no row was left
    n_rows: int
    n_dropped: int
    scales: tuple[float, ...]  # the different ones before
    largest_error: float  # of a weight, where there were several scales


@contextmanager
def open_writer(folder: Path, wait: bool = False) -> Iterator["LiveWriter"]:
    """The writer of the live index at `folder`, alone until the block ends. While there is another, raises
    `ArtifactError` at once, or waits."""
    read_state(folder)  # before the lock, which would leave its file in a folder of somebody's
    with writer_lock(folder, wait):
        yield from _writing(LiveWriter(folder, read_state(folder)))


@contextmanager
def create_live(folder: Path, wait: bool = False) -> Iterator["LiveWriter"]:
    """The writer of a live index that begins at `folder`, which must be free, empty or left by a killed call of this.
    There is no index until something is added, and nothing stays where nothing was."""
    require_free(folder)
    was_there = folder.exists()
    with writer_lock(folder, wait):
        require_free(folder)
        make_folders(folder)
        writer = LiveWriter(folder, None)
        try:
            yield from _writing(writer)
        finally:
            if writer.state is None:
                abandon(folder, was_there)


def _writing(writer: "LiveWriter") -> Iterator["LiveWriter"]:
    sweep(writer.folder, writer.state)
    try:
        yield writer
    finally:
        sweep(writer.folder, writer.state)


class LiveWriter:
    """Made by `open_writer` and `create_live`, which hold the lock. `state` is the newest; None before the first."""

    def __init__(self, folder: Path, state: LiveState | None) -> None:
        self.folder = folder
        self.state = state

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """An empty folder that is gone after the block, or after a kill when the next writer comes."""
        folder = self.folder / SCRATCH
        remove(folder)
        folder.mkdir()
        try:
            yield folder
        finally:
            remove(folder)

    def adopt(self, index: Path, query_encoder: Mapping[str, Any]) -> SegmentState:
        """Begin with a copy of the index at `index`; paths in `query_encoder` start at the live folder."""
        if self.state is not None:
            raise ArtifactError(f"{self.folder} has documents already; add vectors to it")
        meta = store.open_index(index).meta
        require_8_bits(meta.bits)
        name = segment_name(1)
        target = self.folder / SEGMENTS / name
        draft = target.with_name(f"{name}.draft-{os.getpid()}")
        shutil.copytree(index, draft, symlinks=False)
        for entry in draft.rglob("*"):
            sync(entry)
        sync(draft)
        draft.rename(target)
        sync(target.parent)
        segment = self._described(name, meta)
        store.open_index(target)  # what was copied is what was checked
        self._commit(LiveState(1, 2, meta.vocab_fingerprint, meta.keep, meta.passages, query_encoder, (segment,)))
        return segment

    def append(
        self,
        vectors: DocumentVectors,
        keep: int | None = None,
        replacing: bool = False,
        settings: IndexSettings | None = None,
        progress: Progress = SILENT,
    ) -> Appended:
        """Add documents as one more segment; paths in the vectors' query encoder start at the live folder.

        They must be of the same vocabulary and encoder, in passages or not as those here, and cut to as many terms
        (`keep`: of the first segment, 0 where not given; afterwards only to be checked). An id that lives here already
        raises `InputError`, or with `replacing` the old document is deleted in the same step.
        """
        if not vectors.matrix.n_rows:
            raise InputError("there are no documents to add: the vectors have no rows")
        state = self.state or LiveState(
            0, 1, vectors.matrix.vocab_fingerprint, keep or 0, vectors.passages, vectors.query_encoder, ()
        )
        require_8_bits(settings.bits if settings else 8)
        require_alike(self.folder, state, vectors, keep)
        kept_segments, n_replaced = self._without(state, _documents(vectors), replacing)
        scale = common_scale(state, vectors)
        name = segment_name(state.next_segment)
        manifest = Manifest(
            store.KIND, store.FORMAT_VERSION, {"keep": state.keep, "scale": scale}, {"vectors": vectors.fingerprint}
        )
        shared = replace(vectors, query_encoder=seen_from_segment(state.query_encoder))
        with write_artifact(self.folder / SEGMENTS / name, manifest) as draft:
            meta = build_index(shared, draft, state.keep, settings, progress, scale=scale)
        segments = (*kept_segments, self._described(name, meta))
        self._commit(replace(state, segments=segments, next_segment=state.next_segment + 1))
        return Appended(name, meta.n_documents, n_replaced, meta.scale, scale is None and bool(state.segments))

    def delete(self, doc_ids: Iterable[str], missing: OnMissing = "error") -> Deleted:
        """Delete documents, all of their passages. Ids that do not live here raise `InputError` and nothing is deleted;
        with `missing` "ok" they are counted."""
        if missing not in ("error", "ok"):
            raise SettingError(f"missing = {missing!r} is not allowed: 'error' or 'ok'")
        state, wanted = self._present(), set(doc_ids)
        hidden = self._find(state, wanted)
        found = {doc_id for rows in hidden.values() for doc_id in rows}
        if (absent := sorted(wanted - found)) and missing == "error":
            raise InputError(
                f"{len(absent)} of {len(wanted)} ids are not in {self.folder} (such as {_some(absent)}); nothing was "
                "deleted; to delete the others give --missing ok"
            )
        if found:
            self._commit(replace(state, segments=self._hide(state, hidden)))
        n_rows = sum(len(rows) for of_segment in hidden.values() for rows in of_segment.values())
        return Deleted(len(found), n_rows, len(absent))

    def merge(
        self, everything: bool = False, settings: IndexSettings | None = None, progress: Progress = SILENT
    ) -> list[Merged]:
        """Merge segments while it pays, or all of them into one; says what was done, nothing where nothing was."""
        done = []
        while span := plan_merge(self._present().segments, everything):
            require_8_bits(settings.bits if settings else 8)
            done.append(self._merge_range(*span, settings, progress))
        return done

    def _merge_range(self, first: int, last: int, settings: IndexSettings | None, progress: Progress) -> Merged:
        state = self._present()
        before, chosen, after = state.segments[:first], state.segments[first:last], state.segments[last:]
        # Every byte is checked: what is copied gets new checksums, and damage would look whole from then on.
        opened = [open_segment(self.folder, segment, checksums=True) for segment in chosen]
        survivors = [segment for segment in opened if segment.n_living]
        into, error = None, 0.0
        if len(survivors) == 1 and survivors[0].allowed is None:  # nothing to write: the others are empty
            into = next(named for named, segment in zip(chosen, opened, strict=True) if segment.n_living)
        elif survivors:
            into, error = self._write_merged(state, survivors, settings, progress)
        elif not before and not after:  # one stays, all deleted: the vocabulary lives in segments
            before = chosen[:1]
        segments = (*before, *((into,) if into else ()), *after)
        self._commit(replace(state, segments=segments, next_segment=state.next_segment + 1))
        return Merged(
            tuple(segment.name for segment in chosen),
            into.name if into else None,
            into.n_rows if into else 0,
            sum(segment.n_deleted for segment in chosen),
            tuple(sorted({segment.index.meta.scale for segment in survivors})),
            error,
        )

    def _write_merged(
        self, state: LiveState, segments: Sequence[Segment], settings: IndexSettings | None, progress: Progress
    ) -> tuple[SegmentState, float]:
        name = segment_name(state.next_segment)
        with self.scratch() as folder:
            vectors, scale, error = rebuild_vectors(segments, folder, progress)
            vectors = replace(vectors, query_encoder=seen_from_segment(state.query_encoder))
            manifest = Manifest(store.KIND, store.FORMAT_VERSION, {"keep": state.keep, "scale": scale})
            with write_artifact(self.folder / SEGMENTS / name, manifest) as draft:
                meta = build_index(vectors, draft, state.keep, settings, progress, scale=scale)
        return self._described(name, meta), error

    def _present(self) -> LiveState:
        if self.state is None:
            raise ArtifactError(f"there is nothing in {self.folder} yet; add documents first")
        return self.state

    def _commit(self, state: LiveState) -> None:
        state = replace(state, generation=(self.state.generation if self.state else 0) + 1)
        write_state(self.folder, state)
        self.state = state
        sweep(self.folder, state)

    def _described(self, name: str, meta: store.IndexMeta) -> SegmentState:
        manifest = hash_file(self.folder / SEGMENTS / name / MANIFEST)
        return SegmentState(name, meta.n_documents, meta.n_postings, meta.scale, manifest)

    def _without(self, state: LiveState, doc_ids: set[str], replacing: bool) -> tuple[tuple[SegmentState, ...], int]:
        """The segments without these documents, and how many of them there were."""
        hidden = self._find(state, doc_ids)
        found = {doc_id for rows in hidden.values() for doc_id in rows}
        if found and not replacing:
            raise InputError(
                f"{len(found)} of the {len(doc_ids)} documents to add are in {self.folder} already (such as "
                f"{_some(sorted(found))}); give --replace to put the new ones in their place"
            )
        return self._hide(state, hidden), len(found)

    def _find(self, state: LiveState, doc_ids: set[str]) -> dict[str, dict[str, list[int]]]:
        """The living rows of these documents, by segment and id."""
        return {
            segment.name: open_segment(self.folder, segment, checksums=False).rows_of_all(doc_ids)
            for segment in state.segments
        }

    def _hide(self, state: LiveState, hidden: Mapping[str, Mapping[str, list[int]]]) -> tuple[SegmentState, ...]:
        return tuple(
            self._hide_rows(state, segment, [row for rows in hidden[segment.name].values() for row in rows])
            for segment in state.segments
        )

    def _hide_rows(self, state: LiveState, segment: SegmentState, rows: Sequence[int]) -> SegmentState:
        if not rows:
            return segment
        known = open_segment(self.folder, segment, checksums=False).allowed
        allowed: NDArray[np.uint8] = np.ones(segment.n_rows, np.uint8) if known is None else known
        allowed[np.asarray(rows)] = 0
        return replace(segment, deleted=write_deleted(self.folder, segment.name, state.generation + 1, allowed))


def _documents(vectors: DocumentVectors) -> set[str]:
    ids = iter(vectors.matrix.row_ids)
    return {document_of(row_id) for row_id in ids} if vectors.passages else set(ids)


def _some(doc_ids: Collection[str]) -> str:
    return ", ".join(repr(doc_id) for doc_id in islice(doc_ids, SHOWN_IDS))

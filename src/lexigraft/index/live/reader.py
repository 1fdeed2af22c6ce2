"""A live index as a reader sees it: the segments of one state, whatever a writer does meanwhile.

Opened files stay readable after a writer has removed them. Only between reading the state and opening what it names can
something go away; then there is a newer state, and that is opened instead. The whole folder may be replaced, too, as
that of a saved retriever is: all is read from the folder that was opened first, or from the other one.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.artifact import MANIFEST
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.pinned import of_one_version, read_pinned
from lexigraft.core.plain_files import read_plain_file
from lexigraft.core.types import Vocabulary, document_of
from lexigraft.index.inverted import Index
from lexigraft.index.live.counts import CountedSegment, document_frequency, open_segment_counts
from lexigraft.index.live.deleted import read_allowed
from lexigraft.index.live.graft_files import open_segment_vectors
from lexigraft.index.live.metadata import open_segment_metadata
from lexigraft.index.live.state import REMEDY, SEGMENTS, LiveState, SegmentState, read_state
from lexigraft.index.live.widening import longest_vocabulary, widened
from lexigraft.index.metadata_files import MetadataTable
from lexigraft.index.store import open_index
from lexigraft.vectors.query_encoder import LIVE_BM25, Frequencies

ATTEMPTS = 20  # a state that is gone before it is opened, so many times in a row
SCAN_FROM = 16  # one id in so many rows is found by searching, more are found by going through all rows


T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Segment:
    """One index and which of its rows are to be seen: `allowed` has 0 for a deleted one, and is None where none is.
    `metadata` are those of its documents, the deleted ones among them."""

    index: Index
    allowed: NDArray[np.uint8] | None = None
    metadata: MetadataTable | None = None

    @cached_property
    def n_living(self) -> int:
        return self.index.n_documents if self.allowed is None else int(np.count_nonzero(self.allowed))

    def rows_of(self, doc_id: str) -> list[int]:
        """The living rows of a document, all of its passages; none where it is not here, or deleted."""
        if not self.index.holds(doc_id):
            return []
        return [row for row in self.index.ordinals(doc_id) if self.allowed is None or self.allowed[row]]

    def rows_of_all(self, doc_ids: set[str]) -> dict[str, list[int]]:
        """`rows_of` every document that has living rows: the quicker way for many."""
        if len(doc_ids) * SCAN_FROM < self.index.n_documents:
            each = ((doc_id, self.rows_of(doc_id)) for doc_id in doc_ids)
            return {doc_id: rows for doc_id, rows in each if rows}
        found: dict[str, list[int]] = {}
        for row, doc_id in enumerate(self._documents()):
            if doc_id in doc_ids and (self.allowed is None or self.allowed[row]):
                found.setdefault(doc_id, []).append(row)
        return found

    def _documents(self) -> Iterable[str]:
        return map(document_of, self.index.doc_ids) if self.index.meta.passages else self.index.doc_ids


@dataclass(frozen=True, eq=False)
class LiveIndex:
    """The segments of one state. A document lives in one of them, with all its passages."""

    segments: tuple[Segment, ...]
    query_encoder: Mapping[str, Any]
    generation: int = 0
    frequencies: Frequencies | None = None  # of the living documents, where queries carry the IDF (BM25)

    @classmethod
    def of_index(cls, index: Index) -> "LiveIndex":
        """A plain index as one segment without deleted rows, so that who reads either needs one way only."""
        alone = index.meta.query_encoder.get("kind") == LIVE_BM25  # a segment of a live one, opened by itself
        frequencies = Frequencies(index.n_documents, index.document_frequency) if alone else None
        return cls((Segment(index),), index.meta.query_encoder, frequencies=frequencies)

    @property
    def vocabulary(self) -> Vocabulary:
        return self.segments[0].index.vocabulary

    @property
    def vocab_fingerprint(self) -> str:
        return self.segments[0].index.meta.vocab_fingerprint

    @cached_property
    def n_documents(self) -> int:
        """Of an index of passages, how many passages."""
        return sum(segment.n_living for segment in self.segments)

    @property
    def passages(self) -> bool:
        """Whether its rows are passages of documents."""
        return any(segment.index.meta.passages for segment in self.segments)

    def holds(self, doc_id: str) -> bool:
        return any(segment.rows_of(doc_id) for segment in self.segments)

    def segment_of(self, doc_id: str) -> Segment:
        """Where a document, or a passage by its own id, lives. Raises `InputError` for an unknown or deleted one."""
        for segment in self.segments:  # a document first: its id may look like that of another one's passage
            if segment.rows_of(doc_id):
                return segment
        for segment in self.segments:
            try:
                rows = segment.index.ordinals(doc_id)
            except InputError:
                continue
            if segment.allowed is None or segment.allowed[rows[0]]:
                return segment
        raise InputError(f"there is no document {doc_id!r} in this index of {self.n_documents} documents")


def open_live(folder: Path, checksums: bool = True) -> LiveIndex:
    """Open the newest state of the live index at `folder`. Sizes, the state, the manifests and the deleted rows are
    always checked; `checksums` also reads every byte of the segments. Those that were made elsewhere are looked through
    (see `open_index`). Raises `ArtifactError` naming what is wrong."""
    return open_newest(folder, checksums)[1]


@of_one_version
def open_newest(folder: Path, checksums: bool = True) -> tuple[LiveState, LiveIndex]:
    """As `open_live`, with the state that was opened."""
    return at_newest(folder, lambda state: open_state(folder, state, checksums))


def at_newest(folder: Path, read: Callable[[LiveState], T]) -> tuple[LiveState, T]:
    """The newest state of the live index at `folder`, and what `read` makes of it, which raises `OSError` where
    something that the state names is not whole. It is called again where a writer has replaced that state meanwhile."""
    state = read_state(folder)
    for _ in range(ATTEMPTS):
        try:
            return state, read(state)
        except OSError:
            newer = read_state(folder)
            if newer == state:  # and not by their generations alone: another index may have come in its place
                raise  # nobody replaced it: something is missing or damaged
            state = newer
    raise ArtifactError(f"{folder} was changed {ATTEMPTS} times while it was opened; try again, or write less often")


def open_state(folder: Path, state: LiveState, checksums: bool) -> LiveIndex:
    """The segments that `state` names; raises `OSError` where one is not whole."""
    if not state.counts_words:
        segments = tuple(open_segment(folder, segment, checksums) for segment in state.segments)
        for named, segment in zip(state.segments, segments, strict=True):
            if segment.index.meta.vocab_fingerprint != state.vocab_fingerprint:
                raise ArtifactError(f"{folder / SEGMENTS / named.name} is of another vocabulary; {REMEDY}")
        return LiveIndex(segments, state.query_encoder, state.generation)
    counted = [open_counted(folder, segment, checksums) for segment in state.segments]
    vocabulary = longest_vocabulary([segment.index for segment in counted])
    frequencies = Frequencies(state.n_living, document_frequency(counted, len(vocabulary[0])))
    wide = tuple(Segment(widened(one.index, *vocabulary), one.allowed, one.metadata) for one in counted)
    return LiveIndex(wide, state.query_encoder, state.generation, frequencies)


def open_segment(folder: Path, named: SegmentState, checksums: bool) -> Segment:
    """The segment that a state names; raises `OSError` where it is not whole."""
    return read_pinned(folder / SEGMENTS / named.name, lambda path: _open_segment(path, folder, named, checksums))


def open_counted(folder: Path, named: SegmentState, checksums: bool) -> CountedSegment:
    """A segment of BM25, with the counts that lie in its folder: both are of one version of it."""

    def load(path: Path) -> CountedSegment:
        segment = _open_segment(path, folder, named, checksums)
        counts = open_segment_counts(path, segment.index, checksums)
        vectors = open_segment_vectors(path, segment.index)
        return CountedSegment(segment.index, segment.allowed, counts, segment.metadata, vectors)

    return read_pinned(folder / SEGMENTS / named.name, load)


def _open_segment(path: Path, folder: Path, named: SegmentState, checksums: bool) -> Segment:
    """The segment whose files are read from `path`, of the live index at `folder`."""
    manifest = path / MANIFEST
    if not manifest.is_file():
        raise ArtifactError(f"{manifest} is missing; {REMEDY}")
    if sha256(read_plain_file(manifest)).hexdigest() != named.manifest_sha256:
        raise ArtifactError(f"{manifest} does not match its checksum: it was changed or damaged; {REMEDY}")
    index = open_index(path, checksums)
    said, found = (named.n_rows, named.n_postings), (index.n_documents, index.meta.n_postings)
    if said != found:
        raise ArtifactError(f"{path} has {found[0]} rows and {found[1]} postings, its state says {said}; {REMEDY}")
    allowed = read_allowed(folder, named)
    if index.texts is not None and allowed is not None and not index.texts.holds_any(allowed):
        index = replace(index, texts=None)  # who asks whether there are texts asks for those of living documents
    return Segment(index, allowed, open_segment_metadata(folder, named, checksums))

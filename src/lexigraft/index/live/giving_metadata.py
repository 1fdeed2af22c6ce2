"""Segments of a live index get metadata: those of documents that are added or merged, and those that are given later.
What is written here counts when a state names it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lexigraft.index.live.metadata import metadata_path, write_segment_metadata
from lexigraft.index.live.reader import Segment, open_segment
from lexigraft.index.live.state import SEGMENTS, LiveState, SegmentState
from lexigraft.index.metadata import SegmentMetadata, documents_in_order
from lexigraft.index.metadata_columns import Living, arranged, nothing_to_filter_by, warn_of_unknown
from lexigraft.index.metadata_files import MetadataTable
from lexigraft.index.store import open_index


def with_metadata(folder: Path, named: SegmentState, generation: int, parts: Sequence[Living]) -> SegmentState:
    """A segment with what `parts` know of its documents, written for the generation that comes; as it is where they
    know nothing."""
    if not any(part.table.values for part in parts):
        return named
    doc_ids = documents_in_order(open_index(folder / SEGMENTS / named.name, checksums=False))
    path = metadata_path(folder, named.name, generation)
    return replace(named, metadata=write_segment_metadata(path, arranged(doc_ids, parts)))


def living_metadata(segments: Sequence[Segment]) -> list[Living]:
    """What is known of the living documents of segments."""
    found = (SegmentMetadata(one.index, one.metadata, one.allowed) for one in segments)
    return [Living(one.table, one.living) for one in found if one.table is not None]


def segments_with(folder: Path, state: LiveState, given: MetadataTable, replacing: bool) -> tuple[SegmentState, ...]:
    """The segments, whose documents have what is `given` beside what they have or, with `replacing`, instead of all
    that any document has. Says how many of the given do not live here; raises where none does."""
    segments, n_known = [], 0
    for named in state.segments:
        segment = open_segment(folder, named, checksums=True)
        here = SegmentMetadata(segment.index, segment.metadata, segment.allowed)
        chosen = here.has_living(given.doc_ids)
        n_known += int(chosen.sum())
        if chosen.any() or replacing:
            former = [] if replacing else living_metadata([segment])
            parts = [Living(given, chosen), *former]
            segments.append(with_metadata(folder, replace(named, metadata=None), state.generation + 1, parts))
        else:
            segments.append(named)
    if not n_known or not given.values:
        raise nothing_to_filter_by()
    if n_known < len(given.doc_ids):
        warn_of_unknown(len(given.doc_ids) - n_known)
    return tuple(segments)

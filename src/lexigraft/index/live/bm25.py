"""Segments of a live index of BM25: counted documents become an index without IDF, with their counts beside it.

Nothing but the documents, in order, and the average length that the state says enters the files of a segment. So it
does not matter how documents came there: a segment of all of them has the bytes that an index begun with them has.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import IndexSettings, LexicalSettings
from lexigraft.core.word_rule import WordRule
from lexigraft.index import store
from lexigraft.index.build import build_index
from lexigraft.index.inverted import IndexMeta
from lexigraft.index.live.agreement import lexical_settings
from lexigraft.index.live.counts import CountedSegment, keep_counts, living_rows
from lexigraft.index.live.merging import plan_merge
from lexigraft.index.live.state import LiveState, SegmentState
from lexigraft.index.live.texts import rows_as_added, write_living_texts
from lexigraft.index.live.widening import longest_vocabulary
from lexigraft.index.texts import keep_texts, own_order
from lexigraft.vectors.analysis import described
from lexigraft.vectors.counted_texts import CountedRows, saturated_frequencies
from lexigraft.vectors.quantize import MAX_IMPACT
from lexigraft.vectors.query_encoder import LIVE_BM25
from lexigraft.vectors.store import DocumentVectors

# A saturated term frequency is at most 1, so one scale fits all segments there will ever be.
SATURATED_SCALE = 1 / MAX_IMPACT


def first_state(rows: CountedRows, settings: LexicalSettings, rule: WordRule, passages: bool) -> LiveState:
    """The state, still without a segment, of an index that begins with `rows`; raises where they hold no word."""
    if not len(rows.vocabulary):
        raise InputError(f"no word was found in any of the {rows.n_rows} documents; nothing can be indexed")
    queries = dict(
        sorted(described(LIVE_BM25, settings, rule).items())
    )  # as the state gives it back: segments hold it, too
    return LiveState(0, 1, rows.vocabulary.fingerprint, 0, passages, queries, (), rows.mean_length)


def write_counted_segment(
    path: Path, state: LiveState, rows: CountedRows, settings: IndexSettings | None, progress: Progress = SILENT
) -> IndexMeta:
    """Write the segment of `rows` at `path`, weighed by the average length that `state` says. Texts that lie in the
    folder of `rows` are kept with it."""
    assert state.mean_length is not None, "the state is that of an index of BM25"
    matrix = saturated_frequencies(rows, state.mean_length, lexical_settings(state), rows.folder)
    vectors = DocumentVectors(matrix, rows.titles, rows.vocabulary, state.query_encoder, "", state.passages)
    config = {"keep": 0, "scale": SATURATED_SCALE, "mean_length": state.mean_length}
    with write_artifact(path, Manifest(store.KIND, store.FORMAT_VERSION, config)) as draft:
        meta = build_index(vectors, draft, 0, settings, progress, scale=SATURATED_SCALE)
        own = own_order(draft, meta.reordered)
        keep_counts(rows, draft, own)
        keep_texts(rows.folder, draft, rows.row_ids, own)
    return meta


def write_merged_segment(
    path: Path,
    state: LiveState,
    segments: Sequence[CountedSegment],
    weighed_anew: bool,
    scratch: Path,
    settings: IndexSettings | None,
    progress: Progress = SILENT,
) -> tuple[IndexMeta, float | None]:
    """Write the living documents of `segments` as one segment at `path`, made of their counts, and say by which average
    length. With `weighed_anew`, where they are all documents there are, vocabulary and average length become those of
    an index made of them at once; else they stay those of `state`."""
    vocabulary = longest_vocabulary([segment.index for segment in segments])[0]
    rows = living_rows(segments, vocabulary, weighed_anew, scratch, progress)
    write_living_texts(rows_as_added(segments), scratch)
    weighed = replace(state, mean_length=rows.mean_length) if weighed_anew else state
    return write_counted_segment(path, weighed, rows, settings, progress), weighed.mean_length


def plan_counted_merge(segments: Sequence[SegmentState], everything: bool = False) -> tuple[int, int] | None:
    """As `plan_merge`; but a merge that would leave one segment takes all of them. So one segment without deleted rows
    is always weighed by its own average length and has a vocabulary of its own, as an index made at once has."""
    span = plan_merge(segments, everything)
    if span is None:
        return None
    first, last = span
    left = len(segments) - (last - first) + any(segment.n_living for segment in segments[first:last])
    return span if left > 1 else (0, len(segments))

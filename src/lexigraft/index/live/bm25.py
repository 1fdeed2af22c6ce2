"""Segments of a live index of BM25: counted documents become an index without IDF, with their counts beside it.

Nothing but the documents, in order, and the average length that the state says enters the files of a segment. So it
does not matter how documents came there: a segment of all of them has the bytes that an index begun with them has.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import IndexSettings, LexicalSettings
from lexigraft.core.word_rule import WordRule
from lexigraft.index import store
from lexigraft.index.build import build_index
from lexigraft.index.inverted import IndexMeta
from lexigraft.index.live.agreement import lexical_settings
from lexigraft.index.live.counts import keep_counts
from lexigraft.index.live.graft_facts import LiveGraft
from lexigraft.index.live.graft_files import keep_graft
from lexigraft.index.live.graft_rows import Grafting, graft_rows
from lexigraft.index.live.merging import plan_merge
from lexigraft.index.live.state import LiveState, SegmentState
from lexigraft.index.store import OWN_LENGTHS
from lexigraft.index.texts import keep_texts, own_order
from lexigraft.vectors.analysis import described
from lexigraft.vectors.counted_texts import CountedRows, saturated_frequencies
from lexigraft.vectors.quantize import document_scale
from lexigraft.vectors.query_encoder import LIVE_BM25
from lexigraft.vectors.store import DocumentVectors

LARGEST = 1.0  # a saturated term frequency is at most this, so one scale fits all segments there will ever be


def first_state(rows: CountedRows, settings: LexicalSettings, rule: WordRule, passages: bool) -> LiveState:
    """The state, still without a segment, of an index that begins with `rows`; raises where they hold no word."""
    if not len(rows.vocabulary):
        raise InputError(f"no word was found in any of the {rows.n_rows} documents; nothing can be indexed")
    queries = dict(
        sorted(described(LIVE_BM25, settings, rule).items())
    )  # as the state gives it back: segments hold it, too
    return LiveState(0, 1, rows.vocabulary.fingerprint, 0, passages, queries, (), rows.mean_length)


def write_counted_segment(
    path: Path, state: LiveState, rows: CountedRows, settings: IndexSettings, progress: Progress = SILENT,
    grafting: Grafting | None = None,
) -> tuple[IndexMeta, LiveGraft | None]:  # fmt: skip
    """Write the segment of `rows` at `path`, weighed by the average length that `state` says, and grafted where that is
    wanted; the graft that is returned has the threshold by which it was done. Texts that lie in the folder of `rows`
    are kept with it."""
    assert state.mean_length is not None, "the state is that of an index of BM25"
    lexical, bits = lexical_settings(state), int(settings.bits)
    config: dict[str, Any] = {"keep": 0, "scale": document_scale(LARGEST, bits), "mean_length": state.mean_length}
    grafted = None
    if grafting is None:
        matrix = saturated_frequencies(rows, state.mean_length, lexical, rows.folder)
    else:
        grafted = graft_rows(rows, state.mean_length, lexical, grafting, progress)
        matrix = grafted.matrix
        config |= {"scale": document_scale(grafted.facts.largest, bits), "graft": asdict(grafted.facts)}
    vectors = DocumentVectors(matrix, rows.titles, rows.vocabulary, state.query_encoder, "", state.passages)
    with write_artifact(path, Manifest(store.KIND, store.FORMAT_VERSION, config)) as draft:
        meta = build_index(vectors, draft, 0, settings, progress, scale=config["scale"])
        own = own_order(draft, meta.reordered)
        keep_counts(rows, draft, own)
        keep_texts(rows.folder, draft, rows.row_ids, own)
        if grafting is not None and grafted is not None:
            np.save(draft / OWN_LENGTHS, np.bincount(rows.term_ids, minlength=len(rows.vocabulary)).astype(np.int64))
            keep_graft(draft, grafting.vectors, grafted.regression)
    return meta, grafted.facts if grafted else None


def plan_counted_merge(
    segments: Sequence[SegmentState], everything: bool = False, grafted: bool = False
) -> tuple[int, int] | None:
    """As `plan_merge`; but a merge that would leave one segment takes all of them. So one segment without deleted rows
    is always weighed by its own average length and has a vocabulary of its own, as an index made at once has. So
    does one of the first, where it is `grafted` and has the regression by which all others were."""
    span = plan_merge(segments, everything)
    if span is None:
        return None
    first, last = span
    left = len(segments) - (last - first) + any(segment.n_living for segment in segments[first:last])
    return span if left > 1 and not (grafted and first == 0) else (0, len(segments))

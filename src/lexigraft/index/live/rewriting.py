"""Living documents of segments of BM25 written again as one segment, from their counts: when segments are merged, and
when they are grafted."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import ArtifactError
from lexigraft.core.pinned import read_pinned
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import IndexSettings
from lexigraft.index.inverted import IndexMeta
from lexigraft.index.live.bm25 import write_counted_segment
from lexigraft.index.live.counts import CountedSegment, document_frequency, living_rows
from lexigraft.index.live.embedding import Embed, embedded, kept_vectors, require_width, texts_of_rows
from lexigraft.index.live.graft_facts import LiveGraft
from lexigraft.index.live.graft_files import open_regression
from lexigraft.index.live.graft_rows import Grafting
from lexigraft.index.live.reader import open_counted
from lexigraft.index.live.state import REMEDY, SEGMENTS, LiveState
from lexigraft.index.live.texts import rows_as_added, write_living_texts
from lexigraft.index.live.widening import longest_vocabulary
from lexigraft.vectors.counted_texts import CountedRows
from lexigraft.vectors.query_encoder import Frequencies

if TYPE_CHECKING:
    from lexigraft.grafted.regression import Regression


class Rewritten(NamedTuple):
    """A segment that was written, and by which average length and graft."""

    meta: IndexMeta
    mean_length: float | None
    graft: LiveGraft | None


def write_merged_segment(
    live: Path, name: str, state: LiveState, chosen: Sequence[CountedSegment], others: Sequence[CountedSegment],
    scratch: Path, settings: IndexSettings, progress: Progress = SILENT, embed: Embed | None = None,
) -> Rewritten:  # fmt: skip
    """Write the living documents of the `chosen` segments as one segment of the live index at `live`, made of their
    counts, beside all `others`. Without any, vocabulary, average length, and the regression and threshold of a grafted
    one become those of an index made of these documents at once; else they stay those of `state`. `embed` makes the
    vectors, which else are those that are kept."""
    alone = not others
    every = [*chosen, *others]
    vocabulary = longest_vocabulary([one.index for one in (every if state.graft else chosen)])[0]
    rows = living_rows(chosen, vocabulary, alone, scratch, progress)
    write_living_texts(rows_as_added(chosen), scratch)
    weighed, grafting = (replace(state, mean_length=rows.mean_length) if alone else state), None
    if state.graft is not None and embed is not None:
        vectors, by_place = embedded(embed, rows, lambda: texts_of_rows(rows_as_added(chosen)))
        facts = replace(state.graft, width=vectors.shape[1])
        grafting = Grafting(facts, vectors, (), frequencies_with(rows, ()), None, by_place)
    elif state.graft is not None:
        require_vectors(live, state, every)
        frequencies = frequencies_with(rows, () if alone else others)
        regression = None if alone else regression_of(live, state, others[0])
        grafting = Grafting(state.graft, kept_vectors(chosen), others, frequencies, regression)
    meta, graft = write_counted_segment(live / SEGMENTS / name, weighed, rows, settings, progress, grafting)
    return Rewritten(meta, weighed.mean_length, graft)


def grafting_beside(live: Path, state: LiveState, rows: CountedRows, vectors: NDArray[np.float16]) -> Grafting:
    """How counted documents that come to the segments of `state`, a grafted index, are grafted themselves."""
    assert state.graft is not None, "it is asked of a grafted index"
    require_width(vectors, state.graft)
    others = [open_counted(live, segment, checksums=True) for segment in state.segments]
    require_vectors(live, state, others)
    regression = regression_of(live, state, others[0])
    return Grafting(state.graft, vectors, others, frequencies_with(rows, others), regression)


def frequencies_with(rows: CountedRows, others: Sequence[CountedSegment]) -> Frequencies:
    """Those of the living documents of `others` and of counted ones that come to them."""
    n_terms = len(rows.vocabulary)
    n_living = sum(int(np.count_nonzero(one.counts.living(one.allowed))) for one in others)
    frequency = document_frequency(others, n_terms) + np.bincount(rows.term_ids, minlength=n_terms)
    return Frequencies(n_living + rows.n_rows, frequency)


def regression_of(live: Path, state: LiveState, first: CountedSegment) -> "Regression":
    """The regression of a grafted live index, whose `first` segment keeps it."""
    assert state.graft is not None, "the state is that of a grafted index"
    width, path = state.graft.width, live / SEGMENTS / state.segments[0].name
    return read_pinned(path, lambda folder: open_regression(folder, first.index, width))


def require_vectors(live: Path, state: LiveState, segments: Sequence[CountedSegment]) -> None:
    """Raise unless all segments of a grafted live index have vectors of the width that its state says."""
    assert state.graft is not None, "the state is that of a grafted index"
    widths = {0 if one.vectors is None else one.vectors.shape[1] for one in segments}
    if widths - {state.graft.width}:
        raise ArtifactError(
            f"{live} says that documents have vectors of {state.graft.width} numbers, and has segments with "
            f"{', '.join(map(str, sorted(widths)))}; {REMEDY}"
        )

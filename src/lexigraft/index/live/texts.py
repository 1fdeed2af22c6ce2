"""The texts that segments of a live index keep: how many more there is room for, and those of living documents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.settings import IndexSettings
from lexigraft.index.inverted import Index
from lexigraft.index.live.counts import CountedSegment
from lexigraft.index.live.reader import Segment
from lexigraft.index.live.state import SEGMENTS, LiveState
from lexigraft.index.texts import TextWriter, open_texts


@dataclass(frozen=True)
class LivingRows:
    """The living rows of an index, in the order in which they are written."""

    index: Index
    ordinals: NDArray[np.integer]


def room_for_texts(live: Path, state: LiveState | None, settings: IndexSettings) -> float:
    """How many bytes of texts may be added: what all segments keep counts, not what is added alone."""
    names = () if state is None else (segment.name for segment in state.segments)
    kept = (open_texts(live / SEGMENTS / name) for name in names)
    return settings.most_text_bytes - sum(texts.n_bytes for texts in kept if texts is not None)


def rows_of_segments(segments: Iterable[Segment]) -> list[LivingRows]:
    """By ordinal."""
    return [
        LivingRows(one.index, np.arange(one.index.n_documents) if one.allowed is None else np.flatnonzero(one.allowed))
        for one in segments
    ]


def rows_as_added(segments: Iterable[CountedSegment]) -> list[LivingRows]:
    """In the order in which documents were added."""
    found = []
    for segment in segments:
        added = np.flatnonzero(segment.counts.living(segment.allowed))
        found.append(LivingRows(segment.index, added if segment.counts.rows is None else segment.counts.rows[added]))
    return found


def write_living_texts(living: Sequence[LivingRows], folder: Path) -> None:
    """Write the texts of living documents into `folder`; nothing where no segment keeps any. A document of one that
    keeps none has none afterwards."""
    if all(part.index.texts is None for part in living):
        return
    with TextWriter(folder) as writer:
        for part in living:
            for ordinal in part.ordinals.tolist():
                writer.append(None if part.index.texts is None else part.index.texts.get(ordinal))

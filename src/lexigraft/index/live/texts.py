"""The texts that segments of a live index keep: whether there is room for more, and those of living documents."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.settings import AUTO, IndexSettings
from lexigraft.core.settings.index import AUTO_TEXTS_MIB
from lexigraft.index.inverted import Index
from lexigraft.index.live.counts import CountedSegment
from lexigraft.index.live.deleted import read_allowed
from lexigraft.index.live.reader import Segment
from lexigraft.index.live.state import SEGMENTS, SegmentState
from lexigraft.index.texts import StoredTexts, TextWriter, open_texts, remove_texts

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LivingRows:
    """The living rows of an index, in the order in which they are written."""

    index: Index
    ordinals: NDArray[np.integer]


def drop_texts_beyond_limit(added: Path, live: Path, segments: Sequence[SegmentState], settings: IndexSettings) -> None:
    """Where `index.texts` is `auto`, remove what a `TextWriter` left in the folder `added` of documents that come to
    the living ones of `segments`, unless all texts together are within the limit, and say so."""
    if settings.texts != AUTO:
        return
    texts = open_texts(added)
    if texts is not None and _fit(texts, live, segments, settings.most_text_bytes):
        return
    remove_texts(added)
    log.warning(
        "%s does not keep the texts of the documents that were added now: with them it would keep more than %d MiB; to "
        "keep them, add the documents again with --replace --texts yes",
        live, AUTO_TEXTS_MIB,
    )  # fmt: skip


def _fit(added: StoredTexts, live: Path, segments: Sequence[SegmentState], most: float) -> bool:
    """Dead rows do not count, but are only told apart where it matters: that takes a look at every row."""
    found = ((segment, open_texts(live / SEGMENTS / segment.name)) for segment in segments)
    kept = [(segment, texts) for segment, texts in found if texts is not None]
    if added.most_bytes + sum(texts.most_bytes for _, texts in kept) <= most:
        return True
    living = sum(texts.count_bytes(read_allowed(live, segment)) for segment, texts in kept)
    return added.count_bytes() + living <= most


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

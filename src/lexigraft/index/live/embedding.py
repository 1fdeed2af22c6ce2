"""The vectors of documents that a grafted live index gets: who makes them is not known here."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError
from lexigraft.core.types import Document
from lexigraft.index.live.counts import CountedSegment
from lexigraft.index.live.graft_facts import GIVEN, LiveGraft
from lexigraft.index.live.state import LiveState
from lexigraft.index.live.texts import LivingRows
from lexigraft.index.texts import StoredTexts, TextWriter, open_texts
from lexigraft.vectors.counted_texts import CountedRows


class ToEmbed(NamedTuple):
    """Rows in the order in which they were added. `without_words`: the numbers of those that hold no word. `documents`
    reads their texts, and raises where those were not kept. `folder`: for what is written meanwhile."""

    row_ids: Sequence[str]
    without_words: list[int]
    documents: Callable[[], Iterator[Document]]
    folder: Path


class Embedded(NamedTuple):
    """`vectors` [rows, width], of unit length or 0. `by_place`: whose a row is, its place alone says, which a user may
    have mistaken."""

    vectors: NDArray[np.floating]
    by_place: bool


Embed = Callable[[ToEmbed], Embedded]


def embedded(embed: Embed, rows: CountedRows, documents: Callable[[], Iterator[Document]]) -> Embedded:
    """The vectors of counted rows as they are kept: what is computed from them is the same now and at every merge."""
    folder = rows.folder / "embedding"
    folder.mkdir()
    without = np.flatnonzero(np.diff(rows.indptr) == 0).tolist()
    made = embed(ToEmbed(rows.row_ids, without, documents, folder))
    return made._replace(vectors=np.asarray(made.vectors, np.float16))


def require_embedding(live: Path, state: LiveState | None, embed: Embed | None) -> None:
    """Raise unless there is what makes vectors of documents that are added to the live index at `live`, where it is
    grafted; and there is none where it is not."""
    graft = state.graft if state is not None else None
    if graft is None and embed is not None:
        raise InputError(f"{live} is not grafted and takes no vectors of texts; leave them out, or graft it first")
    if graft is not None and embed is None:
        by = "were given" if graft.encoder == GIVEN else f"{graft.encoder} made"
        raise InputError(
            f"{live} is grafted by vectors that {by}; give those of the new documents, too (vectors=..., --vectors "
            "FILE)"
        )


def require_width(vectors: NDArray[np.floating], facts: LiveGraft) -> None:
    if vectors.shape[1] != facts.width:
        raise InputError(
            f"the vectors have {vectors.shape[1]} numbers a document, those of the index have {facts.width}; make them "
            "by the same encoder, or graft the index again with vectors of all its documents"
        )


def kept_vectors(segments: Sequence[CountedSegment]) -> NDArray[np.float16]:
    """The vectors of the living documents of segments, in the order of their addition."""
    found = [one.vectors[one.counts.living(one.allowed)] for one in segments if one.vectors is not None]
    return np.concatenate(found)


def texts_of_rows(living: Sequence[LivingRows]) -> Iterator[Document]:
    """Living documents with the texts that are kept of them; raises where one has none."""
    for part in living:
        for ordinal in part.ordinals.tolist():
            kept = None if part.index.texts is None else part.index.texts.get(ordinal)
            if kept is None:
                raise InputError(
                    f"the text of document {part.index.doc_ids[ordinal]!r} was not kept, so no encoder can read it; "
                    "add such documents again with --replace --texts yes, or give vectors of all (vectors=...)"
                )
            yield Document(part.index.doc_ids[ordinal], kept.title, kept.text)


class ReadTwice:
    """Documents of a stream that are needed a second time: as they pass, they are kept in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()

    def passing(self, documents: Iterable[Document]) -> Iterator[Document]:
        with TextWriter(self._folder) as texts:
            yield from texts.passing(documents)

    def again(self, row_ids: Sequence[str]) -> Iterator[Document]:
        texts = open_texts(self._folder)
        assert isinstance(texts, StoredTexts), "all were kept"
        for row, row_id in enumerate(row_ids):
            kept = texts.get(row)
            yield Document(row_id, kept.title if kept else "", kept.text if kept else "")

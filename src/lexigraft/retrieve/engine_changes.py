"""What is written to an engine: a local index that is loaded, documents that are deleted."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from lexigraft.core.errors import InputError
from lexigraft.engines.address import Address
from lexigraft.engines.backoff import with_retries
from lexigraft.engines.engine import Engine
from lexigraft.engines.loading import BATCH_ROWS, Loaded, load_index
from lexigraft.retrieve.loaded_place import index_to_load, place_behind, require_fits
from lexigraft.retrieve.opened import Opened
from lexigraft.retrieve.opened_engine import description_of
from lexigraft.retrieve.place import Place


class Deleted(NamedTuple):
    n_rows: int
    n_left: int


def load_place(
    place: Place,
    engine: Engine,
    address: Address,
    threads: int = 2,
    batch_rows: int = BATCH_ROWS,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Loaded:
    """Load the index at `place`, with its metadata; see `load_index`."""
    if place.kind:
        raise InputError(
            f"{place.name} is a {place.kind} system, which has no terms to load; name one that has, such as bm25 "
            "(system=NAME)"
        )
    state = Opened(place)
    return load_index(
        index_to_load(state), engine, str(place.index.absolute()), str(address), state.metadata, threads, batch_rows,
        on_progress,
    )  # fmt: skip


def delete_documents(engine: Engine, address: Address, doc_ids: Sequence[str], local: Path | None = None) -> Deleted:
    """Delete documents by id; of those in passages, all passages, whose ids the local index knows, or the run or index
    at `local`. Ids that are not there are passed over."""
    description = description_of(engine, address)
    rows = list(dict.fromkeys(doc_ids))
    if description.passages:
        state = Opened(place_behind(description, str(address), local, None, None))
        require_fits(state, description, str(address), local is not None)
        rows = [
            segment.index.doc_ids[row]
            for doc_id in rows
            for segment in state.index.segments
            for row in segment.rows_of(doc_id)
        ]
    before = with_retries(engine.count)
    if rows:
        with_retries(lambda: engine.delete(rows))
    left = with_retries(engine.count)
    return Deleted(before - left, left)

"""A local index into an engine: in batches by several threads, each batch tried again where the engine does not answer,
and from where it stopped where it was stopped.

A row is written by its id, so that one which is written twice is there once. What is certain is noted in the engine
itself, after every few batches: whoever repeats the command, from whichever machine, goes on from there.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

from lexigraft.core.errors import ArtifactError
from lexigraft.engines.backoff import with_retries
from lexigraft.engines.engine import Description, Engine
from lexigraft.engines.rows_of_index import batches_of, describe_index
from lexigraft.index.inverted import Index
from lexigraft.index.metadata import Metadata

BATCH_ROWS = 500
NOTED_EVERY = 16  # batches


class Loaded(NamedTuple):
    n_rows: int  # of the source
    n_before: int  # that were there already


def load_index(
    index: Index,
    engine: Engine,
    where: str,
    name: str,
    metadata: Metadata | None = None,
    threads: int = 2,
    batch_rows: int = BATCH_ROWS,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Loaded:
    """Load the rows of the index that lies at `where` into the collection `name`; it is made where it is not there.
    One that was loaded from another index is an error. At most two batches a thread wait to be written."""
    wanted = describe_index(index, where, metadata)
    description = with_retries(engine.describe)
    if description is None:
        with_retries(lambda: engine.create(wanted))
        description = wanted
    _require_same(description, wanted, name)
    before = min(description.n_loaded, wanted.n_rows)
    state = replace(wanted, n_loaded=before)
    waiting: deque[tuple[int, Future[None]]] = deque()
    noted = 0

    def settle() -> None:
        """Wait for the oldest batch; all before it are written, so that it can be noted."""
        nonlocal state, noted
        n_rows, written = waiting.popleft()
        written.result()
        state, noted = replace(state, n_loaded=state.n_loaded + n_rows), noted + 1
        if noted % NOTED_EVERY == 0 or state.is_complete:
            with_retries(lambda: engine.note(state))
        on_progress(state.n_loaded, state.n_rows)

    with ThreadPoolExecutor(threads, thread_name_prefix="lexigraft-load") as pool:
        try:
            for batch in batches_of(index, metadata, before, batch_rows):
                waiting.append((len(batch), pool.submit(with_retries, lambda rows=batch: engine.load(rows))))
                if len(waiting) >= 2 * threads:
                    settle()
            while waiting:
                settle()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return Loaded(wanted.n_rows, before)


def _require_same(found: Description, wanted: Description, name: str) -> None:
    if found.source != wanted.source:
        raise ArtifactError(
            f"{name} was loaded from another index ({found.index}, {found.n_rows:,} rows); drop it first, or give "
            "another name"
        )

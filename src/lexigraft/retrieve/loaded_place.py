"""The local index behind a collection of an engine: what is loaded into one, and what encodes queries to it."""

import re
from pathlib import Path

from lexigraft.core.cut import DocumentCut, QueryCut, document_cut
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.pinned import where_it_stands
from lexigraft.engines.engine import Description
from lexigraft.index.inverted import Index
from lexigraft.retrieve.opened import Opened
from lexigraft.retrieve.place import Place, find_place
from lexigraft.stages.layout import RunFolder, lies_at

# Bits of weights that engines add up exactly, in 32-bit floats. Of 16 where queries are counts of words: 256 of them
# stay below 2^24.
EXACT_BITS, EXACT_OF_COUNTS = 8, 16

_INDEX_OF_RUN = re.compile(r"index(?:-dk(.+))?")


def index_to_load(state: Opened) -> Index:
    """The index of `state` as an engine takes it: in one piece, with weights whose sums are exact there."""
    index = index_in_one_piece(state)
    counts = index.meta.query_encoder.get("kind") == "bm25"
    if index.meta.bits > (EXACT_OF_COUNTS if counts else EXACT_BITS):
        raise InputError(
            f"{state.place.name} has weights of {index.meta.bits} bits, whose sums engines would round; load an index "
            f"of {EXACT_BITS} bits (--set index.bits={EXACT_BITS} where it is made)"
        )
    return index


def index_in_one_piece(state: Opened) -> Index:
    """The index of `state`; raises where that is several segments, or has deleted documents."""
    index = _only_index(state)
    if index is None:
        raise InputError(
            f"{state.place.name} is a live index of several segments, or with deleted documents; make it one piece "
            f"first: lexigraft index merge {state.place.index} --all"
        )
    return index


def place_behind(
    description: Description, engine: str, encoder: Path | None, system: str | None, qk: QueryCut | None
) -> Place:
    """Where the encoder of queries to a collection lies that was loaded as `description` says: of the index that was
    loaded, or at `encoder`, a run, an index or a saved retriever. `engine` is its address, for errors."""
    loaded = Path(description.index)
    if encoder is not None:
        return _given_place(encoder, loaded, system, qk)
    if system is not None:
        raise SettingError(
            f"system names one of a run that encodes queries to {engine}; give that run, too: encoder=PATH"
        )
    if not where_it_stands(loaded).exists():
        raise ArtifactError(
            f"queries to {engine} are encoded by the index that it was loaded from, and {loaded} is not there; give "
            "the run or index that has its vocabulary: encoder=PATH"
        )
    return _place_in_its_run(loaded, qk) or find_place(loaded, qk=qk)


def require_fits(state: Opened, description: Description, engine: str, is_given: bool) -> None:
    """Raise unless the queries that `state` encodes fit what was loaded: they must number terms alike, and where
    nobody gave that index, it must be the one that was loaded."""
    if state.index.vocab_fingerprint != description.vocab_fingerprint:
        raise ArtifactError(
            f"{state.place.index} has another vocabulary than the index that {engine} was loaded from; give the run or "
            f"index that it was loaded from ({description.index}), with encoder=PATH"
        )
    index = _only_index(state)
    if not is_given and (index is None or index.fingerprint != description.source):
        raise ArtifactError(
            f"{state.place.index} is another index than the one that {engine} was loaded from: it was made anew or "
            "changed since; drop the collection and load it again, or say which encodes queries: encoder=PATH"
        )


def _only_index(state: Opened) -> Index | None:
    """The index where it is one piece; None of a live one that is not."""
    segments = state.index.segments
    return segments[0].index if len(segments) == 1 and segments[0].allowed is None else None


def _given_place(encoder: Path, loaded: Path, system: str | None, qk: QueryCut | None) -> Place:
    """What somebody gave. Of a run: the system and pruning that were loaded, where it has these, so that results can be
    explained."""
    run = RunFolder(encoder)
    if not lies_at(run.contents):
        return find_place(encoder, system, qk)
    found = _system_and_cut(loaded)
    if found is None or system not in (None, found[0]) or found[0] not in run.ready():
        return find_place(encoder, system, qk)
    name, dk = found
    view = run.ready()[name]
    return find_place(encoder, name, qk, dk if where_it_stands(run.index(view, name, dk)).is_dir() else None)


def _place_in_its_run(loaded: Path, qk: QueryCut | None) -> Place | None:
    """An index of a run as a search of that run finds it: with its operating point, texts and metadata."""
    found = _system_and_cut(loaded)
    if found is None or not lies_at(RunFolder(loaded.parents[2]).contents):
        return None
    run, (name, dk) = RunFolder(loaded.parents[2]), found
    view = run.ready().get(name)
    if view is None or run.index(view, name, dk) != loaded:
        return None
    return find_place(run.root, name, qk, dk)


def _system_and_cut(loaded: Path) -> tuple[str, DocumentCut] | None:
    """What RUN/VIEW/SYSTEM/index[-dkN] says; None of a path that is none of a run."""
    named = _INDEX_OF_RUN.fullmatch(loaded.name)
    if named is None or len(loaded.parents) < 3:
        return None
    try:
        return loaded.parent.name, document_cut(named[1] or 0)
    except SettingError:
        return None

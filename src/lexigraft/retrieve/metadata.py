"""Makes the metadata of an index's documents, from their collection or from a file, for searches with conditions."""

import dataclasses
import logging
from itertools import islice
from pathlib import Path

from lexigraft.core.artifact import Manifest, hash_file, open_artifact, read_manifest
from lexigraft.core.errors import InputError, LexigraftError
from lexigraft.data.collection import CORPUS, FolderCollection
from lexigraft.data.readers.metadata import corpus_metadata, file_metadata
from lexigraft.data.reading import Reading
from lexigraft.data.sources import open_source
from lexigraft.index import metadata as metadata_store
from lexigraft.index import store as index_store
from lexigraft.index.live.state import is_live
from lexigraft.index.metadata import Column, former_metadata
from lexigraft.index.metadata_columns import write_metadata
from lexigraft.retrieve.opened import open_searchable
from lexigraft.retrieve.place import Place, find_place
from lexigraft.stages.origin import same_content
from lexigraft.stages.run_origin import is_of_another, read_origin
from lexigraft.stages.standalone import require_free_for
from lexigraft.stages.standalone_origin import collection_of

log = logging.getLogger(__name__)

AS_INDEXED = Reading(on_duplicate="keep")
LOOKED_AT = 1000  # documents, to find out whether a collection has metadata


def build_metadata(
    place: Place, data: str | None, file: Path | None, replace: bool = False, reading: Reading = AS_INDEXED
) -> list[Column]:
    """Write the metadata of the documents of an index beside it: those of the collection `data`, which is read as
    `reading` says, or of `file`. Columns that are there already stay, but for those that come anew; with `replace` all
    of them go. Returns the columns.

    A collection that the index was not made of is refused without `replace`: equal ids would be other documents."""
    out, index = place.metadata, place.whole
    require_free_for(out, metadata_store.KIND)
    if file is not None:
        records, config = file_metadata(file), {"file": hash_file(file) if file.is_file() else ""}
    else:
        collection = open_source(data or "", reading)
        if not isinstance(collection, FolderCollection):
            raise InputError(f"metadata are read from files, not from {data}; give --file instead")
        if not replace:
            _require_own(place, data or "", collection)
        records, config = corpus_metadata(collection), {"corpus": collection.digest(CORPUS)}
    opened = open_searchable(index)
    former = None if replace else former_metadata(out, opened)
    parents = _parents(index)
    if former is not None and (kept := read_manifest(out)) is not None:
        parents["former"] = kept.fingerprint
    manifest = Manifest(metadata_store.KIND, metadata_store.FORMAT_VERSION, config, parents)
    before = _keys(out) if former is None else []
    keep_first = file is None  # as the index did, or it would not be there
    columns = write_metadata(out, manifest, opened, records, keep_first, former)
    if dropped := [key for key in before if key not in {column.key for column in columns}]:
        log.warning("dropped: %s", ", ".join(dropped))
    return columns


def keep_metadata(path: Path, data: str, reading: Reading = AS_INDEXED) -> list[str]:
    """What an index or a run keeps by itself of the collection `data`, which it was made of: the fields that are
    neither id nor title nor text. Nothing where its first documents have none, or where metadata are there that are of
    the same collection or of a file. Fields that cannot be kept are no reason to fail: a warning says why. Returns the
    keys that searches can filter by."""
    reading = dataclasses.replace(reading, on_duplicate="keep")
    collection = open_source(data, reading)
    if not isinstance(collection, FolderCollection) or not _has_metadata(collection):
        return []
    place = find_place(path)
    if (made := read_manifest(place.metadata)) is not None:
        is_current = made.config == {"corpus": collection.digest(CORPUS)}
        if "file" in made.config or (is_current and made.parents.items() >= _parents(place.whole).items()):
            return _keys(place.metadata)
    try:
        return [column.key for column in build_metadata(place, data, None, reading=reading)]
    except LexigraftError as error:
        log.warning("metadata are not kept: %s", error)
        return []


def _has_metadata(collection: FolderCollection) -> bool:
    """Whether one of the first documents has any."""
    try:
        return any(values for _, values in islice(corpus_metadata(collection), LOOKED_AT))
    except LexigraftError:
        return False  # a layout that has none


def _keys(metadata: Path) -> list[str]:
    """The keys of metadata that are about to be replaced; none where they cannot be read."""
    try:
        return metadata_store.read_keys(metadata)
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _require_own(place: Place, data: str, collection: FolderCollection) -> None:
    """Raise where it is known that the index was made of another collection than `data`."""
    description = collection.description()
    if place.run is not None:
        origin, other = read_origin(place.run), is_of_another(place.run, data, description)
    else:
        made, origin = read_manifest(place.whole), collection_of(place.whole)
        is_own = made is not None and same_content(made.config, description)
        other = origin is not None and not is_own and not origin.is_at(place.whole, data)
    if other and origin is not None:
        raise InputError(
            f"{place.name} is of the collection {origin.given}, and {data} is another; give that one or a --file, or "
            "--replace if the ids of both name the same documents"
        )


def _parents(index: Path) -> dict[str, str]:
    """What metadata depend on: a plain index, which never changes; those of a live one outlast its changes."""
    if is_live(index):
        return {}
    return {"index": open_artifact(index, index_store.KIND, (1, index_store.FORMAT_VERSION), False).fingerprint}

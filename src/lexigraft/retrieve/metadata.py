"""Makes the metadata of an index's documents, from their collection or from a file, for searches with conditions."""

import logging
from pathlib import Path

from lexigraft.core.artifact import Manifest, hash_file, open_artifact, read_manifest
from lexigraft.core.errors import InputError
from lexigraft.data.collection import CORPUS, FolderCollection
from lexigraft.data.readers.metadata import corpus_metadata, file_metadata
from lexigraft.data.reading import Reading
from lexigraft.data.sources import open_source
from lexigraft.index import metadata as metadata_store
from lexigraft.index import store as index_store
from lexigraft.index.live.state import is_live
from lexigraft.index.metadata import former_metadata
from lexigraft.index.metadata_columns import write_metadata
from lexigraft.index.metadata_files import Column, read_keys
from lexigraft.retrieve.opened import open_searchable
from lexigraft.retrieve.place import Place
from lexigraft.stages.origin import same_content
from lexigraft.stages.run_origin import is_of_another, read_origin
from lexigraft.stages.standalone import require_free_for
from lexigraft.stages.standalone_origin import collection_of

log = logging.getLogger(__name__)

AS_INDEXED = Reading(on_duplicate="keep")


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
    parents = parents_of(index)
    if former is not None and (kept := read_manifest(out)) is not None:
        parents["former"] = kept.fingerprint
    manifest = Manifest(metadata_store.KIND, metadata_store.FORMAT_VERSION, config, parents)
    before = _keys(out) if former is None else []
    source = metadata_store.OF_CORPUS if file is None else metadata_store.OF_FILE
    columns = write_metadata(out, manifest, opened, records, source, former)
    if dropped := [key for key in before if key not in {column.key for column in columns}]:
        log.warning("dropped: %s", ", ".join(dropped))
    return columns


def _keys(metadata: Path) -> list[str]:
    """The keys of metadata that are about to be replaced; none where they cannot be read."""
    try:
        return read_keys(metadata)
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


def parents_of(index: Path) -> dict[str, str]:
    """What metadata depend on: a plain index, which never changes; those of a live one outlast its changes."""
    if is_live(index):
        return {}
    return {"index": open_artifact(index, index_store.KIND, (1, index_store.FORMAT_VERSION), False).fingerprint}

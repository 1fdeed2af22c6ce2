"""Makes the metadata of an index's documents, from their collection or from a file, for searches with conditions."""

import logging
from pathlib import Path

from lexigraft.core.artifact import Manifest, hash_file, open_artifact, read_manifest
from lexigraft.core.errors import InputError
from lexigraft.data.collection import CORPUS, FolderCollection
from lexigraft.data.readers.metadata import corpus_metadata, file_metadata
from lexigraft.data.reading import Reading
from lexigraft.data.sources import open_source
from lexigraft.index import store as index_store
from lexigraft.index.live.opening import open_writer
from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import is_live
from lexigraft.index.metadata import Column, metadata_of_live
from lexigraft.index.metadata_columns import GivenMetadata, warn_of_texts, write_metadata
from lexigraft.index.metadata_files import (
    FORMAT_VERSION,
    KIND,
    OF_CORPUS,
    OF_FILE,
    MetadataTable,
    former_table,
    read_keys,
)
from lexigraft.index.store import open_index
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
    """Write the metadata of the documents of an index: those of the collection `data`, which is read as `reading` says,
    or of `file`. Beside a plain index, columns that are there already stay, but for those that come anew; in a live one
    everything stays but what these documents get anew. With `replace` nothing stays. Returns the columns.

    A collection that the index was not made of is refused without `replace`: equal ids would be other documents."""
    out, index = place.metadata, place.whole
    if is_live(index):
        source, found = (
            (OF_FILE, file_metadata(file))
            if file is not None
            else (OF_CORPUS, corpus_metadata(_files_of(data or "", reading)))
        )
        return _set_in_live(index, GivenMetadata(source).add_all(found).table(), replace)
    require_free_for(out, KIND)
    if file is not None:
        records, config = file_metadata(file), {"file": hash_file(file) if file.is_file() else ""}
    else:
        collection = _files_of(data or "", reading)
        if not replace:
            _require_own(place, data or "", collection)
        records, config = corpus_metadata(collection), {"corpus": collection.digest(CORPUS)}
    opened = open_index(index)
    former = None if replace else former_table(out)
    parents = parents_of(index)
    if former is not None and (kept := read_manifest(out)) is not None:
        parents["former"] = kept.fingerprint
    before = _keys(out) if former is None else []
    given = GivenMetadata(OF_CORPUS if file is None else OF_FILE).add_all(records)
    columns = write_metadata(out, Manifest(KIND, FORMAT_VERSION, config, parents), opened, given.table(), former)
    if dropped := [key for key in before if key not in {column.key for column in columns}]:
        log.warning("dropped: %s", ", ".join(dropped))
    return columns


def _files_of(data: str, reading: Reading) -> FolderCollection:
    collection = open_source(data, reading)
    if not isinstance(collection, FolderCollection):
        raise InputError(f"metadata are read from files, not from {data}; give --file instead")
    return collection


def _set_in_live(live: Path, given: MetadataTable, replace: bool) -> list[Column]:
    with open_writer(live) as writer:
        writer.set_metadata(given, replace)
    found = metadata_of_live(open_live(live, checksums=False))
    if found is None:  # another writer has deleted the documents since
        return []
    warn_of_texts(found)
    return list(found.columns.values())


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
    """What the metadata beside a plain index depend on."""
    return {"index": open_artifact(index, index_store.KIND, (1, index_store.FORMAT_VERSION), False).fingerprint}

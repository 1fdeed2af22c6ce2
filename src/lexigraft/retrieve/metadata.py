"""Makes the metadata of an index's documents, from their collection or from a file, for searches with conditions."""

from pathlib import Path

from lexigraft.core.artifact import Manifest, hash_file, open_artifact
from lexigraft.core.errors import InputError
from lexigraft.data.collection import CORPUS, FolderCollection
from lexigraft.data.readers.metadata import corpus_metadata, file_metadata
from lexigraft.data.reading import Reading
from lexigraft.data.sources import open_source
from lexigraft.index import metadata as metadata_store
from lexigraft.index import store as index_store
from lexigraft.index.live.state import is_live
from lexigraft.index.metadata import Column
from lexigraft.retrieve.opened import open_searchable
from lexigraft.stages.standalone import require_free_for

AS_INDEXED = Reading(on_duplicate="keep")


def build_metadata(
    index: Path, out: Path, data: str | None, file: Path | None, reading: Reading = AS_INDEXED
) -> list[Column]:
    """Write the metadata of the documents of `index` to `out`, replacing metadata there: those of the collection
    `data`, which is read as `reading` says, or of `file`. Returns the columns."""
    require_free_for(out, metadata_store.KIND)
    if file is not None:
        records, config = file_metadata(file), {"file": hash_file(file) if file.is_file() else ""}
    else:
        collection = open_source(data or "", reading)
        if not isinstance(collection, FolderCollection):
            raise InputError(f"metadata are read from files, not from {data}; give --file instead")
        records, config = corpus_metadata(collection), {"corpus": collection.digest(CORPUS)}
    manifest = Manifest(metadata_store.KIND, metadata_store.FORMAT_VERSION, config, _parents(index))
    keep_first = file is None  # as the index did, or it would not be there
    return metadata_store.write_metadata(out, manifest, open_searchable(index), records, keep_first)


def _parents(index: Path) -> dict[str, str]:
    """What metadata depend on: a plain index, which never changes; those of a live one outlast its changes."""
    if is_live(index):
        return {}
    return {"index": open_artifact(index, index_store.KIND, (1, index_store.FORMAT_VERSION), False).fingerprint}

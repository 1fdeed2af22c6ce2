"""Makes the metadata of an index's documents, from their collection or from a file, for searches with conditions."""

import logging
from pathlib import Path

from lexigraft.core.artifact import Manifest, hash_file, open_artifact, write_artifact
from lexigraft.core.errors import InputError
from lexigraft.data.collection import CORPUS, FolderCollection, Reading
from lexigraft.data.readers.metadata import corpus_metadata, file_metadata
from lexigraft.data.sources import open_source
from lexigraft.index import metadata as metadata_store
from lexigraft.index import store as index_store
from lexigraft.index.metadata import Column, ColumnsBuilder, documents_in_order
from lexigraft.index.store import open_index
from lexigraft.stages.standalone import require_free_for

log = logging.getLogger(__name__)


def build_metadata(index: Path, out: Path, data: str | None, file: Path | None) -> list[Column]:
    """Write the metadata of the documents of `index` to `out`, replacing metadata there: those of the collection
    `data`, or of `file`. Returns the columns."""
    require_free_for(out, metadata_store.KIND)
    if file is not None:
        records, config = file_metadata(file), {"file": hash_file(file) if file.is_file() else ""}
    else:
        collection = open_source(data or "", Reading(on_duplicate="keep"))
        if not isinstance(collection, FolderCollection):
            raise InputError(
                f"metadata are read from a folder with a corpus.jsonl, not from {data}; give --file instead"
            )
        records, config = corpus_metadata(collection), {"corpus": collection.digest(CORPUS)}
    parents = {"index": open_artifact(index, index_store.KIND, (1, index_store.FORMAT_VERSION), False).fingerprint}
    builder = ColumnsBuilder(documents_in_order(open_index(index, checksums=False)))
    manifest = Manifest(metadata_store.KIND, metadata_store.FORMAT_VERSION, config, parents)
    with write_artifact(out, manifest) as folder:
        builder.add(records, keep_first=file is None)  # as the index did, or it would not be there
        if builder.n_unknown:
            log.warning("%d documents with metadata are not in the index and are left out", builder.n_unknown)
        return builder.write(folder)

"""Metadata that an index or a run keeps by itself: the fields of its collection that are neither id nor title nor
text. What somebody made of a file stays beside them, and comes first where both have a key."""

import dataclasses
import logging
import shutil
from collections.abc import Collection as Keys
from itertools import islice
from pathlib import Path

from lexigraft.core.artifact import Manifest, read_manifest
from lexigraft.core.errors import LexigraftError
from lexigraft.core.settings import DataSettings
from lexigraft.data.collection import CORPUS, Collection, FolderCollection
from lexigraft.data.readers.metadata import Records, corpus_metadata, may_have_metadata
from lexigraft.data.sources import open_source
from lexigraft.index.metadata_columns import GivenMetadata, Limit, write_metadata
from lexigraft.index.metadata_files import (
    FORMAT_VERSION,
    KIND,
    NO_METADATA,
    OF_CORPUS,
    MetadataTable,
    former_table,
    read_keys,
)
from lexigraft.index.store import open_index
from lexigraft.retrieve.metadata import parents_of
from lexigraft.retrieve.place import Place, find_place
from lexigraft.stages.collect import PYDOCS, reading
from lexigraft.stages.finished_run import open_run
from lexigraft.stages.layout import RunFolder

LOOKED_AT = 1000  # documents, to find out whether a collection has metadata
LIMIT = Limit(longest=1000, together=64 << 20)  # what is longer is a text, and nothing to filter by

log = logging.getLogger(__name__)


def keep_metadata(path: Path, data: str, settings: DataSettings, wanted: bool = True) -> list[str]:
    """Bring the metadata of the index or run at `path` up to date with the collection `data`, which it was made of by
    `settings`; where they are not `wanted`, or its first documents have none, those of the collection go. Fields that
    cannot be kept are no reason to fail: a warning says why. Returns the keys that searches can filter by."""
    if data == PYDOCS:
        return []
    try:
        collection = open_source(data, dataclasses.replace(reading(settings), on_duplicate="keep"))
        return _keep(_place_of(path), collection, wanted)
    except LexigraftError as error:
        log.warning("metadata are not kept: %s", error)
        return []


def _place_of(path: Path) -> Place:
    """Of a run, that of its first system of terms: all have the same metadata."""
    if not RunFolder(path).contents.is_file():
        return find_place(path)
    return find_place(path, next(one.name for one in open_run(path).systems() if one.is_sparse))


def _keep(place: Place, collection: Collection, wanted: bool) -> list[str]:
    made, records = read_manifest(place.metadata), _records_of(collection) if wanted else None
    if made is None and records is None:
        return []
    config = {"corpus": "" if records is None else collection.digest(CORPUS)}
    parents = parents_of(place.whole)
    if made is not None and made.config == config and made.parents.items() >= parents.items():
        return read_keys(place.metadata)
    others = _of_files(former_table(place.metadata))
    if records is None and others is None:
        shutil.rmtree(place.metadata)
        return []
    own = GivenMetadata(OF_CORPUS, LIMIT).add_all(_without(records or iter(()), others.values if others else ()))
    manifest, index = Manifest(KIND, FORMAT_VERSION, config, parents), open_index(place.whole)
    columns = write_metadata(place.metadata, manifest, index, own.table(), others, required=False)
    return [column.key for column in columns]


def table_of(data: str, settings: DataSettings) -> MetadataTable:
    """The fields of the documents of the collection `data` that are neither id nor title nor text, to be kept in a live
    index. As with a plain one, fields that cannot be kept are no reason to fail: a warning says why."""
    if data == PYDOCS:
        return NO_METADATA
    try:
        records = _records_of(open_source(data, dataclasses.replace(reading(settings), on_duplicate="keep")))
        return NO_METADATA if records is None else GivenMetadata(OF_CORPUS, LIMIT).add_all(records).table()
    except LexigraftError as error:
        log.warning("metadata are not kept: %s", error)
        return NO_METADATA


def _of_files(former: MetadataTable | None) -> MetadataTable | None:
    """Former metadata without the columns that came from the collection; None where none are left."""
    if former is None:
        return None
    values = {key: values for key, values in former.values.items() if former.sources[key] != OF_CORPUS}
    return dataclasses.replace(former, values=values) if values else None


def _without(records: Records, keys: Keys[str]) -> Records:
    for doc_id, values in records:
        yield doc_id, {key: value for key, value in values.items() if key not in keys}


def _records_of(collection: Collection) -> Records | None:
    """The metadata of a collection; None where none of its first documents has any."""
    if not isinstance(collection, FolderCollection) or not may_have_metadata(collection):
        return None
    some = any(values for _, values in islice(corpus_metadata(collection), LOOKED_AT))
    return corpus_metadata(collection) if some else None

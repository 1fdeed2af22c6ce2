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
from lexigraft.data.readers.metadata import Records, corpus_metadata
from lexigraft.data.sources import open_source
from lexigraft.index.metadata import (
    FORMAT_VERSION,
    KIND,
    OF_CORPUS,
    Metadata,
    former_metadata,
)
from lexigraft.index.metadata_columns import Limit, write_metadata
from lexigraft.index.metadata_files import read_keys
from lexigraft.retrieve.metadata import parents_of
from lexigraft.retrieve.opened import open_searchable
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
    index = open_searchable(place.whole)
    others = _of_files(former_metadata(place.metadata, index))
    if records is None and others is None:
        shutil.rmtree(place.metadata)
        return []
    own = _without(records or iter(()), () if others is None else others.columns)
    manifest = Manifest(KIND, FORMAT_VERSION, config, parents)
    columns = write_metadata(place.metadata, manifest, index, own, OF_CORPUS, others, LIMIT, required=False)
    return [column.key for column in columns]


def _of_files(former: Metadata | None) -> Metadata | None:
    """Former metadata without the columns that came from the collection; None where none are left."""
    if former is None:
        return None
    columns = {key: column for key, column in former.columns.items() if column.source != OF_CORPUS}
    return dataclasses.replace(former, columns=columns) if columns else None


def _without(records: Records, keys: Keys[str]) -> Records:
    for doc_id, values in records:
        yield doc_id, {key: value for key, value in values.items() if key not in keys}


def _records_of(collection: Collection) -> Records | None:
    """The metadata of a collection; None where none of its first documents has any."""
    if not isinstance(collection, FolderCollection):
        return None
    try:
        some = any(values for _, values in islice(corpus_metadata(collection), LOOKED_AT))
    except LexigraftError:
        return None  # a layout that has none
    return corpus_metadata(collection) if some else None

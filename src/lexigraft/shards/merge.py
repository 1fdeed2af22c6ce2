"""`lexigraft index merge-shards`: indexes of parts of a collection to one, with their texts and metadata."""

import logging
from collections.abc import Sequence
from pathlib import Path

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import IndexSettings
from lexigraft.index import store
from lexigraft.index.inverted import IndexMeta
from lexigraft.index.joining import Part, join_indexes
from lexigraft.index.live.state import is_live
from lexigraft.index.metadata import documents_in_order, open_metadata
from lexigraft.index.metadata_columns import Living, arranged
from lexigraft.index.metadata_files import FORMAT_VERSION, KIND, write_table
from lexigraft.index.store import open_index
from lexigraft.stages.layout import metadata_beside
from lexigraft.stages.standalone import require_free_for, seen_from
from lexigraft.stages.standalone_origin import remove_metadata_of

log = logging.getLogger(__name__)


def merge_shards(
    shards: Sequence[Path],
    out: Path,
    settings: IndexSettings | None = None,
    progress: Progress = SILENT,
    keeps_metadata: bool = True,
) -> IndexMeta:
    """Merge the indexes at `shards`, in this order, into one at `out`; an index that lies there is replaced. Shards
    stay as they are."""
    require_free_for(out, store.KIND)
    if len(shards) < 2:
        raise InputError("give two shards or more: SHARD SHARD ... --out INDEX")
    if out.resolve() in [shard.resolve() for shard in shards]:
        raise InputError(f"{out} is one of the shards; give another --out")
    parts = [_open(shard) for shard in shards]
    manifest = _recipe(parts)
    found = _metadata_of(parts) if keeps_metadata else []
    queries = seen_from(out, parts[0].index.meta.query_encoder, parts[0].path)
    with write_artifact(out, manifest) as folder:
        meta, error = join_indexes(parts, folder, queries, settings, progress)
    if error:
        log.warning("shards had different scales: weights changed by up to %.3g when they got one", error)
    _write_metadata(out, found)
    return meta


def _open(path: Path) -> Part:
    if is_live(path):
        raise InputError(f"{path} is a live index; merge its segments by: lexigraft index merge {path}")
    return Part(path, open_index(path))


def _recipe(parts: Sequence[Part]) -> Manifest:
    """How the merged index was made: of shards of one store of vectors, just as if it had been built of those at once.
    BM25's weights depend on all documents of a collection, so no other shards of it can be merged."""
    manifests = [part.index.manifest for part in parts]
    of_vectors = {manifest.parents.get("vectors", "") if manifest else "" for manifest in manifests}
    ranges = [manifest.config.get("rows") if manifest else None for manifest in manifests]
    keep = parts[0].index.meta.keep
    if len(of_vectors) == 1 and all(ranges):
        _require_all_ranges(parts)
        return Manifest(store.KIND, store.FORMAT_VERSION, {"keep": keep}, {"vectors": of_vectors.pop()})
    kind = parts[0].index.meta.query_encoder.get("kind")
    if kind != "model":
        raise InputError(
            f"{parts[0].path} is of {kind}, whose weights depend on all documents of a collection: shards of parts do "
            "not fit together; index the whole of it (--shards builds it in shards)"
        )
    parents = {f"shard {number}": part.index.fingerprint for number, part in enumerate(parts)}
    return Manifest(store.KIND, store.FORMAT_VERSION, {"keep": keep}, parents)


def _require_all_ranges(parts: Sequence[Part]) -> None:
    """Raise unless these are all shards of one store of vectors, in order."""
    expected = 0
    for number, part in enumerate(parts):
        config = part.index.manifest.config if part.index.manifest else {}
        if config.get("shard") != number or config["rows"][0] != expected:
            raise InputError(f"{part.path} is shard {config.get('shard')}, not {number}; give all shards, in order")
        expected = config["rows"][1]
    if config.get("of") != len(parts):
        raise InputError(f"{len(parts)} of {config.get('of')} shards are given; give all of them, in order")


def _metadata_of(parts: Sequence[Part]) -> list[Living]:
    """The metadata beside the shards that have some."""
    beside = [(part, metadata_beside(part.path)) for part in parts]
    tables = [open_metadata(path, part.index).segments[0].table for part, path in beside if path.is_dir()]
    return [Living(table) for table in tables if table is not None]


def _write_metadata(out: Path, found: Sequence[Living]) -> None:
    """What lay beside an index that was there before goes: it was of other documents."""
    beside, index = metadata_beside(out), open_index(out, checksums=False)
    if not found:
        remove_metadata_of(out)
        return
    manifest = Manifest(KIND, FORMAT_VERSION, {}, {"index": index.fingerprint})
    write_table(beside, manifest, arranged(documents_in_order(index), found))

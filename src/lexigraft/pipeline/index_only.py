"""One index and nothing else: text to a searchable folder, without a run around it."""

import shutil
from pathlib import Path

from lexigraft.core.artifact import Manifest, read_manifest, require_replaceable, write_artifact
from lexigraft.core.errors import ArtifactError
from lexigraft.core.lock import writer_lock
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.index import store as index_store
from lexigraft.index.store import IndexMeta, open_index
from lexigraft.pipeline import stages
from lexigraft.vectors import store as vectors_store


def build(source: str, out: Path, settings: Settings, keep: int = 0, progress: Progress = SILENT) -> IndexMeta:
    """Index `source` (a collection folder, or "pydocs" in its full view) at `out`, replacing an index there."""
    require_replaceable(out)
    existing = read_manifest(out)
    if existing is not None and existing.kind != index_store.KIND:
        raise ArtifactError(f"{out} holds a {existing.kind}, not an index; give another folder, or remove it first")
    description = stages.source_description(source, settings.data)
    config = {**description, "keep": keep, **stages.settings_config(settings.lexical)}
    scratch = out.with_name(f".{out.name}.building")  # with a lock in it: one builder at a time
    with writer_lock(scratch):
        collection_folder, vectors_folder = scratch / "collection", scratch / "vectors"
        shutil.rmtree(collection_folder, ignore_errors=True)  # of a builder that was killed
        collection_folder.mkdir()
        stages.collect(source, settings.data, collection_folder, progress)
        collection = next(iter(stages.collected(source, settings.data, collection_folder).values()))
        with write_artifact(
            vectors_folder, Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, config)
        ) as folder:
            stages.encode(collection, settings.lexical, folder, progress)
        with write_artifact(out, Manifest(index_store.KIND, index_store.FORMAT_VERSION, config)) as folder:
            stages.index(vectors_folder, keep, settings.index, folder, progress)
        shutil.rmtree(scratch)
    return open_index(out, checksums=False).meta

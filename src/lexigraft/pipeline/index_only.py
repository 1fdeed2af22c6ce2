"""One index and nothing else: text to a searchable folder, without a run around it."""

import tempfile
from pathlib import Path

from lexigraft.core.artifact import Manifest, read_manifest, write_artifact
from lexigraft.core.config import Settings
from lexigraft.core.errors import ArtifactError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.index import store as index_store
from lexigraft.index.store import IndexMeta, open_index
from lexigraft.pipeline import stages
from lexigraft.vectors import store as vectors_store


def build(source: str, out: Path, settings: Settings, keep: int = 0, progress: Progress = SILENT) -> IndexMeta:
    """Index `source` (a collection folder, or "pydocs" in its full view) at `out`, replacing an index there."""
    _refuse_to_replace_other_things(out)
    description = stages.source_description(source, settings.data)
    config = {**description, "keep": keep, **stages.settings_config(settings.lexical)}
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as scratch:
        collection_folder, vectors_folder = Path(scratch) / "collection", Path(scratch) / "vectors"
        collection_folder.mkdir()
        stages.collect(source, settings.data, collection_folder, progress)
        collection = next(iter(stages.collected(source, settings.data, collection_folder).values()))
        with write_artifact(
            vectors_folder, Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, config)
        ) as folder:
            stages.encode(collection, settings.lexical, folder, progress)
        with write_artifact(
            out, Manifest(index_store.KIND, index_store.FORMAT_VERSION, config, seed=settings.run.seed)
        ) as folder:
            stages.index(vectors_folder, keep, settings.index, folder, progress)
    return open_index(out, checksums=False).meta


def _refuse_to_replace_other_things(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        manifest = read_manifest(out)
        if manifest is None or manifest.kind != index_store.KIND:
            raise ArtifactError(f"{out} exists and is not an index; give another folder, or remove it first")

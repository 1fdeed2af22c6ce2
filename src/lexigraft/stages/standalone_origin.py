"""An index or vectors in a folder of their own, and the collection that they are of: refused to another one."""

import shutil
from collections.abc import Callable
from pathlib import Path

from lexigraft.core.artifact import Manifest, is_artifact, read_manifest, require_replaceable
from lexigraft.core.errors import LexigraftError
from lexigraft.index import metadata_files
from lexigraft.index import store as index_store
from lexigraft.stages.layout import metadata_beside
from lexigraft.stages.origin import Origin, noted_origin, refuse
from lexigraft.vectors import store as vectors_store


def require_of(out: Path, source: str, has_same_content: Callable[[Manifest], bool], replace_other: bool) -> bool:
    """Whether what lies at `out` is of another collection than `source`, which raises without `replace_other`."""
    found = read_manifest(out)
    if found is None:
        return False
    origin = noted_origin(found.notes)
    if (origin is not None and origin.is_at(out, source)) or has_same_content(found):
        return False
    if not replace_other:
        raise refuse(out, found.kind, origin, _facts(out, found.kind))
    if found.kind == index_store.KIND:
        require_replaceable(metadata_beside(out))  # it goes, too, and a file of the user's must not
    return True


def _facts(out: Path, kind: str) -> list[str]:
    try:
        if kind == index_store.KIND:
            return [f"{index_store.open_index(out, checksums=False).n_documents:,} documents"]
        return [f"{vectors_store.read_meta(out).n_rows:,} documents"]
    except (LexigraftError, OSError, ValueError, KeyError):  # damaged: what it held is not known
        return []


def source_of_vectors(vectors: Path) -> str:
    """What vectors are of: the collection that they note or, of a run, which note none, they themselves."""
    found = read_manifest(vectors)
    origin = noted_origin(found.notes) if found is not None else None
    if origin is None:
        return str(vectors)
    return str((vectors.resolve() / origin.way).resolve()) if origin.way else origin.given


def collection_of(index: Path) -> Origin | None:
    """The collection that an index notes; None where it notes none, or vectors that name none."""
    found = read_manifest(index)
    origin = noted_origin(found.notes) if found is not None else None
    is_vectors = origin is not None and bool(origin.way) and is_artifact(index.resolve() / origin.way)
    return None if is_vectors else origin


def remove_metadata_of(index: Path) -> None:
    """Remove the metadata of the documents that an index had before."""
    beside = metadata_beside(index)
    found = read_manifest(beside)
    if found is not None and found.kind == metadata_files.KIND:
        shutil.rmtree(beside)

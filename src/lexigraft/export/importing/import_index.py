"""An index of ours from what other programs wrote, with the very weights where they are whole numbers."""

import hashlib
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.artifact import Manifest, hash_file, write_artifact
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.lock import writer_lock
from lexigraft.core.plain_files import require_plain_file
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import IndexSettings
from lexigraft.core.types import Vocabulary
from lexigraft.export.importing.from_ciff import read_ciff
from lexigraft.export.importing.from_vectors import read_vectors, vector_files
from lexigraft.export.importing.rows import ReadRows
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.index.inverted import IndexMeta
from lexigraft.index.store import open_index
from lexigraft.retrieve.loaded_place import index_in_one_piece
from lexigraft.retrieve.opened import Opened
from lexigraft.retrieve.place import find_place
from lexigraft.stages.standalone import require_free_for, seen_from
from lexigraft.stages.standalone_origin import remove_metadata_of, require_of
from lexigraft.vectors.query_encoder import LIVE_BM25

Reader = Callable[[Path, Path, Vocabulary | None, Progress], ReadRows]

FORMATS: Mapping[str, Reader] = {"ciff": read_ciff, "vectors": read_vectors}


class Imported(NamedTuple):
    """`are_kept`: impacts are the very weights of the file; else they were quantised, as those of a model are."""

    meta: IndexMeta
    are_kept: bool


class _Like(NamedTuple):
    vocabulary: Vocabulary
    query_encoder: dict[str, Any]


def import_index(
    file: Path,
    format_: str,
    out: Path,
    like: Path | None = None,
    system: str | None = None,
    replace_other: bool = False,
    progress: Progress = SILENT,
) -> Imported:
    """Write the index of what `file` holds to `out`, whole or not at all. `like` is a run, with its `system`, or an
    index, which gives the encoder of queries and the numbers of terms. What lies at `out` and is of another file is
    replaced only with `replace_other`."""
    if format_ not in FORMATS:
        raise SettingError(f"format {format_!r} is not known; one of {', '.join(FORMATS)} (--format)")
    if system is not None and like is None:
        raise SettingError("--system names a system of the run that --like names; give that, too")
    if not file.exists():
        raise InputError(f"there is no file {file}")
    require_free_for(out, index_store.KIND)
    config = {"keep": 0, "imported": format_, "sha256": _digest(file, format_)}
    is_other = require_of(out, str(file), lambda found: dict(found.config) == config, replace_other)
    given = None if like is None else _open_like(like, system, out)
    scratch = out.with_name(f".{out.name}.importing")
    with writer_lock(scratch):
        try:
            rows = FORMATS[format_](file, _empty(scratch / "rows"), given and given.vocabulary, progress)
            manifest = Manifest(index_store.KIND, index_store.FORMAT_VERSION, config)
            with write_artifact(out, manifest) as folder:
                _build(file, rows, given, folder, progress)
        finally:
            shutil.rmtree(scratch)
    if is_other:
        remove_metadata_of(out)
    return Imported(open_index(out, checksums=False).meta, rows.are_kept)


def _build(file: Path, rows: ReadRows, given: _Like | None, folder: Path, progress: Progress) -> None:
    """Whole weights are impacts of scale 1, in as few bits as hold them. Documents keep their order: the lists of
    another program may depend on it."""
    vectors = rows.vectors()
    if given is not None:
        vectors = replace(vectors, query_encoder=given.query_encoder)
    settings = IndexSettings(bits=rows.bits) if rows.are_kept else IndexSettings()
    try:
        build_index(vectors, folder, 0, settings, progress, 1.0 if rows.are_kept else None)
    except InputError as error:  # such as an id that comes twice
        raise InputError(f"{file}: {error}") from error


def _open_like(path: Path, system: str | None, out: Path) -> _Like:
    place = find_place(path, system)
    if place.kind:
        raise InputError(f"{place.name} is a {place.kind} system, which has no terms; name one that has, such as bm25")
    index = index_in_one_piece(Opened(place))
    if index.meta.query_encoder.get("kind") == LIVE_BM25:
        raise InputError(
            f"{path} is a live index of BM25, whose queries need the documents that live in it; give a plain index"
        )
    return _Like(Vocabulary(list(index.vocabulary.terms)), seen_from(out, index.meta.query_encoder, place.index))


def _digest(path: Path, format_: str) -> str:
    """Of all that is read."""
    files = vector_files(path) if format_ == "vectors" else [path]
    for file in files:
        require_plain_file(file, file.stat())  # a pipe would be waited for, and a device has no end
    digests = [hash_file(file) for file in files]
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed
    folder.mkdir()
    return folder

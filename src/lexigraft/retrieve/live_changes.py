"""A live index by its path: begun from an index or vectors, added to, deleted from, merged and looked at."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import read_manifest
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.index.live.agreement import require_same_rows
from lexigraft.index.live.reader import open_newest
from lexigraft.index.live.state import SEGMENTS, LiveState, is_live, read_state
from lexigraft.index.live.writer import Appended, Deleted, Merged, OnMissing, create_live, open_or_begin, open_writer
from lexigraft.index.store import open_index
from lexigraft.stages.standalone import encode, seen_from
from lexigraft.vectors.store import open_vectors


@dataclass(frozen=True)
class Adding:
    """How documents are added: `keep` of the first segment, what happens to known ids, and to a second writer."""

    keep: int | None = None
    replacing: bool = False
    wait: bool = False


def make_live(index: Path, out: Path) -> LiveState:
    """A live index at `out` that begins with a copy of the index at `index`."""
    if is_live(index):
        raise InputError(f"{index} is a live index already; copy its folder to have a second one")
    if out.resolve().is_relative_to(index.resolve()):
        raise InputError(f"{out} is within the index {index}, which never changes; give a folder outside of it")
    opened = open_index(index, checksums=False)
    with create_live(out) as writer:
        writer.adopt(index, seen_from(out, opened.meta.query_encoder, index))
    return read_state(out)


def add_vectors(live: Path, vectors: Path, settings: Settings, adding: Adding, progress: Progress = SILENT) -> Appended:
    """Add vectors made by `encode`, as the first segment where there is no live index yet."""
    opened = open_vectors(vectors)
    opened = replace(opened, query_encoder=seen_from(live, opened.query_encoder, vectors))
    with open_or_begin(live, adding.wait) as writer:
        return writer.append(opened, adding.keep, adding.replacing, settings.index, progress)


def add_texts(live: Path, source: str, settings: Settings, adding: Adding, progress: Progress = SILENT) -> Appended:
    """Encode `source` with the model that the live index names, and add what it becomes."""
    state = read_state(live)
    require_same_rows(live, state, bool(settings.data.passage_words))
    model = _model_of(live, state)
    # The lock is taken first: who must not write learns it before hours of encoding, not after.
    with open_writer(live, adding.wait) as writer, writer.scratch() as scratch:
        encode(source, model, scratch / "vectors", settings, progress)
        vectors = open_vectors(scratch / "vectors", checksums=False)
        return writer.append(vectors, adding.keep, adding.replacing, settings.index, progress)


def _model_of(live: Path, state: LiveState) -> Path:
    kind = state.query_encoder.get("kind")
    if kind == "bm25":
        raise InputError(
            f"{live} was made by BM25, whose weights depend on all documents at once, so texts cannot be added to it; "
            "index them all again (lexigraft index --data), or use a model's index"
        )
    if kind != "model":
        raise ArtifactError(f"{live} was made by an encoder of kind {kind!r}, which cannot encode texts; add --vectors")
    model = (live / str(state.query_encoder["model"])).resolve()
    manifest = read_manifest(model)
    if manifest is None:
        raise ArtifactError(f"the model of {live} is not at {model} any more; put it back, or add --vectors")
    if manifest.fingerprint != state.query_encoder["fingerprint"]:
        raise ArtifactError(
            f"the model at {model} was trained again after {live} was made, so its vectors would not fit; encode and "
            "index all documents with it"
        )
    return model


def delete_documents(live: Path, doc_ids: Iterable[str], missing: OnMissing = "error", wait: bool = False) -> Deleted:
    """Delete documents by id, all or, where one is unknown and `missing` is "error", none."""
    with open_writer(live, wait) as writer:
        return writer.delete(doc_ids, missing)


def merge_segments(
    live: Path, everything: bool, settings: Settings, wait: bool = False, progress: Progress = SILENT
) -> list[Merged]:
    """Merge segments while it pays, or all of them into one."""
    with open_writer(live, wait) as writer:
        return writer.merge(everything, settings.index, progress)


def status(live: Path, verify: bool = False) -> dict[str, Any]:
    """What the live index holds; with `verify` every byte is compared with its checksum first."""
    state = open_newest(live, checksums=True)[0] if verify else read_state(live)
    return {
        "live": str(live),
        "generation": state.generation,
        "documents": state.n_living,
        "deleted": sum(segment.n_deleted for segment in state.segments),
        "keep": state.keep,
        "passages": state.passages,
        "encoder": state.query_encoder.get("kind"),
        "verified": verify,
        "segments": [
            {
                "name": segment.name,
                "documents": segment.n_living,
                "deleted": segment.n_deleted,
                "postings": segment.n_postings,
                "scale": segment.scale,
                "bytes": _bytes_in(live / SEGMENTS / segment.name),
            }
            for segment in state.segments
        ],
    }


def _bytes_in(folder: Path) -> int:
    """Of all files; those that a writer removes meanwhile, because it merged the segment, count nothing."""
    total = 0
    for file in folder.glob("**/*"):
        with suppress(FileNotFoundError):
            total += file.stat().st_size
    return total

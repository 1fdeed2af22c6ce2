"""A live index by its path: begun from an index or vectors, added to, deleted from, merged and looked at."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lexigraft.core.artifact import read_manifest
from lexigraft.core.cut import DocumentCut
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.known_checksums import reading_every_byte
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.core.types import Document
from lexigraft.data.collection import Collection
from lexigraft.data.given import GivenDocuments
from lexigraft.index.live.agreement import require_same_rows
from lexigraft.index.live.opening import create_live, open_or_begin, open_writer
from lexigraft.index.live.reader import open_newest
from lexigraft.index.live.state import SEGMENTS, LiveState, is_live, read_state
from lexigraft.index.live.writer import Appended, Deleted, LiveWriter, Merged, OnMissing
from lexigraft.index.store import open_index
from lexigraft.index.texts import TextWriter
from lexigraft.stages.collect import collect, collected
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.standalone import encode, seen_from
from lexigraft.vectors.open_network import USUAL_BITS
from lexigraft.vectors.query_encoder import LIVE_BM25
from lexigraft.vectors.store import open_vectors


@dataclass(frozen=True)
class Adding:
    """How documents are added: `keep` of the first segment, what happens to known ids, and to a second writer."""

    keep: DocumentCut | None = None
    replacing: bool = False
    wait: bool = False


PLAINLY = Adding()


def make_live(index: Path, out: Path) -> LiveState:
    """A live index at `out` that begins with a copy of the index at `index`."""
    if is_live(index):
        raise InputError(f"{index} is a live index already; copy its folder to have a second one")
    if out.resolve().is_relative_to(index.resolve()):
        raise InputError(f"{out} is within the index {index}, which never changes; give a folder outside of it")
    opened = open_index(index, checksums=False)
    if opened.meta.query_encoder.get("kind") == LIVE_BM25:
        raise InputError(f"{index} is a segment of a live index of BM25; copy the folder of that to have a second one")
    with create_live(out) as writer:
        writer.adopt(index, seen_from(out, opened.meta.query_encoder, index))
    return read_state(out)


def add_vectors(live: Path, vectors: Path, settings: Settings, adding: Adding, progress: Progress = SILENT) -> Appended:
    """Add vectors made by `encode`, as the first segment where there is no live index yet."""
    opened = open_vectors(vectors)
    opened = replace(opened, query_encoder=seen_from(live, opened.query_encoder, vectors))
    with open_or_begin(live, adding.wait) as writer:
        return writer.append(opened, adding.keep, adding.replacing, settings.index, progress)


def begin_live_bm25(live: Path, documents: Iterable[Document], settings: Settings) -> Appended:
    """A live index of BM25 at `live`, which must be free, that begins with `documents`, read as `settings.words`,
    `settings.lexical` and `settings.data` say. There is none where nothing could be added."""
    with create_live(live) as writer:
        return _append_texts(writer, documents, settings, PLAINLY, SILENT)


def add_documents(
    live: Path,
    documents: Iterable[Document],
    settings: Settings,
    adding: Adding = PLAINLY,
    progress: Progress = SILENT,
) -> Appended:
    """Add documents to the live index at `live` by their texts: counted, where it is one of BM25, else encoded with the
    model that it names. A stream of documents is read after the lock is taken."""
    return _add(live, GivenDocuments(documents), settings, adding, progress)


def add_texts(live: Path, source: str, settings: Settings, adding: Adding, progress: Progress = SILENT) -> Appended:
    """As `add_documents`, of the collection that `source` names. Where there is no live index yet, a live index of BM25
    begins with them."""
    if is_live(live):
        return _add(live, source, settings, adding, progress)
    with open_or_begin(live, adding.wait) as writer:
        return _append_texts(writer, _documents_of(source, settings, progress), settings, adding, progress)


def _add(live: Path, source: str | Collection, settings: Settings, adding: Adding, progress: Progress) -> Appended:
    state = read_state(live)
    require_same_rows(live, state, settings.data.in_passages)
    if state.counts_words:
        documents = _documents_of(source, settings, progress) if isinstance(source, str) else source.documents()
        with open_writer(live, adding.wait) as writer:
            return _append_texts(writer, documents, settings, adding, progress)
    model = _model_of(live, state)
    bits = int(state.query_encoder.get("bits", USUAL_BITS))  # those that the index has, whatever the settings say
    settings = replace(settings, model=replace(settings.model, bits=bits))
    # The lock is taken first: who must not write learns it before hours of encoding, not after.
    with open_writer(live, adding.wait) as writer, writer.scratch() as scratch:
        with TextWriter(scratch, settings.index.most_text_bytes) as texts:
            encode(source, model, scratch / "vectors", settings, progress, texts=texts)
        vectors = open_vectors(scratch / "vectors", checksums=False)
        return writer.append(vectors, adding.keep, adding.replacing, settings.index, progress, scratch)


def _append_texts(
    writer: LiveWriter, documents: Iterable[Document], settings: Settings, adding: Adding, progress: Progress
) -> Appended:
    """Documents, or their passages, added to a live index of BM25."""
    passages = settings.data.in_passages
    searched = searched_documents(GivenDocuments(documents), settings.data, progress)
    return writer.append_texts(
        searched, settings.lexical, passages, adding.keep, adding.replacing, settings.index, progress, settings.words
    )


def _documents_of(source: str, settings: Settings, progress: Progress) -> Iterator[Document]:
    """The documents of a collection. Nothing happens before the first is asked for: by then the lock is taken."""
    with TemporaryDirectory(prefix="lexigraft-") as folder:  # pydocs are written out there
        collect(source, settings.data, Path(folder), progress)
        yield from next(iter(collected(source, settings.data, Path(folder)).values())).documents()


def _model_of(live: Path, state: LiveState) -> Path:
    kind = state.query_encoder.get("kind")
    if kind == "bm25":
        raise InputError(
            f"{live} was made by BM25 of an index, whose weights depend on all documents at once, so texts cannot be "
            "added to it; begin a live index of BM25 with the texts instead: lexigraft index add NEW --data DIR"
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


def holds_passages(live: Path) -> bool:
    """Whether the rows of a live index are passages of documents."""
    return read_state(live).passages


def status(live: Path, verify: bool = False) -> dict[str, Any]:
    """What the live index holds; with `verify` every byte is compared with its checksum first."""
    with reading_every_byte():
        state = open_newest(live, checksums=True)[0] if verify else read_state(live)
    return {
        "live": str(live),
        "generation": state.generation,
        "documents": state.n_living,
        "deleted": sum(segment.n_deleted for segment in state.segments),
        "keep": state.keep,
        "passages": state.passages,
        "encoder": state.query_encoder.get("kind"),
        "takes_texts": state.counts_words or state.query_encoder.get("kind") == "model",
        "mean_length": state.mean_length,
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

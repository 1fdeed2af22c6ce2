"""A live index by its path: begun from an index or vectors, added to, deleted from, merged and looked at."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
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
from lexigraft.index.live.embedding import Embed
from lexigraft.index.live.opening import create_live, open_or_begin, open_writer
from lexigraft.index.live.reader import open_live, open_newest
from lexigraft.index.live.state import METADATA, SEGMENTS, LiveState, is_live, read_state
from lexigraft.index.live.writer import Appended, Deleted, LiveWriter, Merged, MetadataLater, OnMissing
from lexigraft.index.metadata import metadata_of_live, open_metadata
from lexigraft.index.metadata_columns import warn_of_texts
from lexigraft.index.metadata_files import NO_METADATA, MetadataTable
from lexigraft.index.store import open_index
from lexigraft.index.texts import TextWriter
from lexigraft.retrieve.kept_metadata import table_of
from lexigraft.stages.collect import collect, collected
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.layout import RunFolder, lies_at, metadata_beside
from lexigraft.stages.standalone import encode, seen_from
from lexigraft.vectors.open_network import USUAL_BITS
from lexigraft.vectors.query_encoder import LIVE_BM25
from lexigraft.vectors.store import open_vectors


@dataclass(frozen=True)
class Adding:
    """How documents are added: `keep` of the first segment, what happens to known ids, and to a second writer.
    `vectors`, an array or a path, are those of texts that come to an index that was grafted by given ones."""

    keep: DocumentCut | None = None
    replacing: bool = False
    wait: bool = False
    vectors: Any = None


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
    beside = _metadata_of(index)
    metadata = open_metadata(beside, opened).segments[0].table if beside.is_dir() else None
    with create_live(out) as writer:
        writer.adopt(index, seen_from(out, opened.meta.query_encoder, index), metadata or NO_METADATA)
    return read_state(out)


def _metadata_of(index: Path) -> Path:
    """Where the metadata of a plain index lie: beside it, or where all systems of its run share them."""
    folder = index.resolve()
    if len(folder.parents) > 2 and lies_at((run := RunFolder(folder.parents[2])).contents):
        return run.metadata(folder.parents[1].name)
    return metadata_beside(index)


def add_vectors(live: Path, vectors: Path, settings: Settings, adding: Adding, progress: Progress = SILENT) -> Appended:
    """Add vectors made by `encode`, as the first segment where there is no live index yet."""
    opened = open_vectors(vectors)
    opened = replace(opened, query_encoder=seen_from(live, opened.query_encoder, vectors))
    with open_or_begin(live, adding.wait) as writer:
        return writer.append(opened, adding.keep, adding.replacing, settings.index, progress)


def begin_live_bm25(
    live: Path, documents: Iterable[Document], settings: Settings, metadata: MetadataLater | None = None
) -> Appended:
    """A live index of BM25 at `live`, which must be free, that begins with `documents`, read as `settings.words`,
    `settings.lexical` and `settings.data` say, and their `metadata`, which are asked for when all of them were read.
    There is none where nothing could be added."""
    with create_live(live) as writer:
        added = _append_texts(writer, documents, settings, PLAINLY, SILENT, metadata)
    _warn_of_texts(live)
    return added


def add_documents(
    live: Path,
    documents: Iterable[Document],
    settings: Settings,
    adding: Adding = PLAINLY,
    progress: Progress = SILENT,
    metadata: MetadataLater | None = None,
) -> Appended:
    """Add documents to the live index at `live` by their texts: counted, where it is one of BM25, else encoded with the
    model that it names. A stream of documents is read after the lock is taken; their `metadata` are asked for when all
    of it was."""
    added = _add(live, GivenDocuments(documents), settings, adding, progress, metadata)
    _warn_of_texts(live)
    return added


def add_texts(live: Path, source: str, settings: Settings, adding: Adding, progress: Progress = SILENT) -> Appended:
    """As `add_documents`, of the collection that `source` names, with its other fields as metadata. Where there is no
    live index yet, a live index of BM25 begins with them."""

    def metadata() -> MetadataTable:
        return table_of(source, settings.data)

    if is_live(live):
        added = _add(live, source, settings, adding, progress, metadata)
    else:
        with open_or_begin(live, adding.wait) as writer:
            documents = _documents_of(source, settings, progress)
            added = _append_texts(writer, documents, settings, adding, progress, metadata)
    _warn_of_texts(live)
    return added


def keys_of(live: Path) -> list[str]:
    """The keys that searches of a live index can filter by."""
    metadata = metadata_of_live(open_live(live, checksums=False))
    return [] if metadata is None else list(metadata.columns)


def _warn_of_texts(live: Path) -> None:
    if (metadata := metadata_of_live(open_live(live, checksums=False))) is not None:
        warn_of_texts(metadata)


def _add(
    live: Path,
    source: str | Collection,
    settings: Settings,
    adding: Adding,
    progress: Progress,
    metadata: MetadataLater | None,
) -> Appended:
    state = read_state(live)
    require_same_rows(live, state, settings.data.in_passages)
    if state.counts_words:
        documents = _documents_of(source, settings, progress) if isinstance(source, str) else source.documents()
        with open_writer(live, adding.wait) as writer:
            return _append_texts(writer, documents, settings, adding, progress, metadata)
    if adding.vectors is not None:
        raise InputError(f"{live} is not of BM25 and encodes texts by its model; leave out the vectors of the texts")
    model = _model_of(live, state)
    bits = int(state.query_encoder.get("bits", USUAL_BITS))  # those that the index has, whatever the settings say
    settings = replace(settings, model=replace(settings.model, bits=bits))
    # The lock is taken first: who must not write learns it before hours of encoding, not after.
    with open_writer(live, adding.wait) as writer, writer.scratch() as scratch:
        with TextWriter(scratch, settings.index.most_text_bytes) as texts:
            encode(source, model, scratch / "vectors", settings, progress, texts=texts)
        vectors = open_vectors(scratch / "vectors", checksums=False)
        return writer.append(vectors, adding.keep, adding.replacing, settings.index, progress, scratch, metadata)


def _append_texts(
    writer: LiveWriter,
    documents: Iterable[Document],
    settings: Settings,
    adding: Adding,
    progress: Progress,
    metadata: MetadataLater | None,
) -> Appended:
    """Documents, or their passages, added to a live index of BM25."""
    passages = settings.data.in_passages
    searched = searched_documents(GivenDocuments(documents), settings.data, progress)
    with _embedding(writer, adding.vectors, progress) as embed:
        return writer.append_texts(
            searched, settings.lexical, passages, adding.keep, adding.replacing, settings.index, progress,
            settings.words, metadata, embed,
        )  # fmt: skip


def _embedding(writer: LiveWriter, vectors: Any, progress: Progress) -> AbstractContextManager[Embed | None]:
    """What makes vectors of documents that come to a grafted index; None for any other."""
    state = writer.state
    if vectors is None and (state is None or state.graft is None):
        return nullcontext()
    from lexigraft.retrieve.live_grafting import embedding_for  # BM25 alone need not wait for what it loads

    return embedding_for(writer, vectors, progress)


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
        raise ArtifactError(f"{live} was made by an encoder of kind {kind!r}, which encodes no texts; add vectors=PATH")
    model = (live / str(state.query_encoder["model"])).resolve()
    manifest = read_manifest(model)
    if manifest is None:
        raise ArtifactError(f"the model of {live} is not at {model} any more; put it back, or add vectors=PATH")
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
        "graft": None if state.graft is None else asdict(state.graft),
        "verified": verify,
        "segments": [
            {
                "name": segment.name,
                "documents": segment.n_living,
                "deleted": segment.n_deleted,
                "postings": segment.n_postings,
                "scale": segment.scale,
                "bytes": _bytes_in(live / SEGMENTS / segment.name)
                + (_bytes_in(live / METADATA / segment.metadata.name) if segment.metadata else 0),
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

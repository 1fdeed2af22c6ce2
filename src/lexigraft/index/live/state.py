"""The state of a live index: one small file that says which segments it has and which of their rows are deleted.

    live.json                    the state, replaced whole by a rename: the one moment at which anything changes
    segments/NNNNNN/             index artifacts, never changed
    metadata/NNNNNN-GGGGGG/      metadata of a segment's documents, artifacts, never changed
    deleted/NNNNNN-GGGGGG.npy    the deleted rows of a segment as bits, of generation G, never changed

Numbers of segments and generations are never used twice by a state, so a name says what it holds for ever. The state
has the checksum of itself, of every manifest of a segment and of its metadata (which have those of the files) and of
every file of bits.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import MANIFEST, canonical_json
from lexigraft.core.cut import DocumentCut
from lexigraft.core.encoder_description import ENCODER
from lexigraft.core.errors import ArtifactError
from lexigraft.core.made_here import MADE_ELSEWHERE
from lexigraft.core.plain_files import read_plain_file, replace_for_good
from lexigraft.core.stored_record import COUNT, CUT, MANY, POSITIVE, Rule, record_of, whole
from lexigraft.index.live.graft_facts import OF_GRAFT, LiveGraft

STATE_FILE, SEGMENTS, METADATA, DELETED = "live.json", "segments", "metadata", "deleted"
# Format 1 knew no BM25, format 2 no metadata, format 3 no graft: what they do not say is none.
KIND, FORMAT_VERSION, READABLE = "live index", 4, (1, 2, 3, 4)
REMEDY = "restore it from a backup, or make the live index again"


@dataclass(frozen=True)
class DeletedFile:
    name: str
    n_rows: int  # how many are deleted
    sha256: str


@dataclass(frozen=True)
class MetadataFolder:
    name: str
    manifest_sha256: str


@dataclass(frozen=True)
class SegmentState:
    name: str
    n_rows: int
    n_postings: int
    scale: float
    manifest_sha256: str
    deleted: DeletedFile | None = None
    metadata: MetadataFolder | None = None

    @property
    def n_deleted(self) -> int:
        return self.deleted.n_rows if self.deleted else 0

    @property
    def n_living(self) -> int:
        return self.n_rows - self.n_deleted


@dataclass(frozen=True)
class LiveState:
    """What all segments share, and the segments in order; paths in `query_encoder` start at the live folder."""

    generation: int
    next_segment: int
    vocab_fingerprint: str
    keep: DocumentCut
    passages: bool
    query_encoder: Mapping[str, Any]
    segments: tuple[SegmentState, ...]
    mean_length: float | None = None  # of BM25: by which all segments saturate term frequencies, until a full merge
    graft: LiveGraft | None = None  # of BM25: how documents get words beside their own, where they do

    @property
    def counts_words(self) -> bool:
        """Whether this is a live index of BM25, whose segments keep the counts of their words."""
        return self.mean_length is not None

    @property
    def n_living(self) -> int:
        return sum(segment.n_living for segment in self.segments)


A_NAME = Rule(
    lambda value: isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}(-[0-9]{1,18}(\.npy)?)?", value) is not None,
    "a number, as segments are named by",
)  # and no way out of the folder
OF_DELETED, OF_METADATA = {"name": A_NAME, "n_rows": COUNT}, {"name": A_NAME}
OF_SEGMENT = {"name": A_NAME, "n_rows": COUNT, "n_postings": MANY, "scale": POSITIVE}
OF_STATE = {
    "generation": whole(0, 2**62),
    "next_segment": whole(0, 2**62),
    "keep": CUT,
    "query_encoder": ENCODER,
    "mean_length": Rule(lambda value: value is None or POSITIVE.allows(value), "a number above 0"),
}


def is_live(folder: Path) -> bool:
    """Whether `folder` holds a live index, rather than a plain one or anything else."""
    return (folder / STATE_FILE).is_file()


def segment_name(number: int) -> str:
    return f"{number:06d}"


def read_state(folder: Path) -> LiveState:
    """The state of the live index at `folder`; raises `ArtifactError` where there is none or a byte of it is wrong."""
    path = folder / STATE_FILE
    try:
        found = read_plain_file(path)
    except (FileNotFoundError, NotADirectoryError):
        if (folder / MANIFEST).is_file():
            remedy = f"it never changes; make a live index of it: lexigraft index live {folder} --out LIVE"
            raise ArtifactError(f"{folder} holds another artifact than a live index: {remedy}") from None
        remedy = f"make one of an index (lexigraft index live INDEX --out {folder}) or of texts (index add --data)"
        raise ArtifactError(f"there is no live index at {folder}; {remedy}") from None
    try:
        content = json.loads(found)
        # Also the bytes themselves are compared: a changed blank would otherwise pass.
        is_whole = isinstance(content, dict) and _serialised(content) == found
    except (ValueError, RecursionError):
        is_whole = False
    if not is_whole:
        raise ArtifactError(f"{path} does not match its checksum: it was changed or damaged; {REMEDY}")
    if content.get("kind") != KIND or content.get("format_version") not in READABLE:
        found_format = f"{content.get('kind')} format {content.get('format_version')}"
        raise ArtifactError(
            f"{folder} has {found_format}, this version of Lexigraft reads {KIND} formats "
            f"{', '.join(map(str, READABLE))}; make it again"
        )
    return _state_of(path, content)


def write_state(folder: Path, state: LiveState) -> None:
    """Make `state` the one that every reader sees from now on, also after a loss of power."""
    content = json.loads(canonical_json({"kind": KIND, "format_version": FORMAT_VERSION, **asdict(state)}))
    replace_for_good(folder / STATE_FILE, _serialised(content))


def _serialised(content: Mapping[str, Any]) -> bytes:
    """The file's bytes: `content` with the checksum of all of it but the checksum."""
    body = {key: value for key, value in content.items() if key != "checksum"}
    checksum = hashlib.sha256(canonical_json(body).encode()).hexdigest()
    return (json.dumps({**body, "checksum": checksum}, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _state_of(path: Path, content: Mapping[str, Any]) -> LiveState:
    """The state in the file at `path`, every field of which is looked at: the checksum says nothing of its maker."""
    shared = {key: value for key, value in content.items() if key not in ("kind", "format_version", "checksum")}
    found = shared.get("segments")
    if not isinstance(found, list) or not all(isinstance(segment, dict) for segment in found):
        raise ArtifactError(f"{path} does not say its segments: {MADE_ELSEWHERE}")
    if not found:
        raise ArtifactError(f"{path} names no segment: {MADE_ELSEWHERE}")
    segments = tuple(_segment_of(path, segment) for segment in found)
    if isinstance(graft := shared.get("graft"), dict):
        shared["graft"] = record_of(path, LiveGraft, graft, OF_GRAFT)
    state = record_of(path, LiveState, {**shared, "segments": segments}, OF_STATE)
    if state.graft is not None and not state.counts_words:
        raise ArtifactError(f"{path} says that an index is grafted that is not of BM25: {MADE_ELSEWHERE}")
    return state


def _segment_of(path: Path, found: Mapping[str, Any]) -> SegmentState:
    deleted, metadata = found.get("deleted"), found.get("metadata")
    if isinstance(deleted, dict):
        deleted = record_of(path, DeletedFile, deleted, OF_DELETED)
    if isinstance(metadata, dict):
        metadata = record_of(path, MetadataFolder, metadata, OF_METADATA)
    segment = record_of(path, SegmentState, {**found, "deleted": deleted, "metadata": metadata}, OF_SEGMENT)
    if segment.n_deleted > segment.n_rows:
        raise ArtifactError(
            f"{path} says that {segment.n_deleted} of {segment.n_rows} rows are deleted: {MADE_ELSEWHERE}"
        )
    return segment

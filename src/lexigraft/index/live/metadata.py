"""The metadata of a segment's documents: an artifact of their own, written with the segment or, where somebody gives
them later, anew, under a name that is never used twice. Which one counts is said by the state."""

from pathlib import Path

from lexigraft.core.artifact import MANIFEST, Manifest, hash_file
from lexigraft.core.errors import ArtifactError
from lexigraft.core.pinned import read_pinned
from lexigraft.index.live.state import METADATA, REMEDY, MetadataFolder, SegmentState
from lexigraft.index.metadata_files import FORMAT_VERSION, KIND, MetadataTable, open_table, write_table


def metadata_path(folder: Path, segment: str, generation: int) -> Path:
    """Where the metadata of a segment lie that become those of this generation."""
    return folder / METADATA / f"{segment}-{generation:06d}"


def write_segment_metadata(path: Path, table: MetadataTable) -> MetadataFolder | None:
    """Write the metadata of all documents of a segment, in order; None where there is nothing to write."""
    if not table.values:
        return None
    write_table(path, Manifest(KIND, FORMAT_VERSION, {}), table)
    return described(path)


def described(path: Path) -> MetadataFolder:
    """How a state names the metadata at `path`."""
    return MetadataFolder(path.name, hash_file(path / MANIFEST))


def open_segment_metadata(folder: Path, named: SegmentState, checksums: bool) -> MetadataTable | None:
    """The metadata that a state names for a segment; raises `OSError` where they are not whole."""
    if named.metadata is None:
        return None
    path, wanted = folder / METADATA / named.metadata.name, named.metadata.manifest_sha256

    def load(pinned: Path) -> MetadataTable:
        manifest = pinned / MANIFEST
        if not manifest.is_file():
            raise ArtifactError(f"{manifest} is missing; {REMEDY}")
        if hash_file(manifest) != wanted:
            raise ArtifactError(f"{manifest} does not match its checksum: it was changed or damaged; {REMEDY}")
        return open_table(pinned, checksums)

    return read_pinned(path, load)

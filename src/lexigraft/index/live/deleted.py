"""Which rows of a segment are deleted: a file of bits, and the bytes that the search kernels read."""

import hashlib
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import ArtifactError
from lexigraft.core.plain_files import read_plain_file, sync
from lexigraft.index.live.state import DELETED, REMEDY, STATE_FILE, DeletedFile, SegmentState

HEADER_BYTES = 128  # before the bits, however many there are


def write_deleted(folder: Path, segment: str, generation: int, allowed: NDArray[np.uint8]) -> DeletedFile:
    """Store the rows with 0 in `allowed` as the deleted ones of a segment; on the disk when this returns."""
    buffer = io.BytesIO()
    np.save(buffer, np.packbits(allowed == 0))
    name = f"{segment}-{generation:06d}.npy"
    path = folder / DELETED / name
    path.write_bytes(buffer.getvalue())
    sync(path)
    sync(path.parent)
    return DeletedFile(name, int(np.count_nonzero(allowed == 0)), hashlib.sha256(buffer.getvalue()).hexdigest())


def read_allowed(folder: Path, segment: SegmentState) -> NDArray[np.uint8] | None:
    """One byte a row, 0 for a deleted one; None where no row is. The checksum is always compared: the file is small."""
    if segment.deleted is None:
        return None
    path = folder / DELETED / segment.deleted.name
    try:
        stored = read_plain_file(path, most=HEADER_BYTES + -(-segment.n_rows // 8))
    except FileNotFoundError:
        raise ArtifactError(f"{path} is missing; {REMEDY}") from None
    if hashlib.sha256(stored).hexdigest() != segment.deleted.sha256:
        raise ArtifactError(f"{path} does not match its checksum: it was changed or damaged; {REMEDY}")
    try:
        bits = np.load(io.BytesIO(stored), allow_pickle=False)
    except Exception as error:  # a header is a piece of Python to numpy: what comes of it has no end of kinds
        raise ArtifactError(f"{path} cannot be read as an array ({error}); {REMEDY}") from error
    fits = isinstance(bits, np.ndarray) and bits.dtype == np.uint8 and bits.shape == (-(-segment.n_rows // 8),)
    allowed: NDArray[np.uint8] | None = 1 - np.unpackbits(bits, count=segment.n_rows) if fits else None
    if allowed is None or np.count_nonzero(allowed) != segment.n_living:
        raise ArtifactError(f"{path} has other deleted rows than {STATE_FILE} says; {REMEDY}")
    return allowed

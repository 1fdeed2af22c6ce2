"""How many texts a training step may hold at once on a CPU, whose memory nobody gives back an error for."""

from contextlib import suppress
from pathlib import Path

ACTIVATION_BYTES = 100  # a subword, layer and unit of width, in float32: the usual count of a transformer, rounded up
COPIES_OF_VECTORS = 6  # of a batch's vectors: masked, unmasked, their gradients
LARGEST_SHARE = 0.5  # of the memory that is free
SMALLEST_CHUNK = 8
NO_CHUNKS = 0


def chunk_that_fits(batch: int, subwords: int, layers: int, width: int, n_terms: int, free: int | None) -> int:
    """`finetune.chunk` for pairs of `subwords` together: 0 where a whole batch fits into half of the `free` bytes, or
    nobody knows how many those are."""
    if free is None:
        return NO_CHUNKS
    vectors = 2 * batch * n_terms * 4 * COPIES_OF_VECTORS
    of_pair = subwords * layers * width * ACTIVATION_BYTES
    chunk = batch
    while chunk > SMALLEST_CHUNK and vectors + chunk * of_pair > LARGEST_SHARE * free:
        chunk //= 2
    return NO_CHUNKS if chunk == batch else chunk


def free_memory() -> int | None:
    """Bytes that this process may still take; None where that cannot be found out."""
    found: list[int] = []
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found.append(1024 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]))
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        most, used = ((group / name).read_text().strip() for name in ("memory.max", "memory.current"))
        found.append(int(most) - int(used))
    return min(found) if found else None

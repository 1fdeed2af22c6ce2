"""Vectors of an encoding that is not finished: a file for each batch of texts, so that a kill costs one batch.

A file's name is a digest of the encoder and of the texts, so what is read again is of these very texts, in whatever
order they come; a file that is not whole (it is written aside and renamed) or of another shape is made again.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.plain_files import written_aside


class UnfinishedVectors:
    """The batches kept in `folder`, of an encoder that `encoder` tells from others."""

    def __init__(self, folder: Path, encoder: str) -> None:
        self.folder, self._encoder = folder, encoder
        folder.mkdir(parents=True, exist_ok=True)

    def read(self, texts: Sequence[str], like: NDArray[Any]) -> bool:
        """Fill `like` [texts, width] with what was kept of these texts; whether there was anything."""
        try:
            found = np.load(self._path(texts), allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return False
        if found.shape != like.shape or found.dtype != like.dtype or not np.isfinite(found).all():
            return False
        like[:] = found
        return True

    def keep(self, texts: Sequence[str], vectors: NDArray[Any]) -> None:
        """Keep the vectors of these texts."""
        with written_aside(self._path(texts)) as aside, aside.open("wb") as file:
            np.save(file, vectors)

    def _path(self, texts: Sequence[str]) -> Path:
        digest = hashlib.blake2b(self._encoder.encode(), digest_size=16)
        for text in texts:
            raw = text.encode("utf-8", "surrogatepass")
            digest.update(len(raw).to_bytes(8, "little"))
            digest.update(raw)
        return self.folder / f"{digest.hexdigest()}.npy"

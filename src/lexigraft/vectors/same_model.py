"""Whether a model is the one that wrote an index's documents."""

from pathlib import Path

from lexigraft.core.artifact import read_manifest
from lexigraft.core.errors import MixedVersionsError


def require_same_model(path: Path, fingerprint: str) -> None:
    """Raise unless the model at `path` is the one with this fingerprint. To be asked within `pinned.read_pinned` of the
    model: then it is that very one which is read afterwards."""
    manifest = read_manifest(path)
    if manifest is None or manifest.fingerprint != fingerprint:
        raise MixedVersionsError(
            f"the model at {path} was trained again after this index was made; encode and index with it (the run's "
            "command continues), or search by the system bm25"
        )

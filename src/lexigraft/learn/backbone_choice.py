"""Which backbone a model starts from: what `model.backbone` means on this machine, and what tells it from another."""

from pathlib import Path
from typing import NamedTuple

from lexigraft.core.artifact import hash_file
from lexigraft.core.installing import has_embedded
from lexigraft.core.settings import AUTO

EMBEDDED, SCRATCH = "embedded", "scratch"


def backbone_name(wanted: str) -> str:
    """`wanted`, or for "auto" the first that is there."""
    return wanted if wanted != AUTO else EMBEDDED if has_embedded() else SCRATCH


class BackboneChoice(NamedTuple):
    """`name` is what models say of their origin, `source` where it is loaded from, `recipe` what results depend on."""

    name: str
    source: str
    recipe: dict[str, str]


def file_hashes(folder: Path) -> dict[str, str]:
    """Of a backbone in a folder: trained further or changed, it is another one."""
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    return {file.name: hash_file(file) for file in files if file.is_file()}

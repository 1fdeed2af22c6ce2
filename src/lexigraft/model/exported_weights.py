"""The weights of an export, as a model of ours keeps them."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from lexigraft.core.errors import InputError
from lexigraft.model.exported import FULL, REMEDY, WEIGHTS, ExportedModel
from lexigraft.model.exported_checks import require_own_file
from lexigraft.model.stock_weights import from_stock


def write_weights(found: ExportedModel, folder: Path) -> None:
    """model.safetensors of the export `found`, into `folder`."""
    if found.form == FULL:
        source = found.folder / WEIGHTS
        require_own_file(found.folder, source, REMEDY)
        shutil.copyfile(source, folder / WEIGHTS)
        return
    network = _read(found, str(found.layout.get("home", "")))
    dense = str(found.layout.get("dense", ""))
    save_file(from_stock(found.layout, network, _read(found, dense) if dense else {}), folder / WEIGHTS)


def _read(found: ExportedModel, part: str) -> Mapping[str, Tensor]:
    """The weights in a folder of the export."""
    if Path(part).is_absolute() or ".." in Path(part).parts:
        raise InputError(f"{found.folder} names {part!r}, which is outside of the folder; {REMEDY}")
    require_own_file(found.folder, found.folder / part / WEIGHTS, REMEDY)
    try:
        weights: Mapping[str, Tensor] = load_file(found.folder / part / WEIGHTS)
        return weights
    except (SafetensorError, OSError) as error:
        raise InputError(f"{found.folder / part / WEIGHTS} cannot be read ({error}); {REMEDY}") from error

"""Opens whatever a user may call a collection: a folder, a file of texts, or an id of `ir_datasets`."""

from pathlib import Path

from lexigraft.data.collection import STRICT, Collection, Reading, open_collection
from lexigraft.data.irds import PREFIX, IrDatasetsCollection


def open_source(source: str, reading: Reading = STRICT) -> Collection:
    if source.startswith(PREFIX):
        return IrDatasetsCollection(source.removeprefix(PREFIX))
    return open_collection(Path(source), reading)

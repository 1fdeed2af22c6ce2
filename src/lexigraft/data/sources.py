"""Opens whatever a user may call a collection: a folder, a file, standard input, or an id of `ir_datasets`."""

from pathlib import Path

from lexigraft.data.collection import Collection, open_collection
from lexigraft.data.irds import PREFIX, IrDatasetsCollection
from lexigraft.data.readers.standard_input import STANDARD_INPUT, standard_input
from lexigraft.data.reading import STRICT, Reading


def open_source(source: str, reading: Reading = STRICT) -> Collection:
    if source.startswith(PREFIX):
        return IrDatasetsCollection(source.removeprefix(PREFIX))
    if source == STANDARD_INPUT:
        return open_collection(standard_input(), reading)
    return open_collection(Path(source), reading)

"""A graph's weights in a file beside it, where onnxruntime maps them into memory.

Large arrays begin at a page's beginning. Parts of one matrix, such as the tiles of a head, lie side by side, so that
the whole can be read as one.
"""

from pathlib import Path
from typing import Any

import onnx
from onnx import numpy_helper

from lexigraft.inference.folder import Stored

PAGE, SMALLEST = 4096, 1024  # bytes: of a page; of what is worth a place outside the graph
EXTERNAL = onnx.TensorProto.EXTERNAL


class WeightFile:
    """Arrays in one file, each once: whichever graph has it next finds it by its name. Those whose names begin with one
    of `always` are written however small they are."""

    def __init__(self, path: Path, always: tuple[str, ...] = ()) -> None:
        self.path, self._always = path, always
        self.places: dict[str, Stored] = {}
        self._last = ""  # array that was written
        self._file = path.open("wb")

    def move_out(self, model: Any, others: "WeightFile | None" = None) -> None:
        """Take the large arrays of a graph out of it, into this file, or find them in `others`."""
        for array in model.graph.initializer:
            if len(array.raw_data) < SMALLEST and not array.name.startswith(self._always):
                continue
            home: WeightFile = others if others is not None and array.name in others.places else self
            stored = home.places.get(array.name) or home._write(array)
            n_bytes = len(array.raw_data)
            array.ClearField("raw_data")
            array.data_location = EXTERNAL
            del array.external_data[:]
            for key, value in (("location", home.path.name), ("offset", stored.offset), ("length", n_bytes)):
                array.external_data.add(key=key, value=str(value))

    def _write(self, array: Any) -> Stored:
        name, number = array.name.rpartition(".")[::2]
        follows = number.isdecimal() and self._last == f"{name}.{int(number) - 1}"
        if not follows:
            self._file.write(b"\0" * (-self._file.tell() % PAGE))
        stored = Stored(self._file.tell(), tuple(array.dims))
        self._file.write(array.raw_data)
        self.places[array.name], self._last = stored, array.name
        return stored

    def close(self) -> None:
        self._file.close()


def with_raw_data(model: Any) -> None:
    """Write every array of a graph as bytes: how else a small one may be stored differs."""
    for array in model.graph.initializer:
        if not array.raw_data:
            array.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(array), array.name))

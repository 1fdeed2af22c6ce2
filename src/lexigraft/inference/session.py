"""The one place that opens and runs graphs: whatever onnxruntime has to say of one names its file, in one line.

A graph is a file like any other: it may have been made by somebody else, and then fail at its first text, or give
something that is no array.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import ArtifactError
from lexigraft.core.pinned import known_as
from lexigraft.core.stored_record import shortened


class Session:
    """An opened graph, whose file `graph` is, as a user knows it."""

    def __init__(self, graph: Path, opened: Any) -> None:
        self.graph, self._opened = graph, opened
        self.inputs = frozenset(item.name for item in opened.get_inputs())

    def run(self, outputs: Sequence[str], feed: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """What the graph gives under the names `outputs`; raises `ArtifactError` where it cannot be run."""
        try:
            found = self._opened.run(list(outputs), dict(feed))
        except Exception as error:  # the library has kinds of its own for everything
            raise ArtifactError(f"{self.graph} cannot be run ({_said(error)}); {_remedy(self.graph)}") from error
        for name, value in zip(outputs, found, strict=True):
            if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf":
                raise self.gives_no(f"array of numbers under {name!r}")
        return list(found)

    def gives_no(self, wanted: str) -> ArtifactError:
        """The error of a graph that gives something else than what is `wanted`."""
        return ArtifactError(
            f"{self.graph} gives no {wanted}: it was damaged or made by another program; {_remedy(self.graph)}"
        )


def open_session(graph: Path) -> Session:
    """The graph, opened to be run by as many threads as want to, each batch by one."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # every length is another shape: plans for them would only grow
    options.log_severity_level = 4  # what fails is raised, and said in one line: the library need not print it, too
    try:
        opened = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library has kinds of its own for everything
        said = _said(error, str(graph), graph.name)
        raise ArtifactError(f"{graph} cannot be opened ({said}); {_remedy(graph)}") from error
    return Session(known_as(graph), opened)


def _said(error: Exception, path: str = "", name: str = "") -> str:
    """The first line of what the library says, without the way through a descriptor that it may name."""
    said = str(error).replace(path, name) if path else str(error)
    return shortened(said.strip().partition("\n")[0] or type(error).__name__, quoted=False)


def _remedy(graph: Path) -> str:
    return f"remove {graph.parent}: it is made when it is next used"

"""What an encoder can do that says which word of a text produced a term."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import TracedText


@runtime_checkable
class Tracer(Protocol):
    def trace_query(self, text: str, terms: NDArray[np.int32]) -> TracedText:
        """What in a query's text produced each of `terms`."""
        ...

    def trace_document(self, text: str, terms: NDArray[np.int32]) -> TracedText:
        """What in a document's text produced each of the terms."""
        ...

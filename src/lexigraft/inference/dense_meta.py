"""What a dense encoder says of itself, in its `dense.json`, and what every opened form of one can do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from lexigraft.core.array_types import Float32s, Int64s
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.stored_record import record_of, whole

# A kind of its own: whoever expects a model that writes terms refuses it by name, and the other way round.
DENSE_KIND, DENSE_FORMAT = "dense-encoder", 1
FORM_KIND, FORM_FORMAT = "dense-inference", 1
FACTS = "dense.json"
OF_META = {"width": whole(1, 1 << 20), "query_length": whole(1, 1 << 20), "document_length": whole(1, 1 << 20)}


@dataclass(frozen=True)
class DenseMeta:
    """`width` is that of a vector; the lengths are the subwords read of a text, special ones included."""

    backbone: str
    width: int
    query_length: int
    document_length: int


def read_dense_meta(path: Path) -> DenseMeta:
    """What the encoder at `path` says of itself."""
    remedy = "train the encoder again"
    return record_of(path / FACTS, DenseMeta, read_sealed(path / FACTS, remedy), OF_META, remedy)


class DenseNetwork(Protocol):
    """A dense encoder that was opened."""

    @property
    def meta(self) -> DenseMeta:
        """What it says of itself."""
        ...

    def reading(self, document_length: int) -> "DenseNetwork":
        """The same, which reads so many subwords of a document."""
        ...

    def embed_parts(self, texts: Sequence[str], are_queries: bool) -> Iterator[tuple[Int64s, Float32s]]:
        """(places in `texts`, [places, width], each of unit length): some texts at a time, the longest first, so that
        what is left takes no longer than what was done."""
        ...


def embed(network: DenseNetwork, texts: Sequence[str], are_queries: bool) -> Float32s:
    """[texts, width], in order, each of unit length."""
    found = np.zeros((len(texts), network.meta.width), np.float32)
    for places, vectors in network.embed_parts(texts, are_queries):
        found[places] = vectors
    return found

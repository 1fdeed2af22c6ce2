"""What a dense encoder says of itself, in its `dense.json`, and what every opened form of one can do."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lexigraft.core.array_types import Float32s
from lexigraft.core.errors import ArtifactError

# A kind of its own: whoever expects a model that writes terms refuses it by name, and the other way round.
DENSE_KIND, DENSE_FORMAT = "dense-encoder", 1
FORM_KIND, FORM_FORMAT = "dense-inference", 1
FACTS = "dense.json"


@dataclass(frozen=True)
class DenseMeta:
    """`width` is that of a vector; the lengths are the subwords read of a text, special ones included."""

    backbone: str
    width: int
    query_length: int
    document_length: int


def read_dense_meta(path: Path) -> DenseMeta:
    """What the encoder at `path` says of itself."""
    try:
        return DenseMeta(**json.loads((path / FACTS).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ArtifactError(f"{path / FACTS} cannot be read ({error}); train the encoder again") from error


class DenseNetwork(Protocol):
    """A dense encoder that was opened."""

    @property
    def meta(self) -> DenseMeta:
        """What it says of itself."""
        ...

    def embed(self, texts: Sequence[str], are_queries: bool) -> Float32s:
        """[texts, width], in order, each of unit length."""
        ...

"""Wackiness scores that were given to a server, for the systems of the same vocabulary."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.explain.wackiness_store import open_wackiness
from lexigraft.serve.term_system import TermSystem


class GivenWackiness:
    """The scores in folders that `lexigraft wackiness` wrote, OUT/NAME/queries."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        found = [open_wackiness(folder) for folder in folders]
        self._by_vocabulary = {one.vocab_fingerprint: one.terms.scores for one in found}

    def scores(self, system: TermSystem) -> NDArray[np.float32] | None:
        """One for each term, not a number where a term has none; None where nobody scored this vocabulary."""
        return self._by_vocabulary.get(system.state.index.vocab_fingerprint)

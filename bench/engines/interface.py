"""What the benchmark asks of an engine: build from a matrix, then answer one query at a time.

The boundary is the same for all: term ids and weights as arrays in, internal document ids and scores as arrays out. A
peer whose own call takes or gives other types (strings, lists of objects) has these made outside the clock, in
`prepared` and `answer`: that favours the peer, and what is timed is its own call alone.
"""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Terms = NDArray[np.int32]
Weights = NDArray[np.int32]
HOW_TO_INSTALL = "run `make bench-engines`, which installs it into a virtual environment of its own"

Answer = tuple[NDArray[np.int64], NDArray[np.int64]]


class Engine(ABC):
    """One engine, or one method of it. `exact`: its answers must be the oracle's; `ours`: it is not a peer;
    `searches`: it is an engine at all, and not the cost of somebody's call; `overhead`: the name of what is."""

    name: str
    exact: bool = True
    ours: bool = False
    searches: bool = True
    overhead: str | None = None

    @property
    def is_peer(self) -> bool:
        """Whether ours are to be compared with it."""
        return self.exact and self.searches and not self.ours

    @abstractmethod
    def build(self, documents: sp.csr_matrix, folder: Path) -> int:
        """Index `documents` (uint8 impacts, int32 term ids), with files only under `folder`; gives the index's bytes.

        Methods of one engine share an index: the second of them finds it in `folder` and only opens it, as does a
        later run over the same folder."""

    def prepared(self, terms: Terms, weights: Weights, k: int) -> Callable[[], Any]:
        """The call that is timed, for one query; `answer` reads what it returns."""
        return partial(self.search, terms, weights, k)

    def prepared_batch(self, queries: Sequence[tuple[Terms, Weights]], k: int) -> Callable[[], Any] | None:
        """The engine's own call for many queries on one thread, or None where it has none."""
        return None

    def answer(self, found: Any) -> Answer:
        """(document ids, scores) of what the timed call returned."""
        ids, scores = found
        return ids, scores

    @abstractmethod
    def search(self, terms: Terms, weights: Weights, k: int) -> Any:
        """The k best documents of one query and their scores."""


class Converted(Engine):
    """An engine whose own types differ: `search` is the whole way, of which only the prepared call is timed."""

    def search(self, terms: Terms, weights: Weights, k: int) -> Answer:
        return self.answer(self.prepared(terms, weights, k)())

    @abstractmethod
    def prepared(self, terms: Terms, weights: Weights, k: int) -> Callable[[], Any]: ...

    @abstractmethod
    def answer(self, found: Any) -> Answer: ...


def made_once(path: Path, make: Callable[[Path], None]) -> Path:
    """`path`, filled by `make` unless an earlier method or run has; a killed build leaves nothing that looks whole."""
    if not path.exists():
        draft = path.with_name(f"{path.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        make(draft)
        draft.rename(path)
    return path


def folder_bytes(folder: Path) -> int:
    """The size of all files under `folder`."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

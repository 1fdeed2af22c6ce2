"""Kernels of searches compiled where an index is made, so that nobody who searches it waits for that.

Compiling takes some ten seconds, once for an installation: whoever builds the first index waits for other kernels
anyway. Later it takes a fraction of a second, in which they are found on the disk.
"""

from pathlib import Path

import numpy as np

from lexigraft.core.compiled import load_kernels
from lexigraft.explain.contributions import explain_rows
from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import is_live
from lexigraft.index.store import open_index
from lexigraft.search.answer import unpack
from lexigraft.search.searcher import Searcher


def compile_search(path: Path) -> None:
    """Search the index at `path`, plain or live, as people do: for few and for many results, among all documents and
    among some, with the reasons for them."""
    load_kernels()
    live = is_live(path)
    index = open_live(path, checksums=False).segments[0].index if live else open_index(path, checksums=False)
    if not index.n_documents or not index.n_terms:
        return
    query, searcher = (np.zeros(1, np.int32), np.ones(1, np.float32)), Searcher(index)
    searcher.search(*query, 1)
    searcher.search_ordinals(*query, 1, np.ones(index.n_documents, np.uint8))
    unpack(np.zeros(0, np.int64), index.ordinal_of_rank, index.meta.scale)
    explain_rows(index, *query, [0])

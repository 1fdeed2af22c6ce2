"""What the vectors of a grafted system keep beside their rows.

neighbours.npy cosines.npy    of each row its nearest others; k of each, one row after the other
graft.json                    the shares, the threshold, and what it was chosen for
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from lexigraft.core.arrays import open_array
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.stored_record import record_of
from lexigraft.grafted.neighbours import Neighbours

FACTS, NEIGHBOURS, COSINES = "graft.json", "neighbours.npy", "cosines.npy"


class GraftFacts(NamedTuple):
    """`lifted`: how much own words are (grafted/rows.py). `cost`: the share of BM25's that was asked for (None: all
    that weighs anything), `threshold`: what a word must weigh for that, `postings` and `bm25_postings`: how many there
    are."""

    borrowed: float
    told: float
    lifted: float
    neighbours: int
    cost: float | None
    threshold: float
    postings: int
    bm25_postings: int


def read_facts(folder: Path) -> GraftFacts:
    """What the vectors at `folder` were made by."""
    return record_of(folder / FACTS, GraftFacts, read_sealed(folder / FACTS))


def read_neighbours(folder: Path) -> Neighbours:
    """The neighbours of all rows, mapped."""
    k = read_facts(folder).neighbours
    found, cosines = open_array(folder / NEIGHBOURS, np.int32), open_array(folder / COSINES, np.float32)
    return Neighbours(found.reshape(-1, k), cosines.reshape(-1, k))

"""Kernels that nearly every file of tests needs, compiled before the first test by workers that divide them.

Else, in a fresh clone, every worker compiles the same ones at the same time: the disk cache has them only afterwards.
"""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexigraft.core.settings import IndexSettings, Settings
from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from lexigraft.index.store import open_index
from lexigraft.search.counters import COUNTERS
from lexigraft.search.searcher import METHODS, Searcher
from lexigraft.stages.standalone import build
from tests.shared import made_once

STORED = Path(__file__).parent / "golden/index_v2"


def compile_search(folder: Path) -> None:
    """Every method as tests call it: of all documents, of those that are allowed, and with counters."""
    index = open_index(STORED)
    allowed, counts = np.ones(index.n_documents, np.uint8), np.zeros(len(COUNTERS), np.int64)
    query = np.array([0, 1], np.int32), np.array([1, 2], np.float32)
    for method in METHODS:
        searcher = Searcher(index, method)
        for options in ({}, {"allowed": allowed}, {"counts": counts}):
            searcher.search_ordinals(*query, 2, **options)
    index.postings(0)
    folder.mkdir()


def compile_building(folder: Path) -> None:
    """From text to indexes of 8 and 16 bits, in the order of the collection and in one of their own."""
    documents = (Document(f"d{n}", "", f"word{n % 3} word{n % 7} other{n}") for n in range(60))
    write_collection(folder / "data", documents)
    for bits, reorder in ((8, True), (16, False)):
        settings = replace(Settings(), index=IndexSettings(bits=bits, reorder=reorder))
        build(str(folder / "data"), folder / f"index{bits}", settings)


PARTS = {"compiled-building": compile_building, "compiled-search": compile_search}


def compile_together(factory: pytest.TempPathFactory) -> None:
    """Each of two workers begins with another part, and waits for what the other one makes."""
    number = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
    for name in sorted(PARTS, reverse=bool(number % 2)):
        made_once(factory, name, PARTS[name])

"""Indexes with odd content, made once, and the exports of them."""

from pathlib import Path

import pytest

from lexigraft.data.readers.topics import read_queries
from lexigraft.export.targets import Wanted, export
from tests.shared import made_once
from tests.unit.export import odd


@pytest.fixture(scope="session")
def odd_indexes(tmp_path_factory) -> Path:
    """Folders `documents` and `passages`: indexes of BM25 with texts and metadata; and `asked.tsv`."""
    return made_once(tmp_path_factory, "odd indexes", odd.make)


@pytest.fixture
def exported(odd_indexes, tmp_path):
    """`exported("opensearch", "documents")` is (folder, what was wanted, what was exported)."""

    def write(target, name="documents", **wanted):
        queries = [query for _, query in read_queries(odd_indexes / "asked.tsv")]
        asked = Wanted(odd_indexes / name, queries=queries, **wanted)
        folder = tmp_path / f"{target}-{name}"
        return folder, asked, export(target, asked, folder)

    return write

"""Indexes with odd content, made once, and the exports of them."""

from pathlib import Path

import pytest

from lexigraft.cli.app import main
from lexigraft.data.readers.topics import read_queries
from lexigraft.export.targets import Wanted, export
from tests.shared import made_once
from tests.unit.export import odd


def call(*arguments) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["lexigraft", *map(str, arguments)])
        with pytest.raises(SystemExit, match="0"):
            main()


def make(folder: Path) -> None:
    data = odd.odd_collection(folder / "data")
    odd.odd_queries(folder)
    for name, cut in (("documents", ()), ("passages", ("--set", "data.passage_words=3"))):
        call("index", "--data", data, *cut, "--texts", "yes", "--out", folder / name)
        call("index", "metadata", "--index", folder / name, "--data", data)


@pytest.fixture(scope="session")
def odd_indexes(tmp_path_factory) -> Path:
    """Folders `documents` and `passages`: indexes of BM25 with texts and metadata; and `asked.tsv`."""
    return made_once(tmp_path_factory, "odd indexes", make)


@pytest.fixture
def exported(odd_indexes, tmp_path):
    """`exported("opensearch", "documents")` is (folder, what was wanted, what was exported)."""

    def write(target, name="documents", **wanted):
        queries = [query for _, query in read_queries(odd_indexes / "asked.tsv")]
        asked = Wanted(odd_indexes / name, queries=queries, **wanted)
        folder = tmp_path / f"{target}-{name}"
        return folder, asked, export(target, asked, folder)

    return write

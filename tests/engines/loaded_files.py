"""Exports that real engines load: small ones with odd content, and the titles of a real collection."""

import importlib.util
import itertools
import os
from pathlib import Path

import pytest

from lexigraft.core.settings import IndexSettings, Settings
from lexigraft.data.collection import open_collection
from lexigraft.data.readers.topics import read_queries
from lexigraft.data.write import write_collection
from lexigraft.export.source import Source
from lexigraft.export.targets import Wanted, export
from lexigraft.stages.standalone import build
from tests.engines.exported_files import queries_of
from tests.engines.right_answers import require_same, right_answers

DATA = os.environ.get("LEXIGRAFT_DATA")
LUCENE = ("opensearch", "elasticsearch")
N_QUERIES, N_TITLES = 500, 20_000  # of 63,900, for the sake of time
needs_data = pytest.mark.skipif(DATA is None, reason="LEXIGRAFT_DATA is not set")


def export_debian(target: str, folder: Path) -> Wanted:
    """BM25 over titles of packages, with 500 queries."""
    collection = open_collection(Path(str(DATA)) / "debian_desc2title")
    write_collection(folder / "data", itertools.islice(collection.documents(), N_TITLES))
    bits = 8 if target in LUCENE else "auto"  # Lucene would round those that BM25 has by default
    build(str(folder / "data"), folder / "index", Settings(index=IndexSettings(bits=bits)))
    judged = {qrel.query_id for qrel in collection.qrels("dev")}
    queries = [query for query in collection.queries() if query.query_id in judged][:N_QUERIES]
    wanted = Wanted(folder / "index", queries=queries)
    export(target, wanted, folder / "out")
    return wanted


def export_odd(target: str, index: Path, folder: Path) -> Wanted:
    queries = [query for _, query in read_queries(index.parent / "asked.tsv")]
    wanted = Wanted(index, queries=queries)
    export(target, wanted, folder / "out")
    return wanted


def require_right(folder: Path, wanted: Wanted, search, passages_of: bool = False) -> int:
    """Ask every exported query by `search(body)`, which gives (id, score) of the best 100."""
    source = Source.open(wanted.path)
    right = right_answers(source, wanted.queries)
    asked = queries_of(folder / "out")
    assert {one["query_id"] for one in asked} == set(right)
    for one in asked:
        require_same(search(one["body"]), right[one["query_id"]])
    return len(asked)


def loaded_program(folder: Path):
    """The exported load.py, as a module."""
    spec = importlib.util.spec_from_file_location("load_exported", folder / "out" / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

"""Small indexes with what engines trip over: odd ids and terms, metadata of all kinds, rows without terms."""

import json
from pathlib import Path

import numpy as np
import pytest

from lexigraft.cli.app import main
from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.settings import IndexSettings
from lexigraft.core.types import Document, SparseMatrix, Vocabulary
from lexigraft.data.write import write_collection
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.vectors.store import DocumentVectors

TERMS = [
    "plain", "c++", "a.b", ".", "x y", "it's", 'say "x"', "back\\slash", "é😀", "100%", "%2E", "tab\there", " lead",
    "漢字", "A", "a", "", "{x}", "%", "trail ",
]  # fmt: skip
TITLES = {"plain": "A title", "a b": 'quoted "title"', "x/y": "back\\slash\tand\nlines", "é😀": "", "it's": "'; --",
          "id::id": "\\.", "#": "\\N"}  # fmt: skip
ODD_KEY = 'an "odd" [key]'
KINDS = {"year": "number", "day": "date", "venue": "text", "tags": "list", ODD_KEY: "text"}


def odd_collection(folder: Path) -> Path:
    """One document has no word that is kept."""
    texts = ["remove duplicate items of a list", "sort a list of items", "c++ templates and a.b paths", "...",
             "a list, a list, a list of words\twith tabs", "dates and \\times", "items"]  # fmt: skip
    documents = [Document(name, title, text) for (name, title), text in zip(TITLES.items(), texts, strict=True)]
    documents = [one._replace(title="!") if one.doc_id == "é😀" else one for one in documents]
    write_collection(folder, documents)
    lines = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    for number, line in enumerate(lines):
        if number != 2:
            line["metadata"] = {
                "year": 2000 + number / 2, "day": f"2020-01-0{number + 1}", "venue": f'a\t"{number}"\\',
                "tags": ["one", f"t.{number}", "é"], ODD_KEY: "x",
            }  # fmt: skip
    (folder / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def odd_queries(folder: Path) -> Path:
    """The last one has no term."""
    path = folder / "asked.tsv"
    path.write_text("q1\tremove items of a list\nq2\tsort dates\nq3\ttemplates\nq4\tnowhere\n")
    return path


def index_of_rows(folder: Path, rows, terms=TERMS, ids=None, bits=8, passages=False) -> Path:
    """An index of rows given as {term id: impact}; the largest weight of 8 bits is 255, and impacts are the weights."""
    ids = ids or [f"d{number}" for number in range(len(rows))]
    vocabulary = Vocabulary(terms)
    matrix = SparseMatrix(
        ids, np.cumsum([0, *map(len, rows)], dtype=np.int64),
        np.array([term for row in rows for term in sorted(row)], np.int32),
        np.array([row[term] for row in rows for term in sorted(row)], np.float32), len(terms), vocabulary.fingerprint,
    )  # fmt: skip
    vectors = DocumentVectors(matrix, [f"of {one}" for one in ids], vocabulary, {"kind": "none"}, "", passages)
    with write_artifact(folder, Manifest(index_store.KIND, index_store.FORMAT_VERSION, {})) as draft:
        build_index(vectors, draft, settings=IndexSettings(bits=bits), scale=1.0)
    return folder


def call(*arguments) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["lexigraft", *map(str, arguments)])
        with pytest.raises(SystemExit, match="0"):
            main()


def make(folder: Path) -> None:
    """`documents` and `passages`: indexes of BM25 with texts and metadata; and `asked.tsv`."""
    data = odd_collection(folder / "data")
    odd_queries(folder)
    for name, cut in (("documents", ()), ("passages", ("--set", "data.passage_words=3"))):
        call("index", "--data", data, *cut, "--set", "index.bits=8", "--texts", "yes", "--out", folder / name)

"""A small world with a file of every kind: collections, runs with all sorts of systems, indexes plain and live,
models, wackiness, TREC runs. It is made once by the commands themselves, in some half a minute, and then only copied.

    data/ later/      collections: the run's, and documents that are added to live indexes
    backbone/         a tiny BERT of random weights
    run/ run-table/   bm25, a learned model, a dense encoder, a hybrid of both, metadata, texts; one with a query table
    plain/            an index of text with metadata
    live/ live-model/ live indexes with several segments, metadata and deleted documents, of BM25 and of the model's
                      vectors
    more.tsv          metadata that are given later
    wack/             wackiness of the run
    runs/             TREC runs
"""

import contextlib
import io
import json
import sys
from pathlib import Path

import numpy as np

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from tests.families import STEMS, TINY_TRAINING, write_backbone

CONFIG = f"""
[run]
systems = ["bm25", "esplade", "dense", "hybrid"]
{TINY_TRAINING}checkpoint_every = 2
[dense]
steps = 4
validate_every = 2
[index]
texts = "yes"
[evaluate]
timing_runs = 1
[prune]
budgets = [[0, 0]]
budget = 50
"""
N_DOCUMENTS = 48


def documents_from(first: int, last: int) -> list[Document]:
    rng = np.random.default_rng(first)
    found = []
    for number in range(first, last):
        words = [STEMS[number % len(STEMS)] + ending for ending in rng.permutation(list("aeiou"))]
        found.append(Document(f"d{number}", f"Title {number}", " ".join(words[: 2 + number % 3]) + f" n{number % 7}"))
    return found


def call(*arguments: object) -> None:
    """A command, which must succeed; the program is called as by its user."""
    from lexigraft.cli.app import main

    before, sys.argv = sys.argv, ["lexigraft", *map(str, arguments)]
    said, status = io.StringIO(), 0
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            main()
    except SystemExit as ended:
        status = int(ended.code or 0)
    finally:
        sys.argv = before
    assert status == 0, f"lexigraft {' '.join(map(str, arguments))} ended with {status}: {said.getvalue()}"


def make_world(root: Path) -> None:
    """Everything, below `root`, which must be the working folder: paths in commands are relative, so that copies of
    the world answer with the same bytes."""
    _write_inputs(root)
    config, backbone = root / "world.toml", root / "backbone"
    write_backbone("bert", backbone, loud=5.0)
    config.write_text(CONFIG.format(backbone=backbone.relative_to(root)))
    (root / "recipe.toml").write_text('[recipe]\ntitle = "A tiny one"\n[lexical]\nk1 = 1.1\n')
    with contextlib.chdir(root):
        call("run", "--data", "data", "--out", "run", "--config", config.name)
        table = ("--set", "model.queries=table", "--set", 'run.systems=["bm25", "esplade"]')
        call("run", "--data", "data", "--out", "run-table", "--config", config.name, *table)
        call("index", "--data", "data", "--out", "plain", "--metadata", "--texts", "yes")
        call("index", "add", "live", "--data", "data", "--texts", "yes")
        call("index", "add", "live", "--data", "later", "--texts", "yes")
        call("index", "delete", "live", "d3", "d50")
        call("encode", "--data", "data", "--model", "run/model/finetuned", "--out", "vectors")
        call("index", "--vectors", "vectors", "--out", "of-vectors", "--set", "index.bits=8")
        call("index", "live", "of-vectors", "--out", "live-model")
        call("index", "add", "live-model", "--data", "later")
        call("index", "delete", "live-model", "d5", "d51")
        call("index", "metadata", "--index", "live-model", "--data", "data")
        call("wackiness", "--run", "run", "--system", "esplade", "--out", "wack", "--k", "5")
        Path("runs").mkdir()
        for system in ("bm25", "esplade"):
            call(
                "search",
                "--run",
                "run",
                "--system",
                system,
                "--queries",
                "queries.jsonl",
                "--out",
                f"runs/{system}.trec",
            )


def _write_inputs(root: Path) -> None:
    documents = documents_from(0, N_DOCUMENTS)
    queries, qrels = [], {"train": [], "test": []}  # type: ignore[var-annotated]
    for number, document in enumerate(documents):
        queries.append(Query(f"q{number}", " ".join(document.text.split()[:2])))
        qrels["test" if number >= 40 else "train"].append(Qrel(f"q{number}", document.doc_id, 1))
    write_collection(root / "data", documents, queries, qrels)
    corpus = root / "data/corpus.jsonl"
    lines = corpus.read_text().splitlines()
    metadata = [{"year": 2000 + n % 9, "tags": [f"a{n % 3}", "b"], "sort": f"s{n % 4}"} for n in range(len(lines))]
    kinds = [f', "metadata": {json.dumps(one)}}}' for one in metadata]
    corpus.write_text("".join(f"{line[:-1]}{more}\n" for line, more in zip(lines, kinds, strict=True)))
    write_collection(root / "later", documents_from(N_DOCUMENTS, N_DOCUMENTS + 8))
    write_collection(root / "third", documents_from(60, 64))
    (root / "more.tsv").write_text("_id\tmore\nd1\tx\nd2\t2\nd50\ty\n")
    asked = [{"_id": query.query_id, "text": query.text} for query in queries[40:]]
    (root / "queries.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in asked))

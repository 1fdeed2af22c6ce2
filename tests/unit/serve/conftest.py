"""A run with BM25, texts and metadata, and a server over it in this process."""

import json

import pytest

from lexigraft.cli.app import main
from tests.conftest import DOCUMENTS, QRELS, QUERIES, write_collection
from tests.serving import InProcess

MARKUP = '<img src=x onerror="alert(1)"> & <b>bold</b>'


def write_run(root, name="run"):
    """Documents with metadata, one of them full of markup."""
    folder = root / "data"
    write_collection(folder, DOCUMENTS, QUERIES, QRELS)
    lines = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    lines[1]["title"] += f" {MARKUP}"
    for number, line in enumerate(lines):
        line["metadata"] = {"year": 2000 + number % 3, "lang": "en" if number % 2 else MARKUP, "open": number > 2,
                            "tags": ["a", f"t{number}"], "day": f"2020-01-0{number + 1}"}  # fmt: skip
    (folder / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.MonkeyPatch.context() as patch:
        options = ["--data", str(folder), "--out", str(root / name), "--texts", "yes"]
        patch.setattr("sys.argv", ["lexigraft", "run", *options, "--set", 'run.systems=["bm25"]'])
        with pytest.raises(SystemExit, match="0"):
            main()
    return root / name


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def server(run):
    return InProcess([run])

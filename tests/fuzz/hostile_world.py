"""The folder in which hostile commands work: a small collection, an index, a live one, a run of BM25, TREC files, and
files that nobody should read without a look. A case gets a copy of it."""

import contextlib
import gzip
import json
import os
from pathlib import Path

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from tests.fuzz.world import call

HOLES = tuple(f"hole.{ending}" for ending in "md json jsonl csv tsv txt toml trec".split())  # files of a terabyte
WORDS = "tea milk sugar water cup pot leaf green black warm cold sweet".split()


def make_world(root: Path) -> None:
    """Everything below `root`, which is made."""
    root.mkdir(parents=True)
    documents = [
        Document(f"d{n}", f"Title {n}", f"{WORDS[n % 12]} {WORDS[n * 5 % 12]} {WORDS[n * 7 % 12]} n{n}")
        for n in range(40)
    ]
    queries = [Query(f"q{n}", documents[n].text) for n in range(20)]
    judged = {"train": [Qrel(f"q{n}", f"d{n}", 1) for n in range(12)]}
    write_collection(
        root / "data", documents, queries, {**judged, "test": [Qrel(f"q{n}", f"d{n}", 1) for n in range(12, 20)]}
    )
    corpus = root / "data/corpus.jsonl"
    lines = [json.loads(line) for line in corpus.read_text().splitlines()]
    texts = (json.dumps({**line, "metadata": {"year": 2000 + n, "lang": "de"}}) for n, line in enumerate(lines))
    corpus.write_text("".join(f"{text}\n" for text in texts))
    (root / "queries.jsonl").write_bytes((root / "data/queries.jsonl").read_bytes())
    (root / "qrels.tsv").write_bytes((root / "data/qrels/test.tsv").read_bytes())
    with contextlib.chdir(root):
        call("index", "--data", "data", "--out", "plain", "--metadata", "--texts", "yes")
        call("index", "add", "live", "--data", "data", "--texts", "yes")
        call("run", "--data", "data", "--out", "run", "--set", "run.systems=bm25", "--set", "evaluate.timing_runs=1")
        call("vocab", "unigrams", "--data", "data", "--out", "vocab")
        for name in ("a.trec", "b.trec"):
            call("search", "--index", "plain", "--queries", "queries.jsonl", "--out", name)
    _hostile_files(root)


def _hostile_files(root: Path) -> None:
    """Lines that no reader was made for. What cannot be copied is made in every copy anew (`special_files`)."""
    evil = '{"_id": "\\u001b[31m", "text": "a\\ud800b", "year": 1e400}\n{"_id": "x\\u202ey", "text": "\\u0000"}\n'
    files = {
        "hostile.jsonl": evil + '{"_id": ' + "9" * 5000 + ', "text": "a"}\n',
        "twice.jsonl": '{"_id": "1", "text": "a", "text": "b"}\n',
        "nul.jsonl": '{"_id": "a\\u0000b", "text": "a"}\n',
        "hostile.csv": 'id,id,text\n1,2,"a\n' + '"' * 999 + "\n",
        "hostile.tsv": "_id\t\x1b[31m\ttext\n1\t\x01\t" + "9" * 500 + "\n",
        "hostile.trec": "q0 Q0 \x1b[31m 1 1e400 t\nq0 Q0 d1 " + "9" * 5000 + " nan t\n",
        "hostile.qrels": "q0 0 d0 3000000000\nq0 0 \x1b[2J " + "9" * 30 + "\n",
        "hostile.toml": "[lexical]\nk1 = " + "9" * 400 + "\n[" + "a." * 3000 + "b]\n",
        "hostile.json": '{"lexical": {"k1": ' + "9" * 5000 + "}}",
        "deep.json": "[" * 100_000,
        "tails.html": "".join(piece * 20_000 for piece in ("<svg></b>", "&", "<!-->", "<p>", "</a ", '<a b="')),
        "tail.html": "<!--" * 50_000,
        "hashes.md": "---\na: " + "[" * 400 + "\n---\n# " + " #" * 50_000 + "x" + " #" * 50_000 + "y\n",
        "list.md": "---\ntags:\n" + "- a\n" * 400_000 + "---\ntea\n",
        "wide.jsonl": json.dumps({"_id": "1", "text": "a", **{f"k{n}": n for n in range(100_000)}}) + "\n",
        "own.jsonl": "".join(f'{{"_id": "{n}", "text": "a", "metadata": {{"k{n}": 1}}}}\n' for n in range(5000)),
        "wide.csv": ",".join(f"c{n}" for n in range(100_000)) + '\n"' + '\n","' * 5000,
        "topics.txt": "<top>" * 50_000,
    }
    for name, text in files.items():
        (root / name).write_text(text)
    (root / "utf16.csv").write_bytes("id,text\n1,tea\n".encode("utf-16"))
    (root / "bomb.json.gz").write_bytes(gzip.compress(b'[{"id": "1", "text": "' + bytes(100 << 20), 1))
    (root / "bytes.bin").write_bytes(bytes(range(256)) * 40)
    (root / "cut.jsonl.gz").write_bytes(gzip.compress(b'{"_id": "1", "text": "tea"}\n' * 99)[:-9])


def special_files(root: Path) -> None:
    """What cannot be copied."""
    (root / "empty").mkdir()
    (root / "empty.jsonl").touch()
    os.mkfifo(root / "fifo")
    for name in HOLES:
        (root / name).touch()
        os.truncate(root / name, 1 << 40)
    (root / "pages").mkdir()
    os.mkfifo(root / "pages/fifo.md")
    (root / "pages/zero.md").symlink_to("/dev/zero")
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to("nowhere")
    (root / "\x1b[2J.jsonl").write_text('{"_id": "1", "text": "tea"}\n')

"""What the page is tested with: a tiny run of BM25 and an untrained model, whose documents hold markup and metadata."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from tests.families import STEMS, TINY_TRAINING, write_backbone

N_DOCUMENTS, N_TRAIN = 60, 50
MARKUP = "<img src=x onerror=\"document.title='obeyed'\"><b>kura</b> & <script>document.title='obeyed'</script>"
CONFIG = f"""
{TINY_TRAINING}[evaluate]
timing_runs = 1
[prune]
budgets = [[0, 0], [2, 3], [4, 4]]
budget = 50
[systems.learned]
finetune.steps = 3
"""


def write_documents(folder: Path) -> None:
    """Sixty documents; the first has a title of markup, and all have a year, a kind, a date and key words."""
    rng = np.random.default_rng(0)
    documents, queries, qrels = [], [], {"train": [], "test": []}
    for number in range(N_DOCUMENTS):
        words = [STEMS[number % len(STEMS)] + ending for ending in rng.permutation(list("aeiou"))]
        title = MARKUP if number == 0 else f"Number {number}"
        documents.append(
            Document(f"d{number}", title, " ".join(words[: 2 + number % 3]) + f" n{number % 7} 😀 {words[0]}")
        )
        queries.append(Query(f"q{number}", " ".join(words[1:3])))
        qrels["test" if number >= N_TRAIN else "train"].append(Qrel(f"q{number}", f"d{number}", 1))
    write_collection(folder, documents, queries, qrels)
    corpus = folder / "corpus.jsonl"
    lines = [json.loads(line) for line in corpus.read_text().splitlines()]
    for number, line in enumerate(lines):
        line["metadata"] = {
            "year": 2000 + number % 10,
            "kind": "<i>odd</i>" if number % 2 else "even",
            "published": f"2024-0{1 + number % 9}-10",
            "key words": ["plain", 'a "quoted" one'] if number % 3 else ["plain"],
        }
    corpus.write_text("".join(json.dumps(line) + "\n" for line in lines))


def make_run(folder: Path) -> None:
    """`folder`/run, trained from `folder`/data."""
    write_documents(folder / "data")
    (folder / "settings.toml").write_text(CONFIG.format(backbone=write_backbone("bert", folder / "backbone", loud=5.0)))
    arguments = ("--data", folder / "data", "--out", folder / "run", "--config", folder / "settings.toml", "--json")
    answer = lexigraft("run", *arguments)
    assert answer.returncode == 0, answer.stderr


def lexigraft(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lexigraft", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

"""Encoders from nothing but a collection, one for each of several vocabularies, for the corpus vocabulary study.

    python -m bench.corpus_backbones --data DIR --bert TOKENIZER_DIR --out runs/backbones [--jobs 3]
        [--only bert 30k large] [--layers 6 --width 384 --heads 6 --steps 2000 --batch 256 --length 128]
        [--learning-rate 5e-4] [--seed 0]

For the collection at DIR it leaves OUT/NAME-bert (the tokenizer given), NAME-30k and NAME-large (as many pieces as
occur twice), each an encoder of the same size trained as a masked language model on the collection's documents and
training queries (OUT/NAME.txt), and writes what each came to beside it, as JSON. Done ones are kept.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

from lexigraft.data.sources import open_source
from lexigraft.learn.training_data import training_queries

PIECES = {"30k": 30_000, "large": 300_000}
SIZES = {"seed": 0, "layers": 6, "width": 384, "heads": 6, "steps": 2000, "batch": 256, "length": 128}


def lexigraft(*arguments: object, threads: int = 1) -> dict[str, Any]:
    """A command's JSON; raises with what it said where it fails."""
    command = [sys.executable, "-m", "lexigraft", *map(str, arguments), "--json"]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def make(name: str, options: argparse.Namespace) -> None:
    """The encoder for one vocabulary: its tokenizer, drawn, trained."""
    start, out = time.monotonic(), options.out / f"{options.data.name}-{name}"
    if out.with_name(f"{out.name}.json").is_file():
        return
    tokenizer = options.bert if name == "bert" else out.with_name(f"{out.name}.pieces")
    facts: dict[str, Any] = {"name": out.name}
    if name != "bert" and not tokenizer.is_dir():
        facts |= lexigraft("vocab", "wordpiece", "--data", options.data, "--size", PIECES[name], "--out", tokenizer)
    size = ("--layers", options.layers, "--width", options.width, "--heads", options.heads)
    fresh = out.with_name(f"{out.name}.fresh")
    if not fresh.is_dir():
        lexigraft("model", "fresh", "--tokenizer", tokenizer, *size, "--seed", options.seed, "--out", fresh)
    facts |= train(fresh, texts_of(options), out, options.steps, options)
    facts["seconds"] = round(time.monotonic() - start, 1)
    print(json.dumps(facts), flush=True)
    out.with_name(f"{out.name}.json").write_text(json.dumps(facts, indent=1) + "\n")


def texts_of(options: argparse.Namespace) -> Path:
    return Path(options.out / f"{options.data.name}.txt")


def write_texts(options: argparse.Namespace) -> None:
    """What a run's own masked language modelling would read, a text a line."""
    collection = open_source(str(options.data))
    aside = texts_of(options).with_suffix(f".{os.getpid()}")
    with aside.open("w", encoding="utf-8") as file:
        for text in chain((document.contents for document in collection.documents()), training_queries(collection)):
            print(" ".join(text.split()), file=file)
    aside.replace(texts_of(options))  # whole or not at all: another process may want it


def train(backbone: Path, texts: object, out: Path, steps: int, options: argparse.Namespace) -> dict[str, Any]:
    how = ("--steps", steps, "--batch", options.batch, "--length", options.length, "--warmup", max(1, steps // 20))
    rate = ("--learning-rate", options.learning_rate, "--checkpoint-every", 100_000, "--seed", options.seed)
    raw = ("--set", "model.head=plain")  # texts as plain and uniCOIL heads will read them
    return lexigraft("model", "mlm", "--backbone", backbone, "--texts", texts, "--out", out, *how, *rate, *raw)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--bert", type=Path, required=True, help="a tokenizer's folder")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=["bert", *PIECES], help="of bert, 30k, large")
    parser.add_argument("--jobs", type=int, default=1)
    for name, value in SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if not texts_of(options).is_file():
        write_texts(options)
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda name: make(name, options), options.only))


if __name__ == "__main__":
    main()

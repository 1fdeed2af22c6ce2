"""What sampled softmax costs in quality: one encoder trained with the full softmax and by samples of several sizes and
asked, by the full softmax, for masked subwords of texts that never trained.

python -m bench.mlm_sampling --data DIR [--pieces 30000] [--width 64] [--steps 500] [--sampled 0 2048 512]
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lexigraft.core.settings import BackboneSettings, MlmSettings
from lexigraft.data.sources import open_source
from lexigraft.model.masked_lm import load_masked_lm
from lexigraft.model.scratch import make_backbone
from lexigraft.train.language.masked_batches import masked_batch, name_masked
from lexigraft.train.language.masking import mask_subwords
from lexigraft.train.language.mlm import choose_texts, train_mlm
from lexigraft.vocab.aligned import take

HELD_OUT = 1000
LENGTH = 32


def measure(texts: list[str], work: Path, given: argparse.Namespace, sampled: int) -> dict[str, Any]:
    model = load_masked_lm(str(work / "backbone"), 0, 0)
    read = model.reader(raw=False, name="fresh").read(texts, LENGTH)
    ordinary, special = np.array(model.tokenizer.ordinary_ids, np.int32), model.tokenizer.special
    apart = np.sort(np.random.default_rng(0).permutation(len(texts))[:HELD_OUT])
    corpus = choose_texts(read, ordinary)
    corpus = corpus._replace(rows=np.setdiff1d(corpus.rows, apart))
    settings = MlmSettings(
        steps=given.steps, learning_rate=2e-3, warmup=50, length=LENGTH, sampled=sampled,
        checkpoint_every=given.steps,
    )  # fmt: skip
    start = time.process_time()
    history = train_mlm(model, corpus, given.steps, settings, work / f"checkpoint-{sampled}", {}, 0).history
    seconds = time.process_time() - start
    some = take(read, apart)
    masked = mask_subwords(some, special.mask, ordinary, np.random.default_rng(5))
    with torch.no_grad():
        named = name_masked(model, masked_batch(some, masked, special.pad), model.weight, model.bias)
    last = history[-max(1, len(history) // 10) :]
    return {
        "sampled": sampled,
        "pieces": len(model.weight),
        "cpu_seconds": round(seconds, 1),
        "held_out_loss": round(named.loss.item(), 4),
        "held_out_accuracy": round(named.accuracy.item(), 4),
        "training": {key: round(float(np.mean([values[key] for values in last])), 4) for key in last[0]},
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    for name, default in (("pieces", 30_000), ("width", 64), ("steps", 500)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--sampled", type=int, nargs="+", default=[0, 2048, 512])
    given = parser.parse_args()
    texts = [document.contents for document in open_source(given.data).documents()]
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "backbone").mkdir()
        make_backbone(texts, 1, 0, work / "backbone", BackboneSettings(pieces=given.pieces, width=given.width, heads=2))
        found = [measure(texts, work, given, sampled) for sampled in given.sampled]
    print(json.dumps({"texts": len(texts), "steps": given.steps, "width": given.width, "found": found}, indent=1))


if __name__ == "__main__":
    main()

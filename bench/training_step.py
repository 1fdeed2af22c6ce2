"""Where the time of a fine-tuning step goes: the product's own loop on made-up texts, on a GPU where there is one.

    python -m bench.training_step [--batch 512] [--terms 100000] [--steps 60] [--length 40] [--naive] [--kernels]
        [--out FILE.json]

The encoder has the size of MiniLM (6 layers, width 384, 30,522 subwords), drawn at random. `--naive` also times the
same loop with the head as the formula is written, all its logits at once, as libraries of this field have it.
`--kernels` prints what the device did, the longest first. Documents begin with as many terms as in `lexigraft run`.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lexigraft.core.settings import FinetuneSettings, ModelSettings
from lexigraft.core.types import Vocabulary
from lexigraft.inference.reading import ReadTexts
from lexigraft.model import encoder as encoder_module
from lexigraft.model.backbone import Backbone, Body, default_device, transformers_library
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.head import SparseHead
from lexigraft.model.pool import max_over_tokens_naive
from lexigraft.train.quieten import quieten
from lexigraft.train.ranking.finetune import finetune
from lexigraft.train.ranking.pairs import TrainingPairs
from lexigraft.vocab.aligned import NOT_POOLED, AlignedTexts
from lexigraft.vocab.bags import WeightedBags
from lexigraft.vocab.subwords import SpecialTokens, SubwordTokenizer

SUBWORDS, WIDTH, LAYERS, HEADS = 30_522, 384, 6, 12
MODEL = ("forward", "losses", "backward", "optimiser")


def made_up_texts(n: int, longest: int, n_terms: int, rng: np.random.Generator) -> ReadTexts:
    lengths = rng.integers(longest // 2, longest + 1, n)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    subwords = rng.integers(1000, SUBWORDS, indptr[-1], dtype=np.int32)
    terms = rng.integers(0, n_terms, indptr[-1], dtype=np.int32)
    terms[indptr[:-1]] = terms[indptr[1:] - 1] = NOT_POOLED
    bag = np.arange(0, 10 * n + 1, 10, dtype=np.int64)
    own = np.sort(rng.integers(0, n_terms // 10, (n, 10)) + np.arange(10) * (n_terms // 10), axis=1).astype(np.int32)
    aligned = AlignedTexts(indptr, subwords, terms, np.zeros(len(terms), np.int32))
    return ReadTexts(aligned, WeightedBags(bag, own.ravel(), np.ones(10 * n, np.float32)))


def made_up_encoder(n_terms: int) -> SparseEncoder:
    hf = transformers_library()
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=SUBWORDS, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=4 * WIDTH,
    )  # fmt: skip
    body = Body(hf.BertModel(config, add_pooling_layer=False), False)
    special = SpecialTokens(begin=101, end=102, pad=0, mask=103, unknown=100)
    tokenizer = SubwordTokenizer(None, special, needs_space=False)  # type: ignore[arg-type]
    backbone = Backbone("made up", body, tokenizer, None, torch.zeros(SUBWORDS, WIDTH), torch.zeros(SUBWORDS))
    head = SparseHead(torch.randn(n_terms, WIDTH) * 0.02, torch.zeros(n_terms), torch.ones(n_terms))
    return SparseEncoder(backbone, head, Vocabulary([f"t{i}" for i in range(n_terms)]), "random")


def measure(options: argparse.Namespace, naive: bool) -> dict[str, Any]:
    device, rng = default_device(), np.random.default_rng(0)
    n = 8 * options.batch
    pairs = TrainingPairs(
        made_up_texts(n, 20, options.terms, rng), made_up_texts(n, options.length, options.terms, rng),
        np.arange(n), np.arange(n),
    )  # fmt: skip
    if naive:
        encoder_module.max_over_tokens = max_over_tokens_naive
    encoder = made_up_encoder(options.terms).to(device)
    quieten(encoder, pairs.documents, ModelSettings().first_terms)
    settings = {"batch": options.batch, "validate_every": 0, "checkpoint_every": 10**9, "frozen_layers": 0}
    with tempfile.TemporaryDirectory() as folder:
        warm = FinetuneSettings(steps=5, **settings)
        finetune(encoder, pairs, warm, Path(folder) / "warm", {}, 0)
        if device.type == "cuda":
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
        start = time.perf_counter()
        done = finetune(encoder, pairs, FinetuneSettings(steps=options.steps, **settings), Path(folder) / "c", {}, 0)
        if device.type == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        if options.kernels and not naive:
            with torch.profiler.profile() as seen:
                finetune(encoder, pairs, FinetuneSettings(steps=20, **settings), Path(folder) / "seen", {}, 0)
            by = "self_device_time_total" if device.type == "cuda" else "self_cpu_time_total"
            print(seen.key_averages().table(sort_by=by, row_limit=40, max_name_column_width=60), file=sys.stderr)
    total = sum(done.seconds.values())
    outside = total - sum(done.seconds.get(name, 0) for name in MODEL)
    return {
        "head": "all logits" if naive else "tiled",
        "ms_a_step": round(1000 * seconds / options.steps, 2),
        "ms_by_phase": {name: round(1000 * value / options.steps, 2) for name, value in sorted(done.seconds.items())},
        "share_outside_model": round(outside / total, 4),
        "share_outside_model_and_losses": round((outside + done.seconds["losses"]) / total, 4),
        "peak_gpu_mib": round(torch.cuda.max_memory_allocated() / 2**20) if device.type == "cuda" else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("batch", 512), ("terms", 100_000), ("steps", 60), ("length", 40)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--naive", action="store_true")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    device = default_device()
    name = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
    found = {
        "device": name, "torch": torch.__version__, "batch": options.batch, "terms": options.terms,
        "query_length": 20, "document_length": options.length, "steps": options.steps,
        "runs": [measure(options, naive) for naive in ([False, True] if options.naive else [False])],
    }  # fmt: skip
    json.dump(found, sys.stdout, indent=2)
    print()
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()

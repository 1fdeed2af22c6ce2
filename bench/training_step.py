"""Where the time of a fine-tuning step goes: the product's own loop on made-up texts, on a GPU where there is one.

    python -m bench.training_step [--batch 512] [--terms 100000] [--steps 60] [--length 40] [--runs 1] [--tiled]
        [--naive] [--peer] [--kernels] [--out FILE.json]

The encoder has the size of MiniLM (6 layers, width 384, 30,522 subwords), drawn at random. Beside the head as it is,
`--tiled` times the same loop with torch's own products in tiles (LEXIGRAFT_HEAD=torch), `--naive` with the head as the
formula is written, all its logits at once, and `--peer` a step of sentence-transformers on the same weights and texts
of the same lengths, by SpladeLoss and CachedSpladeLoss. `--kernels` prints what the device did, the longest first.
Documents begin with as many terms as in `lexigraft run`. Of several `--runs`, in turns, the medians count.
"""

import argparse
import gc
import json
import os
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
from lexigraft.model.inputs import inputs_of
from lexigraft.model.pool import max_over_tokens, max_over_tokens_naive
from lexigraft.train.quieten import quieten
from lexigraft.train.ranking.finetune import finetune
from lexigraft.train.ranking.pairs import TrainingPairs
from lexigraft.vocab.aligned import NOT_POOLED, AlignedTexts
from lexigraft.vocab.bags import WeightedBags
from lexigraft.vocab.subwords import SpecialTokens, SubwordTokenizer

SUBWORDS, WIDTH, LAYERS, HEADS = 30_522, 384, 6, 12
MODEL = ("forward", "losses", "backward", "optimiser")
WAYS = ("as it is", "tiled", "all logits")
PEERS = ("sentence-transformers, SpladeLoss", "sentence-transformers, CachedSpladeLoss")
MINI_BATCH = 128  # of CachedSpladeLoss


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


def measure(options: argparse.Namespace, head: str) -> dict[str, Any]:
    device, rng = default_device(), np.random.default_rng(0)
    if head in PEERS:
        return measure_peer(options, head, device, rng)
    os.environ["LEXIGRAFT_HEAD"] = "torch" if head == "tiled" else "auto"
    encoder_module.max_over_tokens = max_over_tokens_naive if head == "all logits" else max_over_tokens
    n = 8 * options.batch
    pairs = TrainingPairs(
        made_up_texts(n, 20, options.terms, rng), made_up_texts(n, options.length, options.terms, rng),
        np.arange(n), np.arange(n),
    )  # fmt: skip
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
        if options.kernels and head == WAYS[0]:
            with torch.profiler.profile() as seen:
                finetune(encoder, pairs, FinetuneSettings(steps=20, **settings), Path(folder) / "seen", {}, 0)
            by = "self_device_time_total" if device.type == "cuda" else "self_cpu_time_total"
            print(seen.key_averages().table(sort_by=by, row_limit=40, max_name_column_width=60), file=sys.stderr)
    total = sum(done.seconds.values())
    outside = total - sum(done.seconds.get(name, 0) for name in MODEL)
    return {
        "head": head,
        "ms_a_step": round(1000 * seconds / options.steps, 2),
        "pairs_a_second": round(options.batch * options.steps / seconds),
        "ms_by_phase": {name: round(1000 * value / options.steps, 2) for name, value in sorted(done.seconds.items())},
        "share_outside_model": round(outside / total, 4),
        "share_outside_model_and_losses": round((outside + done.seconds["losses"]) / total, 4),
        "peak_gpu_mib": round(torch.cuda.max_memory_allocated() / 2**20) if device.type == "cuda" else None,
    }


def measure_peer(
    options: argparse.Namespace, loss: str, device: torch.device, rng: np.random.Generator
) -> dict[str, Any]:
    """A step of theirs at the rectangles that a batch of ours has."""
    from bench.splade_peer import peer_step

    torch.backends.cuda.enable_cudnn_sdp(True)  # as it is where nobody asked for our device
    encoder, n = made_up_encoder(options.terms).to(device), options.batch
    sides = []
    for longest in (20, options.length):
        texts = made_up_texts(n, longest, options.terms, rng)
        if longest == options.length:
            quieten(encoder, texts, ModelSettings().first_terms)
        read = inputs_of(texts, np.arange(n), 0, device)
        sides.append((read.subwords.long(), read.mask.long()))
    step = peer_step(encoder, *sides, mini_batch=MINI_BATCH if loss == PEERS[1] else 0)
    for _ in range(3):
        step()
    if device.type == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    start, steps = time.perf_counter(), max(3, options.steps // 8)
    for _ in range(steps):
        step()
    if device.type == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    return {
        "head": loss,
        "ms_a_step": round(1000 * seconds / steps, 2),
        "pairs_a_second": round(n * steps / seconds),
        "peak_gpu_mib": round(torch.cuda.max_memory_allocated() / 2**20) if device.type == "cuda" else None,
    }


def medians(options: argparse.Namespace, heads: list[str]) -> list[dict[str, Any]]:
    """The run with the median time of each head; the heads in turns."""
    found: dict[str, list[dict[str, Any]]] = {head: [] for head in heads}
    for _ in range(options.runs):
        for head in heads:
            found[head].append(measure(options, head))
            gc.collect()
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
    chosen = []
    for runs in found.values():
        in_order = sorted(runs, key=lambda run: run["ms_a_step"])
        middle = in_order[len(in_order) // 2]
        chosen.append(middle | {"ms_a_step_of_all": [run["ms_a_step"] for run in runs]})
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("batch", 512), ("terms", 100_000), ("steps", 60), ("length", 40), ("runs", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    for name in ("tiled", "naive", "peer", "kernels"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    device = default_device()
    name = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
    asked = (True, options.tiled, options.naive)
    heads = [head for head, wanted in zip(WAYS, asked, strict=True) if wanted] + list(PEERS if options.peer else ())
    found = {
        "device": name, "torch": torch.__version__, "batch": options.batch, "terms": options.terms,
        "query_length": 20, "document_length": options.length, "steps": options.steps,
        "runs": medians(options, heads),
    }  # fmt: skip
    json.dump(found, sys.stdout, indent=2)
    print()
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""One step of masked language modelling over a large vocabulary, by three ways to its loss; each in a child process.

all logits: those of every position, masked or not, as models of the usual kind compute them
blocks: of masked positions alone, some at a time (`linear_cross_entropy`)
sampled: of masked positions, over a drawn part of the vocabulary (`sampled_cross_entropy`)

A step is that of training: a fresh BERT with a tied head, loss, gradients, AdamW. Seconds are of processor time: others
on the machine count little. Memory is the peak of the whole process. Where all logits need more than --most-gib, they
are not run; their bytes are computed.

python -m bench.mlm_softmax [--classes 300000] [--widths 256 768] [--texts 64] [--length 64] [--sampled 8192] [--runs 3]
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from lexigraft.model.backbone import PassThrough, transformers_library
from lexigraft.train.language.linear_cross_entropy import linear_cross_entropy
from lexigraft.train.language.sampled_classes import ClassSampler
from lexigraft.train.language.sampled_cross_entropy import sampled_cross_entropy

METHODS = ("all logits", "blocks", "sampled")
MASKED = 0.15
GIB = 2**30


def logits_bytes(given: argparse.Namespace) -> int:
    """Of all positions in float32, three times: the logits, their log-softmax, and the gradient."""
    return 3 * 4 * given.texts * given.length * given.classes


def child(given: argparse.Namespace, method: str, width: int) -> dict[str, Any]:
    hf = transformers_library()
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=given.classes, hidden_size=width, num_hidden_layers=given.layers,
        num_attention_heads=width // 64, intermediate_size=4 * width,
    )  # fmt: skip
    model = hf.BertForMaskedLM(config)
    decoder = model.get_output_embeddings()
    model.set_output_embeddings(PassThrough())
    parameters = list({id(value): value for value in (*model.parameters(), *decoder.parameters())}.values())
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, weight_decay=0.01, fused=True)
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, given.classes + 1)  # as words are: the second half as often as the first
    sampler = ClassSampler((1e9 * shares / shares.sum()).astype(np.int64), given.sampled, seed=0)
    subwords = torch.from_numpy(rng.choice(given.classes, (given.texts, given.length), p=shares / shares.sum()))
    chosen = torch.from_numpy(rng.random((given.texts, given.length)) < MASKED)
    labels, mask = torch.where(chosen, subwords, -100), torch.ones_like(subwords)

    def loss_of(step: int) -> Tensor:
        hidden = model(input_ids=subwords, attention_mask=mask).logits
        if method == "all logits":
            logits = hidden @ decoder.weight.T + decoder.bias
            return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        asked, wanted = hidden[chosen], labels[chosen]
        if method == "blocks":
            return linear_cross_entropy(asked, wanted, decoder.weight, decoder.bias).loss
        return sampled_cross_entropy(asked, wanted, decoder.weight, decoder.bias, sampler.draw(step)).loss

    taken: list[tuple[float, float]] = []
    for step in range(given.runs + 1):
        start = time.process_time()
        loss = loss_of(step)
        loss.backward()
        learned = time.process_time()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        taken.append((learned - start, time.process_time() - learned))
    gradients, update = (statistics.median(values) for values in zip(*taken[1:], strict=True))  # the first warms up
    return {
        "seconds": round(gradients + update, 3),
        "seconds_gradients": round(gradients, 3),
        "seconds_optimiser": round(update, 3),
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIB, 2),
        "rows": int(chosen.sum()),
        "loss": round(loss.item(), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, default in (
        ("classes", 300_000), ("texts", 64), ("length", 64), ("sampled", 8192), ("layers", 3), ("runs", 3),
        ("most-gib", 10),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--widths", type=int, nargs="+", default=[256, 768])
    parser.add_argument("--child", nargs=2, metavar=("METHOD", "WIDTH"))
    given = parser.parse_args()
    if given.child:
        print(json.dumps(child(given, given.child[0], int(given.child[1]))))
        return
    found: dict[str, Any] = {}
    for width in given.widths:
        by_method: dict[str, Any] = {}
        for method in METHODS:
            if method == "all logits" and logits_bytes(given) > given.most_gib * GIB:
                by_method[method] = {"computed_gib_of_logits": round(logits_bytes(given) / GIB, 2)}
                continue
            command = [sys.executable, "-m", "bench.mlm_softmax", *sys.argv[1:], "--child", method, str(width)]
            answer = subprocess.run(command, capture_output=True, text=True, check=True)
            by_method[method] = json.loads(answer.stdout.splitlines()[-1])
        full, drawn = by_method["blocks"], by_method["sampled"]
        by_method["sampled is faster by"] = round(full["seconds"] / drawn["seconds"], 2)
        found[str(width)] = by_method
    settings = {name: value for name, value in vars(given).items() if name not in ("child", "widths")}
    print(json.dumps({**settings, "threads": torch.get_num_threads(), "by_width": found}, indent=1))


if __name__ == "__main__":
    main()

"""Our dense system beside a plain training by sentence-transformers: same backbone, pairs, batches, steps and rate.

    python -m bench.dense_peer --data DIR --backbone DIR --steps 500 --batch 1024 --out FILE.json

Both start from the same weights, read the first --length subwords of raw text, take the mean over tokens, and learn by
in-batch softmax over cosines times 20 (MultipleNegativesRankingLoss), AdamW with linear warm-up over a tenth of the
steps and decay to 0, in bf16 where the machine has it; the last weights are measured. sentence-transformers is called
in a plain loop: its trainer needs packages that nothing here needs. Ours leaves documents that are known to be relevant
to a query out of its negatives, and decays weights by .01. Ours is also trained as the product trains by default
(symmetric), as "ours_symmetric". Both rank all documents of the collection exactly for its dev queries (or the split
that --split names), measured by MRR@10 and R@10. The result is printed, and written to --out, as JSON.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from lexigraft.core.settings import FinetuneSettings
from lexigraft.core.types import Ranking
from lexigraft.data.collection import Collection
from lexigraft.data.sources import open_source
from lexigraft.inference.dense_meta import embed
from lexigraft.learn.dense_training import read_pairs
from lexigraft.learn.training_data import TrainingData, training_data
from lexigraft.measure.measures import judgements, measure
from lexigraft.model.backbone import default_device, load_backbone
from lexigraft.model.dense_encoder import DenseEncoder, TorchDense
from lexigraft.model.precision import allow_fast_products, fast_precision
from lexigraft.train.batches import rows_of_step, warmup_within
from lexigraft.train.loop import Schedule
from lexigraft.train.ranking.dense import DenseTrainingPlan, train_dense

Embed = Callable[[Sequence[str], bool], np.ndarray]
MEASURES = ("MRR@10", "R@10")
QUERIES_AT_ONCE, CANDIDATES = 256, 64
NEVER = 1 << 30


def main() -> None:
    arguments = parse()
    collection = open_source(arguments.data)
    data = training_data(collection, arguments.split, FinetuneSettings(validate_every=0))
    device = default_device()
    allow_fast_products(device)
    found: dict[str, Any] = {
        "collection": collection.name, "split": arguments.split, "backbone": arguments.backbone,
        "layers": arguments.layers, "steps": arguments.steps, "batch": arguments.batch, "rate": arguments.rate,
        "length": arguments.length, "seed": arguments.seed, "pairs": len(data.pairs.query_of),
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
    }  # fmt: skip
    ours = {"ours": False} if arguments.plain_only else {"ours": False, "ours_symmetric": True}
    for name, symmetric in ours.items():
        found[name] = timed(lambda s=symmetric: train_ours(arguments, data, s), collection, arguments.split)
    if not arguments.ours_only:
        found["theirs"] = timed(lambda: train_theirs(arguments, data), collection, arguments.split)
        found["difference"] = {name: found["ours"][name] - found["theirs"][name] for name in MEASURES}
    print(json.dumps(found, indent=2))
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(found, indent=2) + "\n")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Our dense system beside sentence-transformers'.")
    parser.add_argument("--data", required=True)
    parser.add_argument("--backbone", default="embedded", help="as model.backbone")
    parser.add_argument("--layers", type=int, default=0, help="the first so many are kept; 0: all")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--length", type=int, default=64, help="subwords read of a text, special ones included")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--ours-only", action="store_true", help="without sentence-transformers")
    parser.add_argument("--plain-only", action="store_true", help="without our symmetric training")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def timed(train: Callable[[], Embed], collection: Collection, split: str) -> dict[str, float]:
    """What a training is worth, and the seconds of both parts."""
    began = time.perf_counter()
    embed = train()
    trained = time.perf_counter()
    worth = evaluate(embed, collection, split)
    return {**worth, "train_s": trained - began, "evaluate_s": time.perf_counter() - trained}


def train_ours(arguments: argparse.Namespace, data: TrainingData, symmetric: bool) -> Embed:
    torch.manual_seed(arguments.seed)
    backbone = load_backbone(arguments.backbone, arguments.layers)
    encoder = DenseEncoder.of(backbone, arguments.length, arguments.length)
    pairs, _ = read_pairs(encoder, data)
    plan = DenseTrainingPlan(
        arguments.steps, arguments.batch, arguments.rate, warmup=0, dropout=0.1, temperature=0.05,
        symmetric=symmetric, n_negatives=0, checkpoint_every=NEVER, validate_every=0,
    )  # fmt: skip
    encoder.to(default_device())
    with TemporaryDirectory() as folder:
        train_dense(encoder, pairs, plan, Path(folder) / "checkpoint", {}, arguments.seed)
    network = TorchDense(encoder.eval())
    return lambda texts, are_queries: embed(network, texts, are_queries)


def train_theirs(arguments: argparse.Namespace, data: TrainingData) -> Embed:
    from sentence_transformers import SentenceTransformer, losses, models

    backbone, device, pairs = load_backbone(arguments.backbone, arguments.layers), default_device(), data.pairs
    with TemporaryDirectory() as folder:  # the very weights that ours starts from
        start: Any = backbone.body.model
        start.base_model.save_pretrained(folder)
        backbone.hf_tokenizer.save_pretrained(folder)
        words = models.Transformer(folder, max_seq_length=arguments.length)
    model = SentenceTransformer(
        modules=[words, models.Pooling(backbone.width, pooling_mode="mean")], device=str(device)
    )
    loss_of = losses.MultipleNegativesRankingLoss(model)  # cosines times 20
    optimizer = torch.optim.AdamW(model.parameters(), lr=arguments.rate, weight_decay=0.0)
    schedule = Schedule(arguments.steps, 0, warmup_within(arguments.steps, arguments.steps), arguments.rate)
    prepare = getattr(model, "preprocess", None) or model.tokenize

    def features(texts: Sequence[str]) -> dict[str, Any]:
        return {name: value.to(device) for name, value in prepare(list(texts)).items() if hasattr(value, "to")}

    model.train()
    for step in range(arguments.steps):
        torch.manual_seed(arguments.seed * 1_000_003 + step)
        for group in optimizer.param_groups:
            group["lr"] = schedule.rate(step)
        rows = rows_of_step(step, len(pairs.query_of), arguments.batch, arguments.seed).tolist()
        sides = [
            features([pairs.queries[pairs.query_of[row]] for row in rows]),
            features([pairs.documents[pairs.document_of[row]] for row in rows]),
        ]
        with fast_precision(device):
            loss = loss_of(sides, None)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    model.eval()

    def embed(texts: Sequence[str], are_queries: bool) -> np.ndarray:
        with fast_precision(device):
            found = model.encode(list(texts), batch_size=512, normalize_embeddings=True, convert_to_tensor=True)
        return found.float().cpu().numpy()

    return embed


def evaluate(embed: Embed, collection: Collection, split: str) -> dict[str, float]:
    """MRR@10 and R@10 of all documents ranked by cosine, ties by id."""
    judged = judgements(collection.qrels(split))
    queries = [query for query in collection.queries() if query.query_id in judged]
    documents = list(collection.documents())
    device, ids = default_device(), [document.doc_id for document in documents]
    rows = torch.from_numpy(embed([document.contents for document in documents], False)).to(device)
    asked = torch.from_numpy(embed([query.text for query in queries], True)).to(device)
    torch.set_float32_matmul_precision("highest")
    rankings = []
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        scores, places = (asked[start : start + QUERIES_AT_ONCE] @ rows.T).topk(min(CANDIDATES, len(ids)))
        for query, of_query, found in zip(queries[start:], scores.tolist(), places.tolist(), strict=False):
            best = sorted(zip(of_query, found, strict=True), key=lambda item: (-item[0], ids[item[1]]))[:10]
            rankings.append(
                Ranking(query.query_id, tuple(ids[place] for _, place in best), tuple(score for score, _ in best))
            )
    allow_fast_products(device)
    known = {query.query_id: judged[query.query_id] for query in queries}
    return {item.measure: item.mean for item in measure(rankings, known, MEASURES)}


if __name__ == "__main__":
    main()

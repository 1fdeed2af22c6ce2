"""What every pruning of a run's models is worth and costs: MRR@10 against FLOPS on a grid of (qk, dk), by dense
products on a GPU (or slowly on a CPU), without an index.

    python -m bench.frontier RUN [--costs 0.16 0.08 0.04] [--out FILE]

For each cost, the pair is chosen on the queries that fine-tuning held out, and what it is worth is said of the measured
ones. Weights are not quantised.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lexigraft.core.types import SparseMatrix
from lexigraft.learn.training_data import held_out
from lexigraft.stages.finished_run import open_run
from lexigraft.stages.layout import JUDGED
from lexigraft.vectors.prune import prune
from lexigraft.vectors.query_encoder import encode_queries, open_query_encoder
from lexigraft.vectors.store import open_vectors

QKS = (4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 0)
DKS = (8, 12, 16, 20, 30, 40, 60, 80, 120, 0)
DOCUMENTS_AT_ONCE = 16384


def frequencies(matrix: SparseMatrix) -> np.ndarray:
    return np.bincount(matrix.term_ids, minlength=matrix.n_terms) / matrix.n_rows


def dense(matrix: SparseMatrix, start: int, end: int, device: str) -> torch.Tensor:
    span = slice(int(matrix.indptr[start]), int(matrix.indptr[end]))
    rows = np.repeat(np.arange(end - start), np.diff(matrix.indptr[start : end + 1]))
    filled = torch.zeros(end - start, matrix.n_terms, device=device)
    at = torch.from_numpy(rows).to(device), torch.from_numpy(np.array(matrix.term_ids[span], np.int64)).to(device)
    filled[at] = torch.from_numpy(np.array(matrix.weights[span])).to(device)
    return filled


def reciprocal_ranks(
    queries: SparseMatrix, documents: SparseMatrix, wanted: list[np.ndarray], device: str
) -> np.ndarray:
    """1 / rank of the first relevant document, 0 beyond rank 10; equal scores rank the relevant one last."""
    asked = dense(queries, 0, queries.n_rows, device)
    parts = [
        asked @ dense(documents, start, min(start + DOCUMENTS_AT_ONCE, documents.n_rows), device).T
        for start in range(0, documents.n_rows, DOCUMENTS_AT_ONCE)
    ]
    scores = torch.cat(parts, 1)
    best = torch.stack([scores[row, torch.from_numpy(of).to(device)].max() for row, of in enumerate(wanted)])
    ranks = (scores >= best[:, None]).sum(1)
    return torch.where((ranks <= 10) & (best > 0), 1 / ranks, torch.zeros_like(best)).cpu().numpy()


def frontier(run_path: Path, system: str, costs: list[float], device: str) -> dict[str, Any]:
    run = open_run(run_path)
    folder = run.folder.vectors(JUDGED, system)
    vectors = open_vectors(folder, checksums=False)
    encoder = open_query_encoder(vectors.query_encoder, vectors.vocabulary, folder)
    place = {doc_id: at for at, doc_id in enumerate(vectors.matrix.row_ids)}
    texts = {query.query_id: query for query in run.collection.queries()}
    sides: dict[str, Any] = {}
    settings = next(one for one in run.systems() if one.name == system).settings
    for name, qrels in (
        ("held out", held_out(run.collection, run.split, settings.finetune)),
        ("measured", run.collection.qrels(run.split)),
    ):
        judged: dict[str, list[int]] = {}
        for qrel in qrels:
            if qrel.relevance > 0 and qrel.doc_id in place and qrel.query_id in texts:
                judged.setdefault(qrel.query_id, []).append(place[qrel.doc_id])
        encoded = encode_queries([texts[query_id] for query_id in judged], encoder, vectors.vocabulary)
        sides[name] = encoded, [np.array(found) for found in judged.values()]
    queries = {(name, qk): prune(side[0], qk) for name, side in sides.items() for qk in QKS}
    documents = {dk: prune(vectors.matrix, dk) for dk in DKS}
    of_documents = {dk: frequencies(matrix) for dk, matrix in documents.items()}
    cost = {
        (name, qk, dk): float(frequencies(some) @ of_documents[dk])
        for (name, qk), some in queries.items()
        for dk in DKS
    }
    worth: dict[tuple[str, int, int], float] = {}

    def mrr(name: str, qk: int, dk: int) -> float:
        if (name, qk, dk) not in worth:
            found = reciprocal_ranks(queries[name, qk], documents[dk], sides[name][1], device)
            worth[name, qk, dk] = float(found.mean())
        return worth[name, qk, dk]

    rows = []
    for limit in costs:
        candidates = []
        for qk in QKS:  # of each qk, the most terms a document that are paid for
            fitting = [dk for dk in DKS if cost["held out", qk, dk] <= limit]
            if fitting:
                candidates.append((qk, max(fitting, key=lambda dk, qk=qk: cost["held out", qk, dk])))
        best = max(candidates, key=lambda pair: mrr("held out", *pair), default=None)
        if best is not None:
            rows.append(
                {
                    "limit": limit,
                    "qk": best[0],
                    "dk": best[1],
                    "MRR@10": mrr("measured", *best),
                    "FLOPS": cost[("measured", *best)],
                    "held out": mrr("held out", *best),
                }
            )
    for pair in ((0, 0), (12, 40)):
        rows.append(
            {"qk": pair[0], "dk": pair[1], "MRR@10": mrr("measured", *pair), "FLOPS": cost[("measured", *pair)]}
        )
    lengths = {
        "L0_q": float(np.diff(sides["measured"][0].indptr).mean()),
        "L0_d": float(np.diff(vectors.matrix.indptr).mean()),
    }
    return {"system": system, **lengths, "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--costs", type=float, nargs="*", default=[])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    run = open_run(options.run)
    found = [frontier(options.run, system.name, options.costs, device) for system in run.systems() if system.is_model]
    if options.out:
        options.out.write_text(json.dumps(found, indent=1))
    for one in found:
        shown = "; ".join(f"({r['qk']},{r['dk']}) {r['MRR@10']:.4f} @ {r['FLOPS']:.3f}" for r in one["rows"])
        print(f"{options.run.name} {one['system']} L0 {one['L0_q']:.0f} {one['L0_d']:.0f}: {shown}", flush=True)


if __name__ == "__main__":
    main()

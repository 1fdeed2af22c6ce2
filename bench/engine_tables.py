"""The tables of docs/results/engines.md from the results of `python -m bench.engines`.

    python -m bench.engine_tables FILE.json [FILE.json ...] [--merged FILE.json]

Several files are read as one; `--merged` writes that one.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from lexigraft.stages.tables import markdown_table

OURS, PISA = "lexigraft-auto", "pisa-maxscore"


def merged(files: list[Path]) -> dict[str, Any]:
    results = [json.loads(file.read_text()) for file in files]
    return {**results[0], "collections": {name: of for one in results for name, of in one["collections"].items()}}


def times(results: dict[str, Any]) -> list[str]:
    head = (
        "collection",
        "k",
        "ours ms",
        "p99",
        "best exact peer",
        "ms",
        "ours / peer",
        "PISA less its call",
        "ours / that",
    )
    rows = []
    for name, collection in results["collections"].items():
        for k, found in collection["k"].items():
            engines = found["engines"]
            ours, peers = engines[OURS], {key: one for key, one in engines.items() if one["peer"]}
            best = min(peers, key=lambda key: peers[key]["p50_ms"])
            ratio = ours["p50_ms"] / peers[best]["p50_ms"]
            net = min((one["net_p50_ms"] for one in peers.values() if "net_p50_ms" in one), default=None)
            last = ("–", "–") if net is None else (f"{net:.3f}", f"{ours['p50_ms'] / net:.2f}")
            cells = (name, k, f"{ours['p50_ms']:.3f}", f"{ours['p99_ms']:.2f}", best, f"{peers[best]['p50_ms']:.3f}")
            rows.append((*cells, f"{ratio:.2f}", *last))
    return markdown_table(head, rows)


def sizes(results: dict[str, Any]) -> list[str]:
    head = "collection", "documents", "terms", "postings", "ours MB", "PISA", "plain loop", "Qdrant", "ours / PISA"
    rows = []
    for name, of in results["collections"].items():
        size = of["index_mb"]
        counts = (f"{of[key]:,}" for key in ("documents", "terms", "postings"))
        others = (f"{size[key]:.1f}" if key in size else "–" for key in (PISA, "plain-loop", "qdrant"))
        share = f"{size[OURS] / size[PISA]:.2f}" if PISA in size else "–"
        rows.append((name, *counts, f"{size[OURS]:.1f}", *others, share))
    return markdown_table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--merged", type=Path)
    options = parser.parse_args()
    results = merged(options.results)
    if options.merged:
        options.merged.write_text(json.dumps(results, indent=1) + "\n")
    print("\n".join([*times(results), "", *sizes(results)]))


if __name__ == "__main__":
    main()

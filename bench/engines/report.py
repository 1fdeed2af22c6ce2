"""Timings to numbers that can be read: JSON, and a table for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.engines.interface import Engine
from bench.engines.measure import Timings

STATISTICS = {"p50_ms": np.median, "p99_ms": lambda run: np.percentile(run, 99), "mean_ms": np.mean}


def summary(engines: Sequence[Engine], timings: Mapping[str, Timings]) -> dict[str, dict[str, Any]]:
    """By engine: each statistic as the median over the runs, with the smallest and the largest run."""
    found: dict[str, dict[str, Any]] = {}
    for engine in engines:
        timing = timings[engine.name]
        row: dict[str, Any] = {
            "exact": engine.exact,
            "ours": engine.ours,
            "peer": engine.is_peer,
            "searches": engine.searches,
        }
        for name, statistic in STATISTICS.items():
            runs = timing.of_runs(statistic)
            row[name] = round(float(np.median(runs)), 5)
            row[f"{name}_runs"] = [round(float(value), 5) for value in runs]
        if engine.overhead in timings:
            net = Timings(timing.seconds - timings[engine.overhead].seconds).of_runs(np.median)
            row["net_p50_ms"] = round(max(0.0, float(np.median(net))), 5)
        if timing.batch_seconds:
            queries = timing.seconds.shape[1]
            runs = 1000 * np.array(timing.batch_seconds) / queries
            row["batch_mean_ms"] = round(float(np.median(runs)), 5)
            row["batch_mean_ms_runs"] = [round(float(value), 5) for value in runs]
        if not engine.exact:
            row["recall"] = round(timing.recall, 4)
        found[engine.name] = row
    return found


def ratios(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """How many times faster than the best exact peer each of ours is, by each statistic and run by run.

    The best peer is chosen anew for each statistic. For the mean a peer's batch call counts where it is faster, then in
    every run, while ours are called once a query; "call" says which of the two the peer's numbers are of. Beside p50
    stands the same against peers without the cost of their call, where that was measured.
    """
    found: dict[str, Any] = {}
    peers = {name: row for name, row in rows.items() if row["peer"]}
    for statistic in STATISTICS:
        if not peers:
            break
        calls = {name: _faster_call(row, statistic) for name, row in peers.items()}
        best = min(peers, key=lambda name: peers[name][calls[name]])
        its_ms, its_runs = peers[best][calls[best]], peers[best][f"{calls[best]}_runs"]
        call = "single" if calls[best] == statistic else "batch"
        found[statistic] = {"best_exact_peer": best, "call": call, "its_ms": its_ms, "ours": {}}
        for name, row in rows.items():
            if row["ours"]:
                each = [theirs / own for theirs, own in zip(its_runs, row[f"{statistic}_runs"], strict=True)]
                found[statistic]["ours"][name] = {
                    "times_faster": round(its_ms / row[statistic], 3),
                    "smallest_run": round(min(each), 3),
                    "largest_run": round(max(each), 3),
                }
    if any("net_p50_ms" in row for row in peers.values()):
        net = {name: float(row.get("net_p50_ms", row["p50_ms"])) for name, row in peers.items()}
        best = min(net, key=net.__getitem__)
        own = {name: {"times_faster": round(net[best] / row["p50_ms"], 3)} for name, row in rows.items() if row["ours"]}
        found["p50_ms_without_call"] = {"best_exact_peer": best, "its_ms": net[best], "ours": own}
    return found


def _faster_call(row: Mapping[str, Any], statistic: str) -> str:
    """The name of the numbers that count for a peer: of single calls, or for the mean of the call for all queries."""
    batch = row.get("batch_mean_ms", np.inf) if statistic == "mean_ms" else np.inf
    return "batch_mean_ms" if batch < row[statistic] else statistic


def table(title: str, rows: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int]) -> str:
    """One line an engine, the fastest first; the last column says how far it is behind or ahead of the best peer."""
    peers = [row["p50_ms"] for row in rows.values() if row["peer"]]
    lines = [
        title,
        f"{'engine':<26}{'p50 ms':>10}{'net ms':>10}{'p99 ms':>10}{'mean ms':>10}{'batch ms':>10}{'MB':>9}  best/it",
    ]
    for name, row in sorted(rows.items(), key=lambda item: item[1]["p50_ms"]):
        net = f"{row['net_p50_ms']:.4f}" if "net_p50_ms" in row else "-"
        batch = f"{row['batch_mean_ms']:.4f}" if "batch_mean_ms" in row else "-"
        against = f"{min(peers) / row['p50_ms']:.2f}" if peers else "-"
        note = f"  approximate, recall {row['recall']:.3f}" if not row["exact"] else ""
        note = "  not an engine" if not row["searches"] else note
        lines.append(
            f"{name:<26}{row['p50_ms']:>10.4f}{net:>10}{row['p99_ms']:>10.4f}{row['mean_ms']:>10.4f}{batch:>10}"
            f"{sizes[name] / 1e6:>9.1f}  {against:>6}{note}"
        )
    return "\n".join(lines)

"""The operating point of a system: the (qk, dk) that a person searches a run with, chosen for a cost on validation
queries and kept with the run."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from lexigraft.core.artifact import write_json
from lexigraft.core.cut import DocumentCut, QueryCut, document_cut, query_cut
from lexigraft.stages.layout import RunFolder


class OperatingPoint(NamedTuple):
    """Terms kept of a query and of a document (0: all; see `core.cut`), and in one line why these. Where they were
    chosen for a cost: the share of BM25's that was asked for, the FLOPS which that is on validation queries, and what
    the choice costs and is worth (MRR@10) there."""

    qk: QueryCut
    dk: DocumentCut
    why: str
    share: float | None = None
    asked: float | None = None
    reached: float | None = None
    mrr: float | None = None


def read_operating_point(run: RunFolder, system: str) -> OperatingPoint:
    """What the run chose for a system; whole vectors where it chose nothing."""
    try:
        chosen: dict[str, Any] = json.loads(run.operating_points.read_text(encoding="utf-8"))[system]
    except (OSError, ValueError, KeyError):
        return OperatingPoint(0, 0, "whole vectors: this run chose no operating point for the system")
    said = {name: chosen[name] for name in ("share", "asked", "reached", "mrr") if name in chosen}
    return OperatingPoint(query_cut(chosen["qk"]), document_cut(chosen["dk"]), str(chosen["why"]), **said)


def write_operating_points(run: RunFolder, chosen: Mapping[str, OperatingPoint]) -> None:
    """Keep the choice for every system, by name."""
    write_json(run.operating_points, as_json(chosen))


def as_json(chosen: Mapping[str, OperatingPoint]) -> dict[str, dict[str, Any]]:
    """The choice for every system as the run's files have it."""
    return {system: point._asdict() for system, point in chosen.items()}

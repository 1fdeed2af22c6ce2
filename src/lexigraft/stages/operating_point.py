"""The operating point of a system: the (qk, dk) that a person searches a run with, chosen for a cost on validation
queries and kept with the run."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lexigraft.core.cut import DocumentCut, QueryCut, document_cut, query_cut
from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.core.sealed_json import read_sealed, write_sealed
from lexigraft.core.stored_record import record_of
from lexigraft.stages.layout import CONTINUE, RunFolder, lies_at


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
    """What the run chose for a system; whole vectors where it chose nothing. Raises where the file was changed: other
    prunings find other documents."""
    file = run.operating_points
    chosen = read_sealed(file, CONTINUE) if lies_at(file) else {}
    if system not in chosen and system in _in_report(run):
        raise ArtifactError(f"{file} does not say what {system} is searched with, though the report does; {CONTINUE}")
    if system not in chosen:
        return OperatingPoint(0, 0, "whole vectors: this run chose no operating point for the system")
    point = record_of(file, OperatingPoint, chosen[system], remedy=CONTINUE)
    try:
        return point._replace(qk=query_cut(point.qk), dk=document_cut(point.dk))
    except SettingError as error:
        raise ArtifactError(f"{file}: {error}; {CONTINUE}") from error


def _in_report(run: RunFolder) -> Mapping[str, Any]:
    """The points of a run that has ended: a file that was lost since must not change what is found."""
    path = run.report("json")
    points = read_sealed(path, CONTINUE).get("operating_points", {}) if lies_at(path) else {}
    return points if isinstance(points, dict) else {}


def write_operating_points(run: RunFolder, chosen: Mapping[str, OperatingPoint]) -> None:
    """Keep the choice for every system, by name."""
    write_sealed(run.operating_points, as_json(chosen))


def as_json(chosen: Mapping[str, OperatingPoint]) -> dict[str, dict[str, Any]]:
    """The choice for every system as the run's files have it."""
    return {system: point._asdict() for system, point in chosen.items()}

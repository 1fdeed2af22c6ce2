"""/systems and /report: what there is to ask, at which cost, and how good it was measured to be."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from lexigraft.core.errors import LexigraftError
from lexigraft.serve.asking import Json
from lexigraft.serve.catalogue import Catalogue, System
from lexigraft.serve.metadata_fields import fields_of
from lexigraft.serve.offered import TERMS, Source
from lexigraft.serve.term_system import TermSystem
from lexigraft.stages.report import read_report

USUAL_MEASURE = "MRR@10"


def describe(catalogue: Catalogue) -> Json:
    """Every system, with the points of its measured curve."""
    reports = {source.path: report_of(source) for source in catalogue.sources}
    measured = [report for report in reports.values() if report.get("rows")]
    first: Mapping[str, Any] = measured[0] if measured else {}
    return {
        "systems": [
            _described(one.system, reports[one.system.offer.source.path], name == catalogue.usual)
            for name, one in catalogue.opened.items()
        ],
        "measure": measure_of(first.get("rows", [])),
        "n_queries": int(first.get("collection", {}).get("queries", 0)),
    }


def all_reports(catalogue: Catalogue) -> Json:
    """The rows of every run's report."""
    found = []
    for source in catalogue.sources:
        report = report_of(source)
        rows = [finite(row) for row in report.get("rows", [])]
        recommended = str((report.get("recommended") or {}).get("system", ""))
        found.append({"name": source.name, "measure": measure_of(rows), "rows": rows, "recommended": recommended})
    return {"runs": found}


def report_of(source: Source) -> Mapping[str, Any]:
    """What a run reports; nothing of what is no run, or has no report yet."""
    run = source.run
    try:
        return {} if run is None else read_report(run)
    except (LexigraftError, OSError):
        return {}


def measure_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """The measure that rows are compared by: the usual one, or the first that they have."""
    if not rows or USUAL_MEASURE in rows[0]:
        return USUAL_MEASURE
    return next((key for key in rows[0] if "@" in key), USUAL_MEASURE)


def finite(value: Any) -> Any:
    """A value as JSON can hold it: numbers that are none become null."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): finite(one) for key, one in value.items()}
    return [finite(one) for one in value] if isinstance(value, list | tuple) else value


def _described(system: System, report: Mapping[str, Any], recommended: bool) -> Json:
    offer = system.offer
    found: Json = {"name": offer.name, "run": offer.source.name, "kind": offer.kind}
    texts = system.state if isinstance(system, TermSystem) else system
    found |= {"n_documents": system.n_documents, "has_texts": texts.keeps_texts}
    return {
        **found,
        "qk": system.qk,
        "dk": system.dk,
        "recommended": recommended,
        "why": _why(system, report, recommended),
        "points": _points(system, report),
        "fields": fields_of(system.state.metadata) if isinstance(system, TermSystem) else [],
    }


def _why(system: System, report: Mapping[str, Any], recommended: bool) -> str:
    said = report.get("recommended") or {}
    if recommended and said.get("system") == system.offer.system:
        return str(said.get("why", ""))
    return str(report.get("hybrids", {}).get(system.offer.system, {}).get("why", "")) or system.why


def _points(system: System, report: Mapping[str, Any]) -> list[Json]:
    """The measured prunings that can be searched now, the cheapest first. A dense system has no FLOPS: no points."""
    rows = [row for row in report.get("rows", []) if row.get("system") == system.offer.system]
    measure = measure_of(rows)
    points = [
        {
            "qk": row["qk"], "dk": row["dk"], "FLOPS": row["FLOPS"], measure: row[measure], "ms": _milliseconds(row),
            "chosen": (row["qk"], row["dk"]) == (system.qk, system.dk),
        }
        for row in rows
        if _is_number(row.get("FLOPS")) and _is_number(row.get(measure)) and _is_served(system, row.get("dk", 0))
    ]  # fmt: skip
    return sorted(points, key=lambda point: point["FLOPS"])


def _is_served(system: System, dk: Any) -> bool:
    return system.offer.kind != TERMS or (isinstance(system, TermSystem) and system.can_serve(dk))


def _milliseconds(row: Mapping[str, Any]) -> float:
    """From text to ids; what former reports have instead is the sum of both steps."""
    whole = row.get("ms_text_to_ids")
    if _is_number(whole):
        return float(whole)  # type: ignore[arg-type]
    parts = (row.get("ms_encode"), row.get("ms_search"))
    return sum(float(part) for part in parts if isinstance(part, int | float) and _is_number(part))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)

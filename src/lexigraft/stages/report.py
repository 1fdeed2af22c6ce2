"""The report of a run: `report.json` for scripts, `report.md` for the eye, `report.png` for the talk."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import join
from typing import Any

from lexigraft.core.errors import ArtifactError
from lexigraft.core.plain_files import written_aside
from lexigraft.core.sealed_json import read_sealed, write_sealed
from lexigraft.core.stored_record import require_fields
from lexigraft.made_pairs.told import in_words
from lexigraft.stages.layout import CONTINUE, RunFolder
from lexigraft.stages.operating_point import OperatingPoint, as_json
from lexigraft.stages.report_graft import graft_lines
from lexigraft.stages.report_picture import draw, kept_terms, searched_rows
from lexigraft.stages.run_settings import stored_checksum
from lexigraft.stages.tables import markdown_table
from lexigraft.vectors.encoding_facts import reading_in_words

# The columns of every row, in the order people read them.
COLUMNS = (
    "system", "qk", "dk", "L0_q_before", "L0_q", "L0_d_before", "L0_d", "FLOPS", "MRR@10", "R@10", "nDCG@10",
    "ms_encode", "ms_search", "ms_text_to_ids", "ms_text_to_ids_p50", "index_bytes",
)  # fmt: skip
log = logging.getLogger(__name__)
BM25 = "bm25"
HELD = {"collection": dict[str, Any], "rows": list[dict[str, Any]]}  # whatever else it says
MADE_WITH = "made_with"  # the checksum of the settings, so that the report of another run is told
NOT_KNOWN = "–"  # of what a former version did not measure
CHOSEN_MARK = "*"  # beside the row that a search takes
DECIMALS = {
    "qk": 1, "L0_q_before": 1, "L0_q": 1, "L0_d_before": 1, "L0_d": 1,
    "ms_encode": 3, "ms_search": 3, "ms_text_to_ids": 3, "ms_text_to_ids_p50": 3,
}  # fmt: skip


def assemble_report(
    name: str,
    split: str | None,
    evaluations: Sequence[Path],
    points: Mapping[str, OperatingPoint],
    timings: Sequence[Mapping[str, Any]],
    read: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """The report as JSON: what was measured on, one row a system and pruning, which of them a search takes, how much
    each model reads of a document (`read`, by system), and what the stages took."""
    rows = [read_sealed(path / "row.json") for path in evaluations]
    collection: dict[str, Any] = {"name": name, "split": split}
    if rows:
        collection |= {
            "documents": rows[0]["documents"],
            **({"passages": True} if rows[0].get("passages") else {}),
            "queries": rows[0]["queries"],
            "measured_by": rows[0]["measured_by"],
        }
    of_all = ("documents", "passages", "queries", "measured_by")
    kept = [{key: value for key, value in row.items() if key not in of_all} for row in rows]
    return {
        "collection": collection, "rows": kept, "operating_points": as_json(points),
        "read_of_documents": {name: facts for name, facts in read.items() if facts}, "stages": list(timings),
    }  # fmt: skip


def read_report(run: RunFolder) -> dict[str, Any]:
    path = run.report("json")
    if not path.is_file():
        raise ArtifactError(
            f"there is no report at {path}; make or continue the run with: lexigraft run --data DIR --out {run.root}"
        )
    report = read_sealed(path, CONTINUE)
    require_fields(path, report, HELD, HELD, CONTINUE)
    made_with, ended_with = report.pop(MADE_WITH, ""), stored_checksum(run)
    if made_with and ended_with and made_with != ended_with:
        log.warning(
            "%s was made with other settings than those in %s: it is of another call, or of another run; %s",
            path, run.settings, CONTINUE,
        )  # fmt: skip
    return report


def write_report(report: Mapping[str, Any], run: RunFolder) -> None:
    write_sealed(run.report("json"), report)
    with written_aside(run.report("md")) as aside:
        aside.write_text(as_markdown(report, run.root), encoding="utf-8")
    if report["rows"]:
        draw(report, run.report("png"))
    else:
        run.report("png").unlink(missing_ok=True)  # of a former run on another collection


def cell(column: str, value: Any) -> str:
    if column == "index_bytes" and isinstance(value, int):
        return f"{value:,}"
    return f"{value:.{DECIMALS.get(column, 4)}f}" if isinstance(value, float) else str(value)


def table_cells(report: Mapping[str, Any]) -> list[list[str]]:
    """The rows of the report as texts, in the order of COLUMNS; the pruning that a search takes has CHOSEN_MARK after
    the name of its system."""
    points = _choices(report)
    cells = []
    for row in report["rows"]:
        shown = dict.fromkeys(COLUMNS, NOT_KNOWN) | {k: v for k, v in row.items() if v is not None}
        if has_terms(row):
            shown["qk"], shown["dk"] = kept_terms(row)
        else:
            shown["qk"] = shown["dk"] = NOT_KNOWN
        system, *others = (cell(column, shown[column]) for column in COLUMNS)
        point = points.get(row["system"])
        chosen = point is not None and (point["qk"], point["dk"]) == (row["qk"], row["dk"])
        cells.append([f"{system} {CHOSEN_MARK}" if chosen else system, *others])
    return cells


def has_terms(row: Mapping[str, Any]) -> bool:
    """Whether a row is of a system of weighted terms, and not of a dense one or a hybrid."""
    return "L0_q" in row


def operating_point_lines(report: Mapping[str, Any]) -> list[str]:
    """What each system with several prunings is searched with, and why; one line a system. Then which one a search
    takes when nobody names one."""
    lines = [
        f"{CHOSEN_MARK} {system} is searched with {point['why']}{_reached(point)}"
        for system, point in _choices(report).items()
    ]
    if recommended := report.get("recommended"):
        lines.append(f"recommended: {recommended['system']} ({recommended['why']})")
    return [*lines, *(f"{name}: {choice['why']}" for name, choice in report.get("hybrids", {}).items())]


def _reached(point: Mapping[str, Any]) -> str:
    """What was asked for and what was reached, on the queries that it was chosen by."""
    if not point.get("asked"):
        return ""
    share = point["reached"] / point["asked"]
    return f": asked {point['asked']:.3f} FLOPS, reached {point['reached']:.3f} ({share:.0%} of it) there"


def reading_lines(report: Mapping[str, Any]) -> list[str]:
    """How much of a document each model reads; one line a model."""
    said = {name: reading_in_words(facts) for name, facts in report.get("read_of_documents", {}).items()}
    return [f"{name} {words}" for name, words in said.items() if words]


def made_lines(report: Mapping[str, Any]) -> list[str]:
    """What was learned from and measured where pairs were made of the texts; nothing where none were."""
    made = report.get("pairs")
    if made is None:
        return []
    measured = (
        "The numbers above are of made queries: parts of the texts, cut out of the documents that they ask for. They "
        "compare systems, and do not say how well people's questions are answered"
    )
    return [*([measured] if made["measured"] else []), f"Of {in_words(made)}"]


def choice_lines(report: Mapping[str, Any]) -> list[str]:
    """What a run that was given a time chose for itself, and by what; one line a choice."""
    own = report.get("own_settings")
    if own is None:
        return []
    lines = [f"chosen by the run itself, for {own['minutes']:g} minutes:"]
    for choice in own["choices"]:
        values = values_in_words(choice["settings"])
        lines.append(f"- {choice['about']}: {values + ': ' if values else ''}{choice['why']}")
    return lines


def values_in_words(settings: Mapping[str, Any]) -> str:
    """Such as "model.document_length = 64, run.systems = bm25, dense"."""
    shown = {name: ", ".join(value) if isinstance(value, list) else f"{value:g}" for name, value in settings.items()}
    return ", ".join(f"{name} = {value}" for name, value in shown.items())


def _choices(report: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The operating points of systems that have more than one row; reports of former versions have none."""
    rows = Counter(row["system"] for row in report["rows"])
    points = report.get("operating_points", {}).items()
    return {system: point for system, point in points if rows[system] > 1}


def unmeasured_lines(report: Mapping[str, Any], run: str) -> list[str]:
    """What a report without numbers says: how the run is searched, and what would be better; commands are indented."""
    searched = f"{report['collection']['name']} is searchable: {join(['lexigraft', 'search', '--run', run])} QUERY"
    advice, added = report.get("advice"), graft_lines(report)
    if advice is None:
        return [searched, *added, "No query of it is judged, so nothing is measured"]
    commands = (advice[name] for name in ("install", "command"))
    return [searched, *added, advice["says"], *(f"  {command}" for command in commands if command)]


def _in_markdown(line: str) -> str:
    return f"    {line.strip()}" if line.startswith("  ") else line


def as_markdown(report: Mapping[str, Any], run: Path) -> str:
    collection, rows = report["collection"], report["rows"]
    lines = [f"# {collection['name']}", ""]
    if not rows:
        said = unmeasured_lines(report, str(run))
        return "\n".join([*lines, *(part for line in said for part in (_in_markdown(line), ""))])
    one = "passage" if collection.get("passages") else "document"
    lines += [
        f"{collection['queries']:,} {collection['split']} queries over {searched_rows(report)}.", "",
        *markdown_table(COLUMNS, table_cells(report)), "",
        f"qk, dk: terms kept of a query and of a {one} (0: all, nothing was cut; below 1: those that weigh at least "
        "that share of the heaviest; m: the fewest with that share of the sum of all weights). L0: mean number of "
        "terms, before and after any cut. FLOPS: postings touched "
        f"by a query, per {one} of the collection. ms: mean milliseconds a query on one thread, from text to vector "
        "(encode), from vector to ranked ids (search, as deep as is measured), and from text to the ten best ids "
        "(text_to_ids, measured as one call; p50 is its median). index_bytes: all files of what is searched, without "
        f"the documents' texts and without a model.{_of_peers(rows, one)}", "",
        *(part for line in operating_point_lines(report) for part in (f"{line}.", "")),
        *(part for line in (*reading_lines(report), *graft_lines(report)) for part in (f"{line}.", "")),
        *(part for line in made_lines(report) for part in (f"{line}.", "")),
        *_teacher_lines(report),
        *(part for line in choice_lines(report) for part in (f"{line}", "")),
        "![MRR@10 against FLOPS](report.png)", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _of_peers(rows: Sequence[Mapping[str, Any]], one: str) -> str:
    """What the columns mean for systems that search no terms."""
    dense = next((row["width"] for row in rows if "width" in row), None)
    said = "" if dense is None else f" A dense system has no FLOPS: it multiplies {dense} numbers of every {one}."
    if any("of" in row for row in rows):
        said += " A hybrid has the FLOPS of its sparse parts, and the times and bytes of both."
    return said


def _teacher_lines(report: Mapping[str, Any]) -> list[str]:
    """What teachers are worth: that of the run's own model, and those of its other systems."""
    taught = {"": report["teacher"]} if "teacher" in report else {}
    taught |= {f" of {name}": found for name, found in report.get("teachers", {}).items()}
    return [line for whose, found in taught.items() for line in _teacher_line(whose, found)]


def _teacher_line(whose: str, found: Mapping[str, Any]) -> list[str]:
    return [
        f"The teacher{whose} (a cross-encoder) ranks BM25's first {found['depth']} documents of {found['queries']:,} "
        f"{found['split']} queries anew: MRR@10 {found['teacher']['MRR@10']:.4f}, where BM25's own order has "
        f"{found['bm25']['MRR@10']:.4f}.", "",
    ]  # fmt: skip

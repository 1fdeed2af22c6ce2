"""Systems side by side as a folder: `evaluation.json` and CSV for programs, `evaluation.md` for the eye."""

from collections.abc import Sequence
from pathlib import Path

from lexigraft.comparison.measured_systems import COSTS
from lexigraft.comparison.side_by_side import SideBySide, comparison_facts, facts
from lexigraft.core.artifact import Manifest, write_artifact, write_json
from lexigraft.measure.compare import Comparison
from lexigraft.stages.report import cell
from lexigraft.stages.standalone import require_free_for
from lexigraft.stages.tables import markdown_table, write_csv

KIND, FORMAT_VERSION = "comparison", 1
LIKELY, NEARLY_SURE = 0.05, 0.01
BETTER, WORSE = "▲", "▼"
COMPARISON_COLUMNS = (
    "measure", "system", "baseline", "difference", "95 % interval", "t", "p", "p corrected", "won / tied / lost",
)  # fmt: skip
EXPLANATION = (
    "Differences are means over queries, with the interval that holds the true one with 95 %. p: paired two-sided "
    "t-test; corrected: times the number of pairs compared (Bonferroni), a measure at a time. ▲ is better and "
    "▼ worse than the baseline with a corrected p < .05, ▲▲ and ▼▼ with < .01."
)


def require_free(out: Path) -> None:
    """Raise where `write_comparison` would not write, before anything is measured."""
    require_free_for(out, KIND)


def write_comparison(found: SideBySide, out: Path) -> None:
    """Write everything to `out`, which appears whole; a comparison that is there is replaced."""
    config = {"judged_by": found.judged_by, "baseline": found.baseline, "measures": list(found.measures)}
    with write_artifact(out, Manifest(KIND, FORMAT_VERSION, config)) as folder:
        fill(found, folder)


def fill(found: SideBySide, folder: Path) -> None:
    """The files of a comparison in a folder that is there."""
    write_json(folder / "evaluation.json", facts(found))
    (folder / "evaluation.md").write_text(as_markdown(found), encoding="utf-8")
    costs = cost_columns(found)
    write_csv(
        folder / "systems.csv",
        ["system", *found.measures, *costs],
        ([s.name, *s.means.values(), *(s.costs.get(name) for name in costs)] for s in found.systems),
    )
    records = [comparison_facts(comparison) for comparison in found.comparisons]
    columns = list(records[0]) if records else ["measure", "system", "baseline"]
    write_csv(folder / "comparisons.csv", columns, ([record[name] for name in columns] for record in records))
    write_csv(
        folder / "changes.csv",
        ["measure", "system", "baseline", "query_id", "baseline_value", "system_value", "difference"],
        (
            [*pair, change.query_id, change.baseline, change.system, change.difference]
            for pair, changes in found.changes.items()
            for change in (*changes.gained, *changes.lost)
        ),
    )
    write_csv(
        folder / "per_query.csv",
        ["measure", "query_id", *(system.name for system in found.systems)],
        (
            [name, query, *(system.per_query[name][query] for system in found.systems)]
            for name in found.measures
            for query in found.systems[0].per_query[name]
        ),
    )


def as_markdown(found: SideBySide) -> str:
    lines = [f"# {len(found.systems)} systems, {found.queries:,} queries", "", f"Judgements: {found.judged_by}.", ""]
    lines += markdown_table(*system_table(found))
    if found.comparisons:
        lines += ["", f"Baseline: {found.baseline}. {EXPLANATION}", ""]
        lines += markdown_table(COMPARISON_COLUMNS, map(comparison_row, found.comparisons))
    return "\n".join([*lines, ""])


def cost_columns(found: SideBySide) -> list[str]:
    """Those costs that are known of some system."""
    return [name for name in COSTS if any(name in system.costs for system in found.systems)]


def system_table(found: SideBySide) -> tuple[list[str], list[list[str]]]:
    """(columns, rows) for the eye: a system's means, marked where they differ from the baseline's, and its costs."""
    marks = {
        (item.system, item.measure): _mark(item.p_corrected, item.test.difference)
        for item in found.comparisons
        if item.baseline == found.baseline
    }
    costs = cost_columns(found)
    rows = [
        [
            system.name,
            *(f"{mean:.4f}{marks.get((system.name, name), '')}" for name, mean in system.means.items()),
            *(cell(name, system.costs[name]) if name in system.costs else "" for name in costs),
        ]
        for system in found.systems
    ]
    return ["system", *found.measures, *costs], rows


def comparison_row(found: Comparison) -> list[str]:
    """As COMPARISON_COLUMNS names them."""
    test = found.test
    interval = "" if test.low is None else f"{test.low:+.4f} to {test.high:+.4f}"
    return [
        found.measure, found.system, found.baseline, f"{test.difference:+.4f}", interval,
        "" if test.t is None else f"{test.t:.2f}", _probability(test.p), _probability(found.p_corrected),
        f"{found.wins} / {found.ties} / {found.losses}",
    ]  # fmt: skip


def change_rows(found: SideBySide, most: int) -> Sequence[tuple[str, list[list[str]]]]:
    """(title, rows of query, baseline, system, difference) for every pair of which something changed by the first
    measure; the others are in the files."""
    tables: list[tuple[str, list[list[str]]]] = []
    for (measure, system, baseline), changes in found.changes.items():
        if measure != found.measures[0]:
            continue
        rows = [
            [change.query_id, f"{change.baseline:.4f}", f"{change.system:.4f}", f"{change.difference:+.4f}"]
            for change in (*changes.gained[:most], *changes.lost[:most])
        ]
        if rows:
            tables.append((f"{measure}: {system} against {baseline}, where it changed most", rows))
    return tables


def _mark(p: float | None, difference: float) -> str:
    if p is None or p >= LIKELY:
        return ""
    return (BETTER if difference > 0 else WORSE) * (1 if p >= NEARLY_SURE else 2)


def _probability(p: float | None) -> str:
    return "" if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}"

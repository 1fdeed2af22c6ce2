"""Statistics of indexes as tables, and as a folder: `stats.json`, `tables.md`, CSV, `list_maxima.png` and `.svg`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.comparison.index_stats import BLOCKMAX, DEFAULT, MAXSCORE, QUALITY
from lexigraft.comparison.list_maxima_picture import draw
from lexigraft.core.artifact import Manifest, write_artifact, write_json
from lexigraft.core.types import counted_rows
from lexigraft.search.counters import COUNTERS
from lexigraft.stages.standalone import require_free_for
from lexigraft.stages.tables import markdown_table, write_csv

KIND, FORMAT_VERSION = "index statistics", 1
ABSENT = "–"
LEGEND = (
    "|Q|, |D|: distinct terms of a query and of a document. Split queries: share with a word of several pieces. "
    "Postings: the lengths of a query's lists added up. Added terms: those of a document that its text does not hold. "
    "ms: mean milliseconds a query by a method, for so many results. Operations: a query's; SCORE is of postings, "
    "DOCUMENTS of documents that got a score. List maxima: the largest score that a term has in any document; Gini and "
    "p99/median say how skewed they are."
)

Found = Mapping[str, Any]


class Table(NamedTuple):
    """Values as they were measured; `decimals` is how many the eye is shown, by column."""

    name: str
    title: str
    columns: list[str]
    rows: list[list[Any]]
    decimals: dict[str, int]

    def cells(self) -> list[list[str]]:
        """The rows for the eye."""
        places = [self.decimals.get(column, 0) for column in self.columns]
        return [[_cell(value, places[place]) for place, value in enumerate(row)] for row in self.rows]


def _cell(value: Any, decimals: int) -> str:
    if value is None:
        return ABSENT
    return value if isinstance(value, str) else f"{value:,.{decimals}f}"


def tables(found: Found) -> list[Table]:
    """The study's tables 1, 3 and 6, and the numbers of its figure 3."""
    return [_queries(found), _expansion(found), _operations(found), _list_maxima(found)]


def _queries(found: Found) -> Table:
    ks = list(dict.fromkeys(row["k"] for one in found["systems"] for row in one["searches"]))
    methods = [(method, k) for k in ks for method in (DEFAULT, BLOCKMAX, MAXSCORE)]
    facts = {"|V|": "terms", "|Q|": "query_terms", "split queries": "split_queries", "|D|": "document_terms",
             "postings": "postings_per_query"}  # fmt: skip
    times = {f"ms {method} {k}": (method, k) for method, k in methods}
    rows = [
        [one["name"], *(one[key] for key in facts.values()), *(_ms(one, *wanted) for wanted in times.values())]
        for one in found["systems"]
    ]
    decimals = {"|Q|": 2, "split queries": 4, "|D|": 1, **dict.fromkeys(times, 3)}
    return Table("queries", "Queries", ["system", *facts, *times], rows, decimals)


def _expansion(found: Found) -> Table:
    k = max(row["k"] for one in found["systems"] for row in one["searches"])
    times = {f"ms {method} {k}": method for method in (DEFAULT, BLOCKMAX)}
    rows = [
        [one["name"], one["expansion_terms"], one["document_terms"], one[QUALITY],
         *(_ms(one, method, k) for method in times.values())]
        for one in found["systems"]
    ]  # fmt: skip
    decimals = {"added terms": 1, "|D|": 1, QUALITY: 4, **dict.fromkeys(times, 3)}
    return Table(
        "expansion", "Expansion of documents", ["system", "added terms", "|D|", QUALITY, *times], rows, decimals
    )


def _operations(found: Found) -> Table:
    rows = [
        [one["name"], row["k"], *(row[name] for name in COUNTERS)]
        for one in found["systems"]
        for row in one["operations"]
    ]
    return Table("operations", "Operations of MaxScore", ["system", "k", *COUNTERS], rows, {})


def _list_maxima(found: Found) -> Table:
    keys = ("lists", "largest", "median", "p99", "p99_to_median", "gini")
    rows = [
        [one["name"], of, one["bits"], *(one[key][name] for name in keys)]
        for one in found["list_maxima"]["systems"]
        for key, of in (("non_empty", "not empty"), ("all", "all |V|"))
    ]
    columns = ["system", "lists of", "bits", "lists", "largest", "median", "p99", "p99/median", "Gini"]
    decimals = {"largest": 3, "median": 3, "p99": 3, "p99/median": 2, "Gini": 3}
    return Table("list_maxima", "List maxima", columns, rows, decimals)


def _ms(one: Mapping[str, Any], method: str, k: int) -> float | None:
    return next((row["ms"]["mean"] for row in one["searches"] if (row["method"], row["k"]) == (method, k)), None)


def heading(found: Found) -> str:
    """What was measured, in a line."""
    which = f"{found['split']} queries" if found["split"] else "queries"
    return (
        f"{found['collection']}: {found['queries']:,} {which} over "
        f"{counted_rows(found['documents'], found.get('passages', False))}; times and "
        f"operations of {found['timed_queries']:,} queries, {found['runs']} runs, one thread, from vector to ranked ids"
    )


def notes(found: Found) -> list[str]:
    """What keeps numbers from meaning what they seem to."""
    said = []
    coarse = [one["name"] for one in found["list_maxima"]["systems"] if one["bits"] == 8]
    if coarse:
        said.append(f"List maxima of {', '.join(coarse)} are impacts of 8 bits, which tell 255 apart.")
    fine = [one["name"] for one in found["systems"] if one["bits"] == 24]
    if fine:
        said.append(f"{', '.join(fine)}: impacts of 24 bits are searched in one way, which counts nothing.")
    empty = [
        f"{one['name']} {one['queries_without_terms']:,}" for one in found["systems"] if one["queries_without_terms"]
    ]
    if empty:
        said.append(f"Queries without a known term count as 0 terms: {', '.join(empty)}.")
    return said


def as_markdown(found: Found) -> str:
    lines = ["# Statistics of indexes", "", heading(found) + ".", ""]
    for table in tables(found):
        if table.rows:
            lines += [f"## {table.title}", "", *markdown_table(table.columns, table.cells()), ""]
    lines += [LEGEND, "", "![Share of lists whose largest score is higher](list_maxima.png)", "", *notes(found), ""]
    return "\n".join(lines)


def require_free(out: Path) -> None:
    """Raise where `write_statistics` would not write, before anything is measured."""
    require_free_for(out, KIND)


def write_statistics(found: Found, out: Path) -> None:
    """Write everything to `out`, which appears whole; statistics that are there are replaced."""
    indexes: Sequence[str] = [one["index"] for one in found["systems"]]
    with write_artifact(out, Manifest(KIND, FORMAT_VERSION, {"indexes": indexes})) as folder:
        write_json(folder / "stats.json", found)
        (folder / "tables.md").write_text(as_markdown(found), encoding="utf-8")
        for table in tables(found):
            write_csv(folder / f"{table.name}.csv", table.columns, table.rows)
        draw(found["list_maxima"], folder)

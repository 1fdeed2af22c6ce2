"""What `measure_wackiness` found, for the eye: tables in Markdown and CSV, curves and removals as pictures."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lexigraft.stages.pictures import finish, new_figure, save_figure
from lexigraft.stages.tables import markdown_table, write_csv

COLORS = 10  # of the default cycle, so that a system has the same one in every picture
STYLES = ("-", "--", ":")  # after ten systems, colours come again


def write_report(result: Mapping[str, Any], folder: Path) -> None:
    """Tables and pictures of a result into `folder`."""
    tables = {
        "wackiness": _wackiness_rows(result),
        "top_terms": _top_rows(result),
        "removal": _removal_rows(result),
        "pruning": [dict(row) for row in result["pruning"]],
        "curves": _curve_rows(result),
    }
    for name, rows in tables.items():
        path = folder / f"{name}.csv"
        path.unlink(missing_ok=True)  # of a former call that had more
        if rows:
            write_csv(path, *_columns_and_rows(rows))
    (folder / "tables.md").write_text(_markdown(result, tables), encoding="utf-8")
    draw_curves(result, folder)
    for name in ("removal.png", "removal.svg"):
        (folder / name).unlink(missing_ok=True)
    if result["removal"]:
        draw_removal(result["removal"], folder)


def _wackiness_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The table of areas, the smallest first, a side after the other."""
    rows = []
    for side, entries in result["sides"].items():
        for entry in sorted(entries, key=lambda entry: entry["W-AUC"]):
            rows.append(
                {
                    "side": side,
                    "system": entry["name"],
                    "W-AUC": entry["W-AUC"],
                    "two_sigma": entry["two_sigma"],
                    "group": entry["letters"],
                    "W-AUC over all terms": entry["W-AUC_whole_vocabulary"],
                    "coverage": entry["coverage"],
                    "terms": entry["terms"],
                    "terms seen": entry["terms_seen"],
                    "of score 1": entry["terms_of_score_1"],
                    "expansion terms an input": entry["expansion_terms_an_input"],
                    "inputs": entry["inputs"],
                    "inputs a run": entry["n_drawn"],
                    "least wacky term": entry["term_of_the_largest_mean"],
                    "its mean S": entry["largest_mean"],
                }
            )
    return rows


def _top_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"side": side, "system": entry["name"], "rank": rank, **term}
        for side, entries in result["sides"].items()
        for entry in entries
        for rank, term in enumerate(entry["top_terms"], 1)
    ]


def _removal_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for entry in result["removal"]:
        for measure, values in entry["measures"].items():
            for place, n in enumerate(entry["removed"]):
                mean, spread = values["random"][place], 2 * values["random_std"][place]
                wacky, least, most = (values[name][place] for name in ("wacky", "wacky_min", "wacky_max"))
                everything = n == entry["terms"]
                sides = {_beside(value, mean, spread) for value in (wacky, least, most)}
                rows.append(
                    {
                        "system": entry["name"],
                        "collection": entry["collection"],
                        "measure": measure,
                        "removed": n,
                        "without the wackiest": wacky,
                        "mean of draws": values["wacky_mean"][place],
                        "lowest draw": least,
                        "highest draw": most,
                        "without random ones": mean,
                        "two_std": spread,
                        "verdict": "all removed" if everything else _beside(wacky, mean, spread),
                        "of all draws": "all removed" if everything else sides.pop() if len(sides) == 1 else "differs",
                        "full": values["full"],
                        "no expansion": values["none"],
                        "weight left, wackiest": entry["weight_wacky"][place],
                        "weight left, mean of draws": entry["weight_wacky_mean"][place],
                        "weight left, random": entry["weight_random"][place],
                    }
                )
    return rows


def _beside(value: float, mean: float, spread: float) -> str:
    """Where a value lies beside a mean and the spread around it."""
    return "below" if value < mean - spread else "above" if value > mean + spread else "within"


def _curve_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"side": side, "system": entry["name"], "bin": number, "mean": mean, "two_sigma": spread}
        for side, entries in result["sides"].items()
        for entry in entries
        for number, (mean, spread) in enumerate(zip(entry["curve"], entry["curve_two_sigma"], strict=True), 1)
    ]


def _markdown(result: Mapping[str, Any], tables: Mapping[str, list[dict[str, Any]]]) -> str:
    settings = result["settings"]
    lines = [
        "# Wackiness",
        "",
        f"k = {settings['k']}, {settings['bins']} bins, {settings['runs']} runs over drawn inputs, "
        f"seed {settings['seed']}. W-AUC: mean and two standard deviations over the runs; systems that share a letter "
        "do not differ significantly (paired t-test, Bonferroni). Coverage: the share of the vocabulary that was ever "
        "an expansion; the others are left out, and have score 1 in the column over all terms.",
        "",
        *_table(tables["wackiness"]),
        "",
        "![curves](curves.png)",
        "",
    ]
    for side, entries in result["sides"].items():
        lines += [f"## Wackiest terms ({side})", ""]
        lines += [
            f"- {entry['name']}: " + ", ".join(f"`{_cell(t['term'])}` ({t['kind']})" for t in entry["top_terms"])
            for entry in entries
        ]
        lines += [""]
    if tables["removal"]:
        kept = (
            "system", "collection", "removed", "measure", "without the wackiest", "mean of draws", "lowest draw",
            "highest draw", "without random ones", "two_std", "verdict", "of all draws", "full", "no expansion",
        )  # fmt: skip
        chosen = [row for row in tables["removal"] if row["measure"] in ("MRR@10", "nDCG@10")]
        lines += [
            "## Without the wackiest expansion terms of queries", "", "![removal](removal.png)", "",
            *_table([{key: row[key] for key in kept} for row in chosen]), "",
            "All measures: `removal.csv`. Random: as many terms drawn from those seen as expansions, mean and two "
            "standard deviations. Terms with the same score are removed in a drawn order: `without the wackiest` and "
            f"`verdict` are of the first of {result['removal'][0]['tie_draws']} draws, the columns of draws of all of "
            "them; `differs` where the verdict depends on the draw.", "",
        ]  # fmt: skip
    if tables["pruning"]:
        lines += [
            "## Pruning by wackiness", "",
            "The wackiest share of the terms dropped from queries, documents or both, their own terms kept; beside it "
            "the run's prunings by weight (qk, dk).", "",
            *_table(tables["pruning"]), "",
        ]  # fmt: skip
    return "\n".join(lines)


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    columns, values = _columns_and_rows(rows)
    return markdown_table(columns, (list(map(_cell, row)) for row in values))


def _columns_and_rows(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], Iterator[list[Any]]]:
    columns = list(rows[0])
    return columns, ([row[column] for column in columns] for row in rows)


def _cell(value: Any) -> str:
    text = f"{value:.4f}" if isinstance(value, float) else str(value)
    return text.replace("`", "'")


def draw_curves(result: Mapping[str, Any], folder: Path) -> None:
    """curves.png and curves.svg: one panel a side, one line a system with its two standard deviations."""
    sides = result["sides"]
    figure, grid = new_figure(1, len(sides), (6.5 * len(sides), 4.5))
    for axes, (side, entries) in zip(grid[0], sides.items(), strict=True):
        for place, entry in enumerate(entries):
            mean, spread = entry["curve"], entry["curve_two_sigma"] or [0.0] * len(entry["curve"])
            at = [(number + 0.5) / len(mean) * 100 for number in range(len(mean))]
            label = f"{entry['name']} (W-AUC {entry['W-AUC']:.3f})"
            style = STYLES[place // COLORS % len(STYLES)]
            axes.plot(at, mean, label=label, color=f"C{place % COLORS}", linestyle=style, linewidth=1.5)
            low, high = ([m + sign * s for m, s in zip(mean, spread, strict=True)] for sign in (-1, 1))
            axes.fill_between(at, low, high, color=f"C{place % COLORS}", alpha=0.2, linewidth=0)
        axes.set_title(f"expansion of {side}")
        axes.set_xlabel("terms, wackiest first (% of those seen as expansions)")
        axes.set_ylabel("mean Wackiness Score of the bin")
        finish(axes, legend=7)
    save_figure(figure, folder / "curves.png", folder / "curves.svg", dpi=130)


def draw_removal(entries: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """removal.png and removal.svg: a row a system and collection, a panel a measure. Of the wackiest terms the mean,
    the least and the most over the draws of those that have the same score."""
    n_columns = max(len(entry["measures"]) for entry in entries)
    figure, grid = new_figure(len(entries), n_columns, (3.6 * n_columns, 3.1 * len(entries)))
    for row, entry in zip(grid, entries, strict=True):
        for axes in row[len(entry["measures"]) :]:
            axes.set_visible(False)
        for axes, (measure, values) in zip(row, entry["measures"].items(), strict=False):
            n, mean, std = entry["removed"], values["random"], values["random_std"]
            axes.axhline(values["full"], color="tab:green", linewidth=1, label="full expansion")
            axes.axhline(values["none"], color="tab:red", linewidth=1, label="no expansion")
            low, high = ([m + sign * s for m, s in zip(mean, std, strict=True)] for sign in (-2, 2))
            axes.fill_between(n, low, high, color="tab:orange", alpha=0.3, linewidth=0)
            axes.plot(n, mean, color="tab:orange", linewidth=1, label="random terms removed")
            axes.fill_between(n, values["wacky_min"], values["wacky_max"], color="tab:blue", alpha=0.3, linewidth=0)
            axes.plot(n, values["wacky_mean"], color="tab:blue", marker=".", label="wackiest terms removed")
            axes.set_xscale("log")
            axes.set_title(f"{entry['name']} on {entry['collection']}: {measure}", fontsize=8)
            axes.set_xlabel("terms removed", fontsize=8)
            finish(axes, legend=7 if axes is row[0] else None)
    save_figure(figure, folder / "removal.png", folder / "removal.svg", dpi=130)

"""What a study shows: the paper's tables, its curves, and a verdict for each claim.

OUT/verdicts.md             each claim: holds, does not hold, or not decided here, and by which numbers
OUT/tables.md tables.csv    every arm at every point: means over seeds
OUT/curves.png curves.svg   MRR@10 over FLOPS
OUT/results.json            all of it for programs
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from lexigraft.core.artifact import write_json
from lexigraft.stages.pictures import finish, new_figure, save_figure
from lexigraft.stages.tables import markdown_table, write_csv
from lexigraft.study.design import BM25, WHOLE, Side, Study
from lexigraft.study.evidence import Evidence
from lexigraft.study.regime import Scale
from lexigraft.study.verdict import ALPHA, MARGIN, SEEDS, Decision, decide, described, n_contrasts

COLUMNS = ("collection", "model", "point", "qk", "dk", "L0_q", "L0_d", "FLOPS", "MRR@10", "spread", "seeds", "weights")


class Row(NamedTuple):
    """An arm at a point of a collection: means over its seeds; `spread` is the distance of the best seed from the
    worst, `weights` are those that held-out queries chose, one a seed."""

    collection: str
    model: str
    point: str
    qk: float
    dk: int
    terms_q: float
    terms_d: float
    flops: float
    mrr: float
    spread: float
    seeds: int
    weights: str


class Look(NamedTuple):
    """What an arm's trainings of one weight were looked at for: a mean over seeds."""

    collection: str
    model: str
    weight: float | None
    value: str
    mean: float
    lowest: float
    highest: float
    seeds: int


def decisions_of(study: Study, evidence: Evidence, scale: Scale) -> dict[str, Decision]:
    return {claim.id: decide(claim, evidence, study, scale.decides) for claim in study.claims}


def write_outputs(out: Path, study: Study, evidence: Evidence, scale: Scale) -> dict[str, Any]:
    """Write everything anew from the finished trainings; returns what results.json holds."""
    decisions, rows = decisions_of(study, evidence, scale), list(table(study, evidence))
    looks = list(looked(study, evidence))
    out.mkdir(parents=True, exist_ok=True)
    (out / "verdicts.md").write_text("\n".join(verdict_lines(study, evidence, decisions, scale)) + "\n", "utf-8")
    (out / "tables.md").write_text("\n".join(table_lines(study, rows, looks, scale)) + "\n", "utf-8")
    write_csv(out / "tables.csv", COLUMNS, rows)
    if rows:
        draw_curves(study, evidence, out)
    results = {
        "study": study.name, "paper": study.paper, "scale": scale.name,
        "claims": {
            name: {
                "verdict": one.verdict, "why": one.why,
                "outcomes": [
                    {"collection": of.collection, "a": of.contrast.a.described, "b": of.contrast.b.described,
                     "measure": of.contrast.measure, "expected": of.contrast.expect, "found": of.found, "of a": of.a,
                     "of b": of.b, "p": of.p, "spread": of.spread, "seeds": list(of.seeds)}
                    for of in one.outcomes
                ],
            }
            for name, one in decisions.items()
        },
        "rows": [row._asdict() for row in rows],
        "looks": [one._asdict() for one in looks],
        "trainings": [
            {**one.training._asdict(), "collapsed": one.collapsed, "looks": _without_curves(one.looks), **one.made_by}
            for one in evidence.finished
        ],
    }  # fmt: skip
    write_json(out / "results.json", results)
    return results


def _without_curves(looks: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in looks.items() if name != "curve"}


def table(study: Study, evidence: Evidence) -> Iterator[Row]:
    """BM25 and every arm at every point that it has."""
    for collection in evidence.collections:
        reference = evidence.bm25(collection)
        if reference is not None:
            yield Row(collection, BM25, WHOLE, 0, 0, reference.terms_q, reference.terms_d, reference.flops,
                      reference.mrr, 0.0, 1, "")  # fmt: skip
        for at in study.points:
            for arm in study.arms:
                points = list(evidence.points(collection, Side(arm.name, at)).values())
                if not points:
                    continue
                best = evidence.best(collection, Side(arm.name, at)).values()
                weights = [f"{one.training.weight:g}" for one in best if one.training.weight is not None]
                worth = [point.mrr for point in points]
                yield Row(
                    collection, arm.name, at, points[0].qk, points[0].dk, mean(point.terms_q for point in points),
                    mean(point.terms_d for point in points), mean(point.flops for point in points), mean(worth),
                    max(worth) - min(worth), len(points), " ".join(weights),
                )  # fmt: skip


def looked(study: Study, evidence: Evidence) -> Iterator[Look]:
    """The looks that the study shows, of every arm at every weight."""
    for collection in evidence.collections:
        for arm in study.arms:
            trained = [one for seed in evidence.seeds(collection, arm.name)
                       for one in evidence.of_seed(collection, arm.name, seed)]  # fmt: skip
            for weight in dict.fromkeys(one.training.weight for one in trained):
                for shown in study.shown:
                    look, _, value = shown.partition(": ")
                    looks = [one.looks.get(look, {}) for one in trained if one.training.weight == weight]
                    found = [float(of[value]) for of in looks if value in of]
                    if found:
                        told = mean(found), min(found), max(found), len(found)
                        yield Look(collection, arm.name, weight, shown, *told)


def table_lines(study: Study, rows: Sequence[Row], looks: Sequence[Look], scale: Scale) -> Iterator[str]:
    yield f"# {study.title}: tables"
    yield ""
    yield f"{study.paper}. Scale `{scale.name}`. Means over seeds; (qk, dk) within a cost are those of the first seed."
    for collection in dict.fromkeys(row.collection for row in rows):
        yield from ("", f"## {collection}", "")
        columns = ["model", "point", "qk", "dk", "L0_q", "L0_d", "FLOPS", "MRR@10", "spread", "seeds", "weights"]
        yield from markdown_table(columns, (_cells(row) for row in rows if row.collection == collection))
        some = [one for one in looks if one.collection == collection]
        if some:
            yield ""
            shown = [name for name in study.shown if any(one.value == name for one in some)]
            columns = ["model", study.swept, *(name.partition(": ")[2] for name in shown)]
            yield from markdown_table(columns, _look_cells(some, shown))


def _look_cells(looks: Sequence[Look], shown: Sequence[str]) -> Iterator[list[str]]:
    for model, weight in dict.fromkeys((one.model, one.weight) for one in looks):
        of = {one.value: one for one in looks if (one.model, one.weight) == (model, weight)}
        cells = (f"{of[name].mean:.4g}" if name in of else "" for name in shown)
        yield [model, "" if weight is None else f"{weight:g}", *cells]


def _cells(row: Row) -> list[str]:
    return [
        row.model, row.point, f"{row.qk:g}", f"{row.dk}", f"{row.terms_q:.1f}", f"{row.terms_d:.1f}",
        f"{row.flops:.4f}", f"{row.mrr:.4f}", f"{row.spread:.4f}", f"{row.seeds}", row.weights,
    ]  # fmt: skip


def verdict_lines(study: Study, evidence: Evidence, decisions: dict[str, Decision], scale: Scale) -> Iterator[str]:
    yield f"# {study.title}: verdicts"
    yield ""
    yield (
        f"{study.paper}. Scale `{scale.name}`{'' if scale.decides else ', which never decides'}; collections: "
        f"{', '.join(evidence.collections) or 'none yet'}. A contrast needs {SEEDS} seeds of both sides, p < {ALPHA:g} "
        f"after Bonferroni's correction over {n_contrasts(study)} contrasts a collection, and a difference larger than "
        f"the spread of seeds; level means within {MARGIN:g}."
        + (f" {evidence.n_former} trainings of former plans are not counted." if evidence.n_former else "")
    )
    yield ""
    yield from markdown_table(
        ["claim", "what it says", "verdict", "why", "published (theirs)"],
        (
            [claim.id, claim.text, f"**{decisions[claim.id].verdict}**", decisions[claim.id].why, claim.published]
            for claim in study.claims
        ),
    )
    for claim in study.claims:
        if outcomes := decisions[claim.id].outcomes:
            yield from ("", f"## {claim.id}", "")
            for one in outcomes:
                mark = "as it says" if one.is_met else "otherwise" if one.is_contradicted else "open"
                seeds = f"seeds {one.seeds[0]} and {one.seeds[1]}"
                spread = "" if one.spread is None else f", spread {one.spread:.4g}"
                yield f"- {mark}: {described(one)}; {seeds}{spread}"


def draw_curves(study: Study, evidence: Evidence, out: Path) -> None:
    """MRR@10 over FLOPS of every arm, at the costs and cuts that were measured."""
    collections = evidence.collections
    figure, axes = new_figure(1, len(collections), (6.2 * len(collections), 4.4))
    for axis, collection in zip(axes[0], collections, strict=True):
        for number, arm in enumerate(study.arms):
            curve = []
            for at in study.points:
                points = evidence.points(collection, Side(arm.name, at)).values()
                if points and all(point.flops > 0 for point in points):
                    curve.append((mean(point.flops for point in points), mean(point.mrr for point in points)))
            if curve:
                axis.plot(*zip(*sorted(curve), strict=True), marker="o", markersize=3, color=f"C{number % 10}",
                          label=arm.name)  # fmt: skip
        reference = evidence.bm25(collection)
        if reference is not None and reference.flops > 0:
            axis.scatter([reference.flops], [reference.mrr], marker="*", s=140, color="black", label=BM25, zorder=5)
        axis.set(xscale="log", xlabel="FLOPS", ylabel="MRR@10", title=collection)
        finish(axis, legend=7)
    save_figure(figure, out / "curves.png", out / "curves.svg", dpi=110)

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
from lexigraft.core.folders import make_folders
from lexigraft.stages.tables import markdown_table, write_csv
from lexigraft.study.curves import draw_curves
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


class Trained(NamedTuple):
    """An arm at one weight, uncut: means over the seeds that were trained, whether or not its other weights were.
    `values` are of the looks that the study shows; those that collapsed count as finding nothing."""

    collection: str
    model: str
    weight: float | None
    seeds: int
    collapsed: int
    mrr: float
    terms_q: float | None
    terms_d: float | None
    flops: float | None
    values: dict[str, float]


def decisions_of(study: Study, evidence: Evidence, scale: Scale) -> dict[str, Decision]:
    return {claim.id: decide(claim, evidence, study, scale.decides) for claim in study.claims}


def write_outputs(out: Path, study: Study, evidence: Evidence, scale: Scale) -> dict[str, Any]:
    """Write everything anew from the finished trainings; returns what results.json holds."""
    decisions, rows = decisions_of(study, evidence, scale), list(table(study, evidence))
    trained = list(trained_of(study, evidence))
    make_folders(out)
    (out / "verdicts.md").write_text("\n".join(verdict_lines(study, evidence, decisions, scale)) + "\n", "utf-8")
    (out / "tables.md").write_text("\n".join(table_lines(study, rows, trained, scale)) + "\n", "utf-8")
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
                     "of b": of.b, "p": _six_digits(of.p), "spread": of.spread, "seeds": list(of.seeds)}
                    for of in one.outcomes
                ],
            }
            for name, one in decisions.items()
        },
        "rows": [row._asdict() for row in rows],
        "weights": [one._asdict() for one in trained],
        "trainings": [
            {**one.training._asdict(), "collapsed": one.collapsed, "looks": _without_curves(one.looks), **one.made_by}
            for one in evidence.finished
        ],
    }  # fmt: skip
    write_json(out / "results.json", results)
    return results


def _six_digits(p: float | None) -> float | None:
    """Digits that do not depend on the processor: further ones come out differently on x86 and ARM."""
    return None if p is None else float(f"{p:.6g}")


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


def trained_of(study: Study, evidence: Evidence) -> Iterator[Trained]:
    """Every arm at every weight that was trained."""
    for collection in evidence.collections:
        for arm in study.arms:
            for weight, of in evidence.by_weight(collection, arm.name).items():
                whole = [one.points[WHOLE] for one in of if WHOLE in one.points]
                values = {}
                for shown in study.shown:
                    look, _, value = shown.partition(": ")
                    found = [float(one.looks[look][value]) for one in of if value in one.looks.get(look, {})]
                    if found:
                        values[shown] = mean(found)
                yield Trained(
                    collection, arm.name, weight, len(of), sum(bool(one.collapsed) for one in of),
                    sum(point.mrr for point in whole) / len(of), _mean([point.terms_q for point in whole]),
                    _mean([point.terms_d for point in whole]), _mean([point.flops for point in whole]), values,
                )  # fmt: skip


def _mean(values: Sequence[float]) -> float | None:
    return mean(values) if values else None


def table_lines(study: Study, rows: Sequence[Row], trained: Sequence[Trained], scale: Scale) -> Iterator[str]:
    yield f"# {study.title}: tables"
    yield ""
    yield (
        f"{study.paper}. Scale `{scale.name}`. Means over seeds; (qk, dk) within a cost are those of the first seed; "
        "`spread` is the distance of the best seed from the worst."
    )
    for collection in dict.fromkeys([*(row.collection for row in rows), *(one.collection for one in trained)]):
        yield from ("", f"## {collection}", "")
        columns = ["model", "point", "qk", "dk", "L0_q", "L0_d", "FLOPS", "MRR@10", "spread", "seeds", "weights"]
        yield from markdown_table(columns, (_cells(row) for row in rows if row.collection == collection))
        some = [one for one in trained if one.collection == collection]
        if some:
            yield from ("", f"Every weight of `{study.swept}` that was trained, uncut:", "")
            shown = [name for name in study.shown if any(name in one.values for one in some)]
            named = (name.partition(": ")[2] for name in shown)
            columns = ["model", study.swept, "seeds", "collapsed", "L0_q", "L0_d", "FLOPS", "MRR@10", *named]
            yield from markdown_table(columns, (_trained_cells(one, shown) for one in some))


def _trained_cells(one: Trained, shown: Sequence[str]) -> list[str]:
    sizes = ("" if size is None else f"{size:.{digits}f}" for size, digits in
             ((one.terms_q, 1), (one.terms_d, 1), (one.flops, 4)))  # fmt: skip
    return [
        one.model, "" if one.weight is None else f"{one.weight:g}", f"{one.seeds}", f"{one.collapsed or ''}", *sizes,
        f"{one.mrr:.4f}", *(f"{one.values[name]:.4g}" if name in one.values else "" for name in shown),
    ]  # fmt: skip


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
        f"the spread of seeds; level means an interval that holds 0, within {MARGIN:g} of it, of other values than "
        "MRR@10 and W-AUC within a tenth."
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
        yield from ("", f"## {claim.id}", "", f"{claim.text} **{decisions[claim.id].verdict.capitalize()}**: "
                    f"{decisions[claim.id].why}.")  # fmt: skip
        if outcomes := decisions[claim.id].outcomes:
            yield ""
            for one in outcomes:
                mark = "as it says" if one.is_met else "otherwise" if one.is_contradicted else "open"
                seeds = f"seeds {one.seeds[0]} and {one.seeds[1]}"
                spread = "" if one.spread is None else f", spread {one.spread:.4g}"
                yield f"- {mark}: {described(one)}; {seeds}{spread}"

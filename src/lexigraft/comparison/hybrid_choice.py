"""How the two systems of a hybrid are fused: chosen by MRR@10 on validation queries, which neither of them trained on,
and kept with what each way is worth."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lexigraft.comparison.validation import (
    CHOSEN_BY,
    DEPTH,
    MEASURES,
    NoValidationQueriesError,
    ValidationQueries,
    validation_queries,
)
from lexigraft.core.artifact import Manifest, read_manifest, write_json
from lexigraft.core.config import settings_config
from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.core.settings import AUTO, HybridSettings
from lexigraft.core.systems import System
from lexigraft.core.systems_table import BM25, DENSE
from lexigraft.core.types import Ranking
from lexigraft.data.collection import QUERIES
from lexigraft.made_pairs.making import CUT_OUT
from lexigraft.measure.compare import PairedTest, paired_test
from lexigraft.measure.measures import measure
from lexigraft.search.hybrid import RRF, WEIGHTED, Fusion, HybridTextSearch
from lexigraft.search.weighted_fusion import MappedPair
from lexigraft.stages.cells import MeasuredOn
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.evaluate_text import judged_texts
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.layout import JUDGED
from lexigraft.stages.operating_point import read_operating_point
from lexigraft.stages.text_searches import (
    CHOICE,
    CHOICE_FORMAT,
    CHOICE_KIND,
    HybridChoice,
    open_text_search,
    read_choice,
    searched_path,
)

WEIGHTS = tuple(round(0.1 * tenth, 1) for tenth in range(11))
EVEN = Fusion(WEIGHTED, 0.5)

log = logging.getLogger(__name__)


def parts_of(run: FinishedRun, system: System, recommended: str = "") -> list[System]:
    """The two systems of a hybrid. Where its settings name none: BM25 and the dense one, where pairs are made and that
    one is taken as it comes, because neither has learned from them and many queries can choose; else the one that the
    run recommends, its first model or BM25, and beside it the dense one or, without one, BM25."""
    if names := system.settings.hybrid.of:
        return [run.system(name) for name in names]
    others = run.systems()
    kinds = {one.kind: one.name for one in reversed(others)}  # the first of each kind
    if run.settings.data.makes_pairs and {BM25, DENSE} <= kinds.keys():
        untaught = [run.system(kinds[BM25]), run.system(kinds[DENSE])]
        if _is_untaught(run, untaught):
            return untaught
    model = next((one.name for one in others if one.is_model), "")
    first = recommended or model or kinds.get(BM25, "")
    second = kinds.get(DENSE) or kinds.get(BM25, "")
    if first == second:  # BM25 is recommended, and there is nothing dense: a model is what may add to it
        second = model
    if not first or not second or first == second:
        raise SettingError(
            f"{system.name} is a hybrid of two systems, and this run has {', '.join(run.settings.run.systems)}; add "
            "dense to run.systems, or name two of them: hybrid.of"
        )
    return [run.system(first), run.system(second)]


def ensure_choice(run: FinishedRun, artifacts: Ensurer, system: System, parts: Sequence[System]) -> HybridChoice:
    """The choice for a hybrid of these parts, made now or before."""
    settings, names = system.settings.hybrid, [part.name for part in parts]
    try:
        queries, reason = shared_queries(run, parts), ""
    except NoValidationQueriesError as error:
        queries, reason = None, error.reason
    points = {part.name: read_operating_point(run.folder, part.name)[:2] for part in parts if part.is_sparse}
    said = {name: value for name, value in settings_config(settings).items() if name != "of"}
    config = {**said, "of": names, "points": {name: list(point) for name, point in points.items()}}
    parents = {name: fingerprint_at(searched_path(run.folder, JUDGED, name)) for name in names}
    parents["queries"] = run.collection.digest(QUERIES)
    if queries is not None:
        parents["judgements"] = queries.digest
    wanted = Manifest(CHOICE_KIND, CHOICE_FORMAT, config, parents)

    def make(out: Path) -> None:
        made = _chosen(run, settings, names, queries) if queries else _unmeasured(settings, names, reason)
        write_json(out / CHOICE, made._asdict())

    artifacts.ensure("evaluate", f"choose the fusion of {system.name}", run.folder.choice(system.name), wanted, make)
    found = read_choice(run.folder, system.name)
    log.info("%s: %s", system.name, found.why)
    return found


def shared_queries(run: FinishedRun, parts: Sequence[System]) -> ValidationQueries:
    """Those that no part trained on; raises where there are none."""
    if untaught := _untaught_queries(run, parts):
        return untaught
    found = [validation_queries(run, measured=False, system=part) for part in parts if part.learns]
    found = found or [validation_queries(run, measured=False)]
    of_all = set.intersection(*({qrel.query_id for qrel in one.qrels} for one in found))
    kept = [qrel for qrel in found[0].qrels if qrel.query_id in of_all]
    if not any(qrel.relevance > 0 for qrel in kept):
        reason = "no judged query was held out of the training of both systems"
        raise NoValidationQueriesError(reason, "give both the same finetune.validation_queries, or add qrels/dev.tsv")
    return found[0]._replace(qrels=kept)


def _untaught_queries(run: FinishedRun, parts: Sequence[System]) -> ValidationQueries | None:
    """Made queries of all documents, many more than are held out, where no part has learned from made pairs: BM25, and
    an encoder that was taken as it comes. None where a part has, or there are no such queries."""
    if not run.settings.data.makes_pairs or CUT_OUT not in run.collection.splits:
        return None
    if not _is_untaught(run, parts):
        return None
    qrels = run.collection.qrels(CUT_OUT)
    return ValidationQueries("made queries that neither of them trained on", CUT_OUT, qrels) if qrels else None


def _is_untaught(run: FinishedRun, parts: Sequence[System]) -> bool:
    """Whether none of these systems has learned from the run's pairs: BM25, and an encoder as it comes."""
    for part in parts:
        trained = read_manifest(run.folder.of(part).model(part.trained_part)) if part.kind == DENSE else None
        if part.kind != BM25 and (trained is None or trained.config.get("trains", True)):
            return False
    return True


def fusions(settings: HybridSettings) -> list[Fusion]:
    """Those that the settings leave to choose from."""
    weights = WEIGHTS if settings.weight == AUTO else (float(settings.weight),)
    sums = [Fusion(WEIGHTED, weight) for weight in weights] if settings.method != RRF else []
    return [*sums, Fusion(RRF)] if settings.method != WEIGHTED else sums


def compare_fusions(
    candidates: Sequence[tuple[Ranking, ...]], judged: dict[str, dict[str, int]], among: Sequence[Fusion]
) -> list[dict[str, Any]]:
    """What each way to fuse the rankings of all queries is worth, in order."""
    pairs = [MappedPair(rankings) for rankings in candidates]

    def fused(fusion: Fusion) -> Iterator[Ranking]:
        if fusion.method == RRF:
            return (fusion.fuse(rankings, DEPTH) for rankings in candidates)
        return (pair.fused(fusion.weight, DEPTH) for pair in pairs)

    return [
        {
            "method": fusion.method,
            "weight": fusion.weight if fusion.method == WEIGHTED else None,
            **{item.measure: item.mean for item in measure(list(fused(fusion)), judged, MEASURES)},
        }
        for fusion in among
    ]


def best_of(among: Sequence[Fusion], looked_at: Sequence[dict[str, Any]]) -> int:
    """The place of the highest MRR@10; of equals, the weighted sum that is nearest to even."""

    def key(place: int) -> tuple[float, bool, float]:
        fusion = among[place]
        return looked_at[place][CHOSEN_BY], fusion.method == WEIGHTED, -abs(fusion.weight - EVEN.weight)

    return max(range(len(among)), key=key)


def _chosen(run: FinishedRun, settings: HybridSettings, names: list[str], on: ValidationQueries) -> HybridChoice:
    parts, among = [open_text_search(run.folder, JUDGED, name) for name in names], fusions(settings)
    opened = HybridTextSearch(names, parts, EVEN, settings.depth)
    queries, judged = judged_texts(MeasuredOn(run.collection, on.split), opened, on.qrels)
    encoded = opened.encode_all([query.text for query in queries])
    candidates = opened.candidates(encoded, [query.query_id for query in queries])
    looked_at = compare_fusions(candidates, judged, among)
    at = best_of(among, looked_at)
    best = among[at]
    kind = on.described if "queries" in on.described else f"{on.described} queries"
    how = f"best of {len(among)} by MRR@10" if len(among) > 1 else "as set"
    why = (
        f"{' and '.join(names)} fused by {best.described}: {how} on {len(queries):,} {kind} "
        f"({looked_at[at][CHOSEN_BY]:.4f}{_alone(names, among, looked_at)})"
    )
    test = against_first(candidates, judged, best)
    return HybridChoice(
        names, best.method, best.weight, settings.depth, why, len(queries), looked_at, test.difference, test.p
    )


def against_first(
    candidates: Sequence[tuple[Ranking, ...]], judged: dict[str, dict[str, int]], fusion: Fusion
) -> PairedTest:
    """The paired test over queries of MRR@10: two systems fused against the first of them alone."""
    fused = [fusion.fuse(rankings, DEPTH) for rankings in candidates]
    (ours,), (alone,) = (
        measure(rankings, judged, (CHOSEN_BY,)) for rankings in (fused, [first for first, *_ in candidates])
    )
    return paired_test([ours.per_query[query] - alone.per_query[query] for query in ours.per_query])


def _alone(names: Sequence[str], among: Sequence[Fusion], looked_at: Sequence[dict[str, Any]]) -> str:
    """What each system is worth by itself, where that was looked at."""
    worth = {
        fusion.weight: row[CHOSEN_BY] for fusion, row in zip(among, looked_at, strict=True) if fusion.method != RRF
    }
    if 0.0 not in worth or 1.0 not in worth:
        return ""
    return f"; alone: {names[0]} {worth[1.0]:.4f}, {names[1]} {worth[0.0]:.4f}"


def _unmeasured(settings: HybridSettings, names: list[str], reason: str) -> HybridChoice:
    """What the settings say or, where they leave it open, reciprocal ranks, which have nothing to choose."""
    among = fusions(settings)
    best = among[0] if len(among) == 1 else Fusion(RRF) if settings.method != WEIGHTED else EVEN
    how = "as set" if len(among) == 1 else f"nothing was chosen: {reason}"
    return HybridChoice(
        names, best.method, best.weight, settings.depth, f"{' and '.join(names)} fused by {best.described}; {how}"
    )


def fingerprint_at(path: Path) -> str:
    """That of what lies at `path`."""
    found = read_manifest(path)
    if found is None:
        raise ArtifactError(f"there is nothing to search at {path}; continue the run with the command that began it")
    return found.fingerprint

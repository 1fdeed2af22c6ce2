"""TREC run files of several systems to one, by reciprocal rank fusion, Borda count, or a weighted sum of scores."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.plain_files import written_aside
from lexigraft.core.types import Ranking
from lexigraft.measure.trec import read_run, write_run
from lexigraft.search.borda import USUAL_DEPTH, check_borda, count_borda_runs
from lexigraft.search.fusion import USUAL_K, by_query, check_fusion, fuse_runs
from lexigraft.search.weighted_fusion import weighted_sum

RRF, BORDA, WEIGHTED = "rrf", "borda", "weighted"
METHODS = (RRF, BORDA, WEIGHTED)
EVEN = 0.5

log = logging.getLogger(__name__)


class Fused(NamedTuple):
    runs: int
    queries: int
    documents: int


def fuse_files(
    paths: Sequence[Path],
    out: Path,
    k: float | None = None,
    weights: Sequence[float] | None = None,
    depth: int | None = None,
    method: str = RRF,
    borda_depth: int | None = None,
) -> Fused:
    """Fuse the runs at `paths` to `out`, which appears whole or not at all: with `k` and `weights` by reciprocal ranks,
    with `borda_depth` by points, or two of them by scores, with the weight of the first. What is not given is as usual;
    what belongs to another method is an error, and so are runs over different documents."""
    if len(paths) < 2:
        raise SettingError(f"{len(paths)} run files are given: a fusion needs two or more")
    _require_method(method, k, weights, borda_depth)
    k, borda_depth = USUAL_K if k is None else k, USUAL_DEPTH if borda_depth is None else borda_depth
    share = _share_of_first(len(paths), weights) if method == WEIGHTED else EVEN
    check_fusion(len(paths), k, None if method == WEIGHTED else weights, depth)
    check_borda(borda_depth, depth)
    if out.is_dir():
        raise ArtifactError(f"{out} is a folder; give the name of a file for the run")
    runs = [read_run(path) for path in paths]
    _warn_of_missing_queries(paths, [{ranking.query_id for ranking in run} for run in runs])
    _require_same_documents(paths, runs)
    if method == WEIGHTED:
        fused = [weighted_sum(rankings, share, depth) for rankings in by_query(runs)]
    else:
        fused = fuse_runs(runs, k, weights, depth) if method == RRF else count_borda_runs(runs, borda_depth, depth)
    with written_aside(out) as aside, aside.open("w", encoding="utf-8") as file:
        write_run(file, fused, method, form="")  # all digits: with a large k, neighbours differ in the last ones
    return Fused(len(runs), len(fused), sum(len(ranking.doc_ids) for ranking in fused))


def _require_method(method: str, k: float | None, weights: Sequence[float] | None, borda_depth: int | None) -> None:
    if method not in METHODS:
        raise SettingError(f"method {method!r} is not known: {' or '.join(METHODS)}")
    of_others: dict[str, dict[str, object]] = {
        RRF: {"borda-depth": borda_depth},
        BORDA: {"k": k, "weight": weights},
        WEIGHTED: {"k": k, "borda-depth": borda_depth},
    }
    others = of_others[method]
    if given := [name for name, value in others.items() if value is not None]:
        raise SettingError(f"--{given[0]} does not go with --method {method}; leave it out")


def _share_of_first(n_runs: int, weights: Sequence[float] | None) -> float:
    """The first run's part of a weighted sum of two."""
    if n_runs != 2:
        raise SettingError(f"{n_runs} run files are given: --method {WEIGHTED} is of two; take {RRF} for more")
    if weights is None:
        return EVEN
    if len(weights) != 1 or not 0 <= weights[0] <= 1:
        raise SettingError(
            f"--weight {', '.join(map(str, weights))} is not allowed with --method {WEIGHTED}: one number from 0 to 1, "
            "the first run's; the second has the rest"
        )
    return weights[0]


def _require_same_documents(paths: Sequence[Path], runs: Sequence[Sequence[Ranking]]) -> None:
    """Raise where a run has no document in common with the first one, in all of their rankings together."""
    ranked = [{doc_id for ranking in run for doc_id in ranking.doc_ids} for run in runs]
    for path, found in zip(paths[1:], ranked[1:], strict=True):
        if found and ranked[0] and found.isdisjoint(ranked[0]):
            raise InputError(
                f"{paths[0]} and {path} have no document in common (such as {min(ranked[0])} and {min(found)}): they "
                "are over different documents, and cannot be fused; rank the same collection with both"
            )


def _warn_of_missing_queries(paths: Sequence[Path], query_ids: Sequence[set[str]]) -> None:
    everything = set().union(*query_ids)
    for path, found in zip(paths, query_ids, strict=True):
        if absent := sorted(everything - found):
            message = "%s has no ranking for %d of %d queries (such as %s), which the others rank alone"
            log.warning(message, path, len(absent), len(everything), absent[0])

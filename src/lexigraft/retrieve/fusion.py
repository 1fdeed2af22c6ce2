"""TREC run files of several systems to one, by reciprocal rank fusion or Borda count."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.measure.trec import read_run, write_run
from lexigraft.search.borda import USUAL_DEPTH, check_borda, count_borda_runs
from lexigraft.search.fusion import USUAL_K, check_fusion, fuse_runs

RRF, BORDA = "rrf", "borda"
METHODS = (RRF, BORDA)

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
    with `borda_depth` by points. What is not given is as usual; what belongs to the other method is an error."""
    if len(paths) < 2:
        raise SettingError(f"{len(paths)} run files are given: a fusion needs two or more")
    _require_method(method, k, weights, borda_depth)
    k, borda_depth = USUAL_K if k is None else k, USUAL_DEPTH if borda_depth is None else borda_depth
    check_fusion(len(paths), k, weights, depth)
    check_borda(borda_depth, depth)
    if out.is_dir():
        raise ArtifactError(f"{out} is a folder; give the name of a file for the run")
    runs = [read_run(path) for path in paths]
    _warn_of_missing_queries(paths, [{ranking.query_id for ranking in run} for run in runs])
    fused = fuse_runs(runs, k, weights, depth) if method == RRF else count_borda_runs(runs, borda_depth, depth)
    out.parent.mkdir(parents=True, exist_ok=True)
    aside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with aside.open("w", encoding="utf-8") as file:
            write_run(file, fused, method, form="")  # all digits: with a large k, neighbours differ in the last ones
        aside.replace(out)
    finally:
        aside.unlink(missing_ok=True)
    return Fused(len(runs), len(fused), sum(len(ranking.doc_ids) for ranking in fused))


def _require_method(method: str, k: float | None, weights: Sequence[float] | None, borda_depth: int | None) -> None:
    if method not in METHODS:
        raise SettingError(f"method {method!r} is not known: {' or '.join(METHODS)}")
    others = {"k": k, "weight": weights} if method == BORDA else {"borda-depth": borda_depth}
    if given := [name for name, value in others.items() if value is not None]:
        raise SettingError(f"--{given[0]} does not go with --method {method}; leave it out")


def _warn_of_missing_queries(paths: Sequence[Path], query_ids: Sequence[set[str]]) -> None:
    everything = set().union(*query_ids)
    for path, found in zip(paths, query_ids, strict=True):
        if absent := sorted(everything - found):
            message = "%s has no ranking for %d of %d queries (such as %s), which the others rank alone"
            log.warning(message, path, len(absent), len(everything), absent[0])

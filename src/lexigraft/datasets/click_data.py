"""From click logs to a collection with train, dev and test queries (D2): read, filter, correct, cluster, draw."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.artifact import Manifest, hash_file, require_replaceable, write_artifact, write_json
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import AUTO
from lexigraft.data.clicks.automatic_sizes import clusters_for, sizes_for
from lexigraft.data.clicks.log import ClickLog, ClickPair, filter_pairs, labelled_pairs, read_click_log
from lexigraft.data.clicks.propensity import label_pairs, propensities
from lexigraft.data.clicks.sets import ClickSet, make_sets
from lexigraft.data.clicks.settings import ClickFilter, Columns, Correction
from lexigraft.datasets.click_files import SETS, write_click_files
from lexigraft.datasets.query_clusters import choose_backbone, cluster_queries, require_enough, require_sklearn

KIND, FORMAT_VERSION = "click-data", 2  # 1 had only the sets in their folders, and no collection of all of them

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ClickDataSettings:
    """Everything that decides what comes out of a log. `sizes` has fields of `SetSizes`; those that it lacks, and the
    number of clusters where it is None, follow the number of queries (`data.clicks.automatic_sizes`)."""

    columns: Columns = field(default_factory=Columns)
    keep: ClickFilter = field(default_factory=ClickFilter)
    correction: Correction = field(default_factory=Correction)
    sizes: Mapping[str, int] = field(default_factory=dict)
    clusters: int | None = None
    backbone: str = AUTO
    seed: int = 0


def make_click_data(
    source: Path, more: Sequence[Path], settings: ClickDataSettings, out: Path, progress: Progress = SILENT
) -> dict[str, Any]:
    """Write the collection and its sets to `out`, one artifact, and return its report. `more` are logs that only
    train."""
    require_replaceable(out)
    require_sklearn()
    backbone = choose_backbone(settings.backbone)
    clicks = read_click_log([source], settings.columns, settings.keep.max_position, progress)
    further = read_click_log(more, settings.columns, settings.keep.max_position, progress) if more else None
    propensity = propensities(clicks, settings.correction)
    pairs, facts = _pairs(clicks, settings, propensity)
    if not pairs:
        raise InputError(
            f"{source}: none of {clicks.n_pairs:,} pairs on {clicks.lines:,} lines is left by the filter "
            f"({_reasons(facts)}); relax it with --max-position, --min-clicks or --min-documents"
        )
    further_pairs, further_facts = _pairs(further, settings, propensity) if further else ([], None)
    queries = dict(sorted({pair.query_id: pair.query for pair in pairs}.items()))
    clusters = clusters_for(len(queries)) if settings.clusters is None else settings.clusters
    require_enough(len(queries), clusters)
    sizes = sizes_for(len(queries), clusters, settings.sizes)
    found = cluster_queries(list(queries.values()), clusters, backbone, settings.seed, progress)
    cluster_of = dict(zip(queries, found.tolist(), strict=True))
    sets = make_sets(pairs, cluster_of, sizes, further_pairs, settings.seed)
    report = {
        "log": facts, "more": further_facts, "backbone": backbone,
        "correction": {
            **asdict(settings.correction), "propensities": None if propensity is None else propensity.tolist(),
        },
        "clusters": _cluster_facts(cluster_of, clusters, sets.short_clusters),
        "sizes": asdict(sizes),
        "dropped_pairs": dict(sets.dropped),
        "sets": {name: _set_facts(getattr(sets, part)) for name, part, _ in SETS},
    }  # fmt: skip
    config = {**asdict(settings), "backbone": backbone, "clusters": clusters, "sizes": asdict(sizes)}
    del config["seed"]
    parents = {"log": hash_file(source), **{f"more-{n}": hash_file(path) for n, path in enumerate(more, 1)}}
    with write_artifact(out, Manifest(KIND, FORMAT_VERSION, config, parents, settings.seed)) as draft:
        write_click_files(draft, sets, cluster_of)
        write_json(draft / "report.json", report)
    return report


def _pairs(clicks: ClickLog, settings: ClickDataSettings, propensity: Any) -> tuple[list[ClickPair], dict[str, Any]]:
    """The labelled pairs that pass the filter, and the counts of everything on the way."""
    kept = filter_pairs(clicks, settings.keep)
    labels = label_pairs(clicks, propensity, settings.correction.max_weight, kept.pairs)
    if labels.clipped:
        log.info("%d clicked positions of kept pairs had their weight cut to the maximum", labels.clipped)
    facts = {
        "lines": clicks.lines, "dropped_lines": dict(clicks.dropped), "documents_with_several_titles":
        clicks.several_titles, "pairs": clicks.n_pairs, "dropped_pairs": kept.dropped, "kept_pairs": len(kept.pairs),
        "clipped_weights": labels.clipped,
    }  # fmt: skip
    return labelled_pairs(clicks, kept.pairs, labels.labels), facts


def _reasons(facts: Mapping[str, Any]) -> str:
    counted = {**facts["dropped_lines"], **facts["dropped_pairs"]}
    return ", ".join(f"{reason}: {count:,}" for reason, count in counted.items() if count)


def _cluster_facts(cluster_of: Mapping[str, int], wanted: int, short: int) -> dict[str, Any]:
    sizes = sorted(Counter(cluster_of.values()).values(), reverse=True)
    return {
        "wanted": wanted, "filled": len(sizes), "short": short, "largest": sizes[0], "smallest": sizes[-1],
        "median": float(np.median(sizes)), "sizes": sizes,
    }  # fmt: skip


def _set_facts(part: ClickSet) -> dict[str, Any]:
    """Of the positive pairs; of the distractors; and `with_distractors`, of both together, as the paper's tables have
    them: its test queries and documents include the distractors."""
    asked = {pair.query_id for pair in part.positives}
    distractors = {query.query_id for query in part.distractor_queries}
    return {
        **_pair_facts(part.positives, asked),
        "distractor_queries": len(part.distractor_queries),
        "distractor_pairs": len(part.distractors),
        "distractor_documents": len({pair.doc_id for pair in part.distractors}),
        "with_distractors": _pair_facts([*part.positives, *part.distractors], asked | distractors),
    }


def _pair_facts(pairs: Sequence[ClickPair], queries: Set[str]) -> dict[str, Any]:
    """The columns of the paper's tables. A distractor query that lost all its pairs is a query of the set all the same,
    so `queries` are given."""
    documents = len({pair.doc_id for pair in pairs})
    return {
        "pairs": len(pairs),
        "unique_titles": len({pair.title for pair in pairs}),
        "queries": len(queries),
        "documents": documents,
        "docs_per_query": len(pairs) / len(queries) if queries else 0.0,
        "queries_per_doc": len(pairs) / documents if documents else 0.0,
    }

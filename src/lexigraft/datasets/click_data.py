"""From click logs to a testset, a validset and two trainsets (D2): read, filter, correct, cluster, draw, write."""

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
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.clicks.log import ClickLog, ClickPair, filter_pairs, labelled_pairs, read_click_log
from lexigraft.data.clicks.propensity import label_pairs, propensities
from lexigraft.data.clicks.sets import ClickSet, ClickSets, make_sets
from lexigraft.data.clicks.settings import ClickFilter, Columns, Correction, SetSizes
from lexigraft.data.write import write_collection
from lexigraft.datasets.query_clusters import choose_backbone, cluster_queries, require_enough, require_sklearn

KIND, FORMAT_VERSION = "click-data", 1
CLUSTERS_FILE, DISTRACTOR = "clusters.tsv", "distractor"
# Folder, field of `ClickSets`, name of its judgements.
SETS = (
    ("testset", "test", "test"), ("validset", "valid", "dev"),
    ("trainset-small", "train_small", "train"), ("trainset", "train", "train"),
)  # fmt: skip

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ClickDataSettings:
    """Everything that decides what comes out of a log."""

    columns: Columns = field(default_factory=Columns)
    keep: ClickFilter = field(default_factory=ClickFilter)
    correction: Correction = field(default_factory=Correction)
    sizes: SetSizes = field(default_factory=SetSizes)
    clusters: int = 10_000
    backbone: str = AUTO
    seed: int = 0


def make_click_data(
    source: Path, more: Sequence[Path], settings: ClickDataSettings, out: Path, progress: Progress = SILENT
) -> dict[str, Any]:
    """Write the four sets under `out`, one artifact, and return its report. `more` are logs that only train."""
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
    require_enough(len(queries), settings.clusters)
    found = cluster_queries(list(queries.values()), settings.clusters, backbone, settings.seed, progress)
    cluster_of = dict(zip(queries, found.tolist(), strict=True))
    sets = make_sets(pairs, cluster_of, settings.sizes, further_pairs, settings.seed)
    report = {
        "log": facts, "more": further_facts, "backbone": backbone,
        "correction": {
            **asdict(settings.correction), "propensities": None if propensity is None else propensity.tolist(),
        },
        "clusters": _cluster_facts(cluster_of, settings.clusters, sets.short_clusters),
        "dropped_pairs": dict(sets.dropped),
        "sets": {name: _set_facts(getattr(sets, part)) for name, part, _ in SETS},
    }  # fmt: skip
    config = {**asdict(settings), "backbone": backbone}
    del config["seed"]
    parents = {"log": hash_file(source), **{f"more-{n}": hash_file(path) for n, path in enumerate(more, 1)}}
    with write_artifact(out, Manifest(KIND, FORMAT_VERSION, config, parents, settings.seed)) as draft:
        _write_sets(draft, sets, cluster_of)
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


def _write_sets(folder: Path, sets: ClickSets, cluster_of: Mapping[str, int]) -> None:
    for name, part, split in SETS:
        _write_set(folder / name, getattr(sets, part), split, cluster_of)


def _write_set(folder: Path, part: ClickSet, split: str, cluster_of: Mapping[str, int]) -> None:
    """BEIR layout; a document is its title. Queries of further logs have no cluster."""
    every = [*part.positives, *part.distractors]
    queries = {pair.query_id: pair.query for pair in every} | dict(part.distractor_queries)
    titles = {pair.doc_id: pair.title for pair in every}
    qrels = {split: [_qrel(pair) for pair in part.positives]}
    if part.distractor_queries:
        qrels[DISTRACTOR] = [_qrel(pair) for pair in part.distractors]
    write_collection(
        folder,
        (Document(doc_id, title, "") for doc_id, title in sorted(titles.items())),
        (Query(*query) for query in sorted(queries.items())),
        qrels,
    )
    with (folder / CLUSTERS_FILE).open("w", encoding="utf-8") as file:
        file.write("query-id\tcluster\n")
        file.writelines(f"{query}\t{cluster_of[query]}\n" for query in sorted(queries) if query in cluster_of)


def _qrel(pair: ClickPair) -> Qrel:
    return Qrel(pair.query_id, pair.doc_id, pair.label)

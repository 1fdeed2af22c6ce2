"""What is written of a click log: one collection of all its queries and documents, and the paper's sets in folders.

The collection has the splits train, dev and test, so that a run trains on the first, chooses by the second and reports
the third. Documents of distractors are in its corpus, too; what was clicked for their queries, which neither train nor
are measured, is the split "distractor".
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.clicks.log import ClickPair
from lexigraft.data.clicks.sets import ClickSet, ClickSets
from lexigraft.data.write import write_collection

CLUSTERS_FILE, DISTRACTOR = "clusters.tsv", "distractor"
# Folder, field of `ClickSets`, name of its judgements.
SETS = (
    ("testset", "test", "test"), ("validset", "valid", "dev"),
    ("trainset-small", "train_small", "train"), ("trainset", "train", "train"),
)  # fmt: skip
JOINED = ("testset", "validset", "trainset")  # trainset-small is a part of the last


def write_click_files(folder: Path, sets: ClickSets, cluster_of: Mapping[str, int]) -> None:
    """Write the collection into `folder`, and each set into a folder below it, all in BEIR layout."""
    joined: dict[str, list[ClickPair]] = {}
    distractor_queries: list[Query] = []
    for name, part, split in SETS:
        one: ClickSet = getattr(sets, part)
        judged = {split: list(one.positives)}
        if one.distractor_queries:
            judged[DISTRACTOR] = list(one.distractors)
        _write(folder / name, judged, one.distractor_queries, cluster_of)
        if name in JOINED:
            for of_split, pairs in judged.items():
                joined.setdefault(of_split, []).extend(pairs)
            distractor_queries += one.distractor_queries
    _write(folder, {split: sorted(joined[split]) for split in sorted(joined)}, distractor_queries, cluster_of)


def _write(
    folder: Path,
    judged: Mapping[str, list[ClickPair]],
    distractor_queries: Iterable[Query],
    cluster_of: Mapping[str, int],
) -> None:
    """A document is its title: of several that logs have, the alphabetically first. Distractor queries may have lost
    all their pairs. Queries of further logs have no cluster."""
    queries, titles = dict(distractor_queries), dict[str, str]()
    for pairs in judged.values():
        for pair in pairs:
            queries[pair.query_id] = pair.query
            titles[pair.doc_id] = min(pair.title, titles.get(pair.doc_id, pair.title))
    write_collection(
        folder,
        (Document(doc_id, title, "") for doc_id, title in sorted(titles.items())),
        (Query(*query) for query in sorted(queries.items())),
        {split: [_qrel(pair) for pair in pairs] for split, pairs in judged.items()},
    )
    with (folder / CLUSTERS_FILE).open("w", encoding="utf-8") as file:
        file.write("query-id\tcluster\n")
        file.writelines(f"{query}\t{cluster_of[query]}\n" for query in sorted(queries) if query in cluster_of)


def _qrel(pair: ClickPair) -> Qrel:
    return Qrel(pair.query_id, pair.doc_id, pair.label)

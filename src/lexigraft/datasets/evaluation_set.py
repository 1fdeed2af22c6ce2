"""From a judged collection to an evaluation set with hard negatives (D3): read, cluster where needed, choose, write."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest, hash_file, require_replaceable, write_artifact, write_json
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Document, Qrel
from lexigraft.data.clicks.automatic_sizes import clusters_for
from lexigraft.data.clicks.background import Background
from lexigraft.data.clicks.evalset import TERCILES, EvalSet, make_evalset, write_evalset
from lexigraft.data.clicks.settings import EvalSettings
from lexigraft.data.collection import CORPUS, Collection, open_collection
from lexigraft.data.reading import Reading
from lexigraft.data.sources import open_source
from lexigraft.datasets.click_files import CLUSTERS_FILE
from lexigraft.datasets.query_clusters import choose_backbone, cluster_queries
from lexigraft.vocab.words import split_words

KIND, FORMAT_VERSION = "evaluation-set", 1


def make_evaluation_set(
    folder: Path,
    split: str,
    settings: EvalSettings,
    clusters: int | None,
    backbone: str,
    seed: int,
    out: Path,
    progress: Progress = SILENT,
    background: Sequence[str] = (),
) -> dict[str, Any]:
    """Write the evaluation set of the collection at `folder` to `out` and return its report.

    Queries judged in `split` (auto: test, dev or train) are candidates. The judgements of all splits tell which
    documents belong to a cluster. Clusters are those of clusters.tsv or, where there is none, `clusters` new ones; for
    None their number follows that of the queries. The documents of the collections `background` join the corpus.
    """
    require_replaceable(out)
    if not any(folder.glob("corpus.jsonl*")) and (folder / "testset").is_dir():
        raise InputError(f"{folder} holds several sets; give one of them, such as {folder / 'testset'}")
    collection = open_collection(folder)
    behind = [_open_background(source) for source in background]
    wanted = {qrel.query_id for qrel in collection.qrels(_split(collection, split)) if qrel.relevance > 0}
    positives = [qrel for name in collection.splits for qrel in collection.qrels(name) if qrel.relevance > 0]
    judged, named = {qrel.query_id for qrel in positives}, {qrel.doc_id for qrel in positives}
    queries = {query.query_id: query.text for query in collection.queries() if query.query_id in judged}
    documents = {
        document.doc_id: document
        for document in progress.track(collection.documents(), "reading documents")
        if document.doc_id in named
    }
    has_clusters, used = (folder / CLUSTERS_FILE).is_file(), None
    if has_clusters:
        cluster_of = read_clusters(folder / CLUSTERS_FILE)
    else:
        used, ids = choose_backbone(backbone), sorted(queries)
        clusters = clusters_for(len(ids)) if clusters is None else clusters
        found_clusters = cluster_queries([queries[name] for name in ids], clusters, used, seed, progress)
        cluster_of = dict(zip(ids, found_clusters.tolist(), strict=True))
    texts = {doc_id: document.contents for doc_id, document in documents.items()}
    found = make_evalset(queries, texts, positives, cluster_of, _terms, settings, seed, wanted, progress)
    terciles = Counter(triplet.tercile for triplet in found.triplets)
    report = {
        "queries": len(found.triplets), "candidates": found.candidates, "complete": found.complete,
        "dropped_queries": dict(found.dropped), "positives_of_unknown_documents": found.unknown_documents,
        "positives": sum(len(triplet.positives) for triplet in found.triplets),
        "negatives": sum(len(triplet.negatives) for triplet in found.triplets),
        "clusters": len({triplet.cluster for triplet in found.triplets}),
        "terciles": {
            name: {"queries": terciles[name], **_ratios([t.ratio for t in found.triplets if t.tercile == name])}
            for name in TERCILES
        },
    }  # fmt: skip
    config = {
        **asdict(settings), "split": split, "clusters": None if has_clusters else clusters, "backbone": used,
        "background": [one.name for one in behind],
    }  # fmt: skip
    parents = dict(collection.description()["files"])
    parents |= {f"background-{number}": one.digest(CORPUS) for number, one in enumerate(behind, 1)}
    if has_clusters:
        parents[CLUSTERS_FILE] = hash_file(folder / CLUSTERS_FILE)
    with write_artifact(out, Manifest(KIND, FORMAT_VERSION, config, parents, seed)) as draft:
        added = Background(
            behind, (documents[doc] for doc in found.doc_ids), _unjudged(found, positives, documents), progress
        )
        write_evalset(draft, found, queries, documents, added.documents())
        report["documents"] = len(found.doc_ids) + sum(one.added for one in added.added)
        report["background"] = [asdict(one) for one in added.added]
        write_json(draft / "report.json", report)
    return report


def _open_background(source: str) -> Collection:
    """Ids may repeat there: documents that came before are left out and counted, whatever collection they came in."""
    return open_source(source, Reading(on_duplicate="keep"))


def _unjudged(found: EvalSet, positives: Iterable[Qrel], documents: Mapping[str, Document]) -> Iterator[Document]:
    """The known positives of the set's queries that are not in it."""
    asked, judged = {triplet.query_id for triplet in found.triplets}, set(found.doc_ids)
    wanted = {qrel.doc_id for qrel in positives if qrel.query_id in asked} - judged
    return (documents[doc] for doc in sorted(wanted & documents.keys()))


def _terms(text: str) -> set[str]:
    return set(split_words(text))


def _ratios(ratios: list[float]) -> dict[str, float]:
    return {"lowest_ratio": min(ratios), "mean_ratio": sum(ratios) / len(ratios), "highest_ratio": max(ratios)}


def _split(collection: Collection, wanted: str) -> str:
    found = collection.evaluation_split(wanted) or "train"
    collection.qrels(found)  # raises, naming those present, where it has no judgements
    return found


def read_clusters(path: Path) -> dict[str, int]:
    """The cluster of each query: query-id <tab> cluster, with a header line."""
    found: dict[str, int] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fields = line.split("\t")
        try:
            query, cluster = fields
            found[query] = int(cluster)
        except ValueError:
            if number > 1:
                raise InputError(f"{path}:{number}: expected query-id and a cluster's number, found {line!r}") from None
    return found

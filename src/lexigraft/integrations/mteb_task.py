"""A collection of one's own as a retrieval task of MTEB, for our models and all others that MTEB runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.data.collection import Collection
from lexigraft.data.sources import open_source
from lexigraft.integrations.missing import missing_framework
from lexigraft.measure.measures import judgements

try:
    from datasets import Dataset
    from mteb.abstasks.retrieval import AbsTaskRetrieval
    from mteb.abstasks.task_metadata import TaskMetadata
except ImportError as error:
    raise missing_framework("lexigraft.integrations.mteb_task", "mteb", "mteb", error) from error

MEASURE = "ndcg_at_10"
NOT_SAID = (
    "reference", "date", "domains", "task_subtypes", "license", "annotations_creators", "dialect", "sample_creation",
    "bibtex_citation",
)  # fmt: skip


def task_of(
    data: str | Path, split: str = "auto", name: str | None = None, languages: Sequence[str] = ("eng-Latn",)
) -> AbsTaskRetrieval:
    """The judged queries of a split of a collection, given as to `lexigraft run --data`, over its documents. `name`:
    under which MTEB keeps results; the folder's without one. Its texts are held in memory."""
    collection = open_source(str(data))
    chosen = collection.evaluation_split(split)
    if chosen is None:
        raise InputError(f"{data} has no test or dev judgements; name others by split")
    given = TaskMetadata(
        name=name or _name_of(data), description=f"The collection {data}", type="Retrieval", category="t2t",
        modalities=["text"], dataset={"path": "local", "revision": collection.digest("corpus")[:12] or "none"},
        eval_splits=[chosen], eval_langs=list(languages), main_score=MEASURE, **dict.fromkeys(NOT_SAID),
    )  # fmt: skip
    return type("CollectionTask", (_CollectionTask,), {"metadata": given, "collection": collection})()


class _CollectionTask(AbsTaskRetrieval):
    """MTEB asks a task's class for its metadata, and so each task has one."""

    collection: Collection

    def load_data(self, *given: Any, **named: Any) -> None:
        (split,) = self.metadata.eval_splits
        judged = judgements(self.collection.qrels(split))
        documents = [{"id": one.doc_id, "title": one.title, "text": one.text} for one in self.collection.documents()]
        queries = [
            {"id": one.query_id, "text": one.text} for one in self.collection.queries() if one.query_id in judged
        ]
        if not queries:
            raise InputError(f"{self.metadata.name} has no judged queries in {split}; name another split")
        self.dataset = {"default": {split: {
            "corpus": Dataset.from_list(documents), "queries": Dataset.from_list(queries), "relevant_docs": judged,
            "top_ranked": None,
        }}}  # fmt: skip
        self.data_loaded = True  # so that it is not asked again


def _name_of(data: str | Path) -> str:
    return "".join(char if char.isalnum() else "_" for char in Path(data).resolve().name) or "collection"

"""MTEB: BM25, or a model, as a search model of its retrieval and reranking tasks."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lexigraft import __version__
from lexigraft.core.artifact import read_manifest
from lexigraft.core.config import load_settings
from lexigraft.core.cut import DocumentCut, QueryCut, document_cut, query_cut
from lexigraft.core.errors import InputError, SettingError
from lexigraft.integrations.indexing import index_records
from lexigraft.integrations.missing import missing_framework
from lexigraft.integrations.rankings import among, falling
from lexigraft.retrieve.retriever import Retriever
from lexigraft.stages.find_model import find_model

try:
    from mteb.models.model_meta import ModelMeta
except ImportError as error:
    raise missing_framework("lexigraft.integrations.mteb", "mteb", "mteb", error) from error

Rankings = dict[str, dict[str, float]]


class LexigraftSearch:
    """Indexes a task's corpus, and searches it: MTEB's `SearchProtocol`.

    `model`: a model, or a run with one; None is BM25. `qk` and `dk`: terms kept of a query and of a document, 0 for
    all. `set`: settings by their full names, such as {"lexical.k1": 0.9}. `name`: under which MTEB keeps results, as
    "organisation/model". Equal scores are told apart by ids, ascending, as in all our numbers.
    """

    def __init__(
        self, model: str | Path | None = None, *, qk: QueryCut = 0, dk: DocumentCut = 0, name: str | None = None,
        set: Mapping[str, Any] | None = None, threads: int = 0,
    ) -> None:  # fmt: skip
        self.model = None if model is None else find_model(Path(model))
        self.qk, self.dk, self.threads = query_cut(qk), document_cut(dk), threads
        self._set, self._settings = dict(set or {}), load_settings(values=set)
        self._name = name or f"lexigraft/{'bm25' if model is None else 'model'}"
        self._workspace: TemporaryDirectory[str] | None = None
        self._retriever: Retriever | None = None

    def index(self, corpus: Iterable[Mapping[str, Any]], **said: Any) -> None:
        """Index the corpus of a task in a folder that goes with this object."""
        self.close()
        self._workspace = TemporaryDirectory(prefix="lexigraft-mteb-")
        place = index_records(
            map(_record, corpus), Path(self._workspace.name, "index"), self.model, self.dk, settings=self._settings
        )
        self._retriever = Retriever.open(place, qk=self.qk or None)

    def search(
        self, queries: Iterable[Mapping[str, Any]], *, top_k: int,
        top_ranked: Mapping[str, Iterable[str]] | None = None, **said: Any,
    ) -> Rankings:  # fmt: skip
        """The best documents of each query with their scores; of `top_ranked`, all of a query's, those that share no
        term with it last."""
        if self._retriever is None:
            raise SettingError("there is nothing to search; call index first")
        asked = [(str(row["id"]), _query(row)) for row in queries]
        k = self._retriever.n_documents if top_ranked is not None else min(top_k, self._retriever.n_documents)
        found = self._retriever.search_many([text for _, text in asked], k, threads=self.threads)
        rankings: Rankings = {}
        for (query, _), hits in zip(asked, found, strict=True):
            ranked = [(hit.doc_id, hit.score) for hit in hits]
            rankings[query] = falling(ranked if top_ranked is None else among(ranked, top_ranked.get(query, ())))
        return rankings

    def close(self) -> None:
        """Give the index of the former task back."""
        if self._retriever is not None:
            self._retriever.close()
        if self._workspace is not None:
            self._workspace.cleanup()
        self._retriever = self._workspace = None

    @property
    def mteb_model_meta(self) -> "ModelMeta":
        """Under which name and revision results are kept: that of a model is its fingerprint."""
        said = {"qk": self.qk, "dk": self.dk, **self._set}
        return ModelMeta.create_empty(overwrites={
            "name": self._name, "revision": self._revision(), "similarity_fn_name": "dot", "model_type": ["sparse"],
            "use_instructions": False, "experiment_kwargs": said,
        })  # fmt: skip

    def _revision(self) -> str:
        manifest = None if self.model is None else read_manifest(self.model)
        return __version__ if manifest is None else manifest.fingerprint[:12]


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"docno": str(row["id"]), "title": row.get("title") or "", "text": row.get("text") or ""}


def _query(row: Mapping[str, Any]) -> str:
    """A query's text, with its instruction where it has one."""
    text, instruction = row.get("text"), row.get("instruction")
    if not isinstance(text, str):
        raise InputError(f"query {row['id']!r} is {text!r:.100}; texts alone can be searched with")
    return f"{text} {instruction}" if instruction else text

"""LangChain: a retriever over a run, an index or an engine. `langchain_qdrant.py` has the embeddings."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.integrations.found import Document as Found
from lexigraft.integrations.found import metadata_of, open_retriever, require_encoder, require_kept_texts
from lexigraft.integrations.missing import missing_framework
from lexigraft.retrieve.retriever import Retriever

try:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables.config import run_in_executor
    from pydantic import ConfigDict, Field, PrivateAttr
except ImportError as error:
    raise missing_framework("lexigraft.integrations.langchain", "langchain-core", "langchain", error) from error


class LexigraftRetriever(BaseRetriever):
    """Queries to documents: page_content is a document's text; metadata has its score and rank, its title and all else
    that is known of it; id is its own id. Metadata of its own that are called score or rank give way.

    `path`: as `lexigraft.Retriever.open` takes it with `system`, `qk` and `dk`; or a `Retriever` that is open. `where`:
    conditions on metadata. Without `texts`, page_content is the title alone, for an index that keeps no texts. `k` and
    `where` may be given with a query, too: retriever.invoke(query, k=3).
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    path: str | Path | Retriever
    k: int = Field(default=4, gt=0)
    where: str | Sequence[str] = ()
    overlap: float = 0.0
    texts: bool = True
    system: str | None = None
    qk: float | str | None = None
    dk: int | str | None = None
    _opened: Retriever = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        super().model_post_init(context)
        self._opened = open_retriever(self.path, self.system, self.qk, self.dk)
        require_encoder(self._opened)
        if self.texts:
            require_kept_texts(self._opened, "or take texts=False, which shows titles alone")

    def _get_relevant_documents(
        self, query: str, *, run_manager: Any, k: int | None = None, where: str | Sequence[str] | None = None
    ) -> list[Document]:
        if not isinstance(query, str):
            raise InputError(f"the query is {query!r:.100}; give a string, which may be empty")
        k, where = self.k if k is None else k, self.where if where is None else where
        return [_document(one, self.texts) for one in self._opened.answer(query, k, where, self.overlap).hits]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: Any, k: int | None = None, where: str | Sequence[str] | None = None
    ) -> list[Document]:
        """In a thread: kernels hold no lock."""
        ask = partial(self._get_relevant_documents, query, run_manager=run_manager.get_sync(), k=k, where=where)
        found: list[Document] = await run_in_executor(None, ask)
        return found


def _document(found: Found, with_text: bool) -> Document:
    content = found.text if with_text else found.title
    # Of what the engine or the index has lost the text, the title is shown.
    return Document(
        id=found.doc_id, page_content=found.title if content is None else content,
        metadata={**metadata_of(found), "score": found.score, "rank": found.rank},
    )  # fmt: skip

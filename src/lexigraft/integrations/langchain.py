"""LangChain: a retriever over a run, an index or an engine. `langchain_qdrant.py` has the embeddings."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError, SettingError
from lexigraft.integrations.addresses import shown_path, without_secret
from lexigraft.integrations.found import Document as Found
from lexigraft.integrations.found import metadata_of, open_retriever, require_encoder, require_kept_texts
from lexigraft.integrations.missing import missing_framework
from lexigraft.retrieve.retriever import Retriever

try:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables.config import run_in_executor
    from pydantic import ConfigDict, Field, PrivateAttr, field_serializer
except ImportError as error:
    raise missing_framework("lexigraft.integrations.langchain", "langchain-core", "langchain", error) from error


class LexigraftRetriever(BaseRetriever):
    """Queries to documents: page_content is a document's text; metadata has its score and rank, its title and all else
    that is known of it; id is its own id. Metadata of its own that are called score or rank give way.

    `path`: as `lexigraft.Retriever.open` takes it with `system`, `qk` and `dk`; or a `Retriever` that is open. `where`:
    conditions on metadata. Without `texts`, page_content is the title alone, for an index that keeps no texts. `k` and
    `where` may be given with a query, too: retriever.invoke(query, k=3). A copy with another path opens that one. It
    can be sent to other processes, which open it again. The secret of an engine's address is never shown or written.
    """

    # An error would show all that was given, and a secret with it.
    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", hide_input_in_errors=True)

    path: str | Path | Retriever
    k: int = Field(default=4, gt=0)
    where: str | Sequence[str] = ()
    overlap: float = 0.0
    texts: bool = True
    system: str | None = None
    qk: float | str | None = None
    dk: int | str | None = None
    _opened: tuple[object, Retriever] | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any) -> None:
        super().model_post_init(context)
        self._open()

    def _open(self) -> Retriever:
        """What the attributes say: a copy may have others, and in another process nothing is open yet."""
        said, held = (self.path, self.system, self.qk, self.dk, self.texts), self._opened
        if held is None or held[0] != said:
            held = said, open_retriever(self.path, self.system, self.qk, self.dk)
            require_encoder(held[1])
            if self.texts:
                require_kept_texts(held[1], "or take texts=False, which shows titles alone")
            self._opened = held
        return held[1]

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> "LexigraftRetriever":
        """What is open is used by both."""
        memo = {} if memo is None else memo
        memo.update({id(one): one for one in (self.path, self._opened)})
        made: LexigraftRetriever = super().__deepcopy__(memo)
        return made

    def __getstate__(self) -> dict[Any, Any]:
        if isinstance(self.path, Retriever):
            raise SettingError(f"{self.path.name} is open in this process; give its path to send it to another one")
        state = super().__getstate__()
        return {**state, "__pydantic_private__": {**state["__pydantic_private__"], "_opened": None}}

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Also what `langchain_core.load.dumps` writes."""
        for name, value in super().__repr_args__():
            yield name, shown_path(value) if name == "path" else value

    @field_serializer("path")
    def _written_path(self, path: str | Path | Retriever) -> Any:
        return without_secret(path) if isinstance(path, str) else path

    def _get_relevant_documents(
        self, query: str, *, run_manager: Any, k: int | None = None, where: str | Sequence[str] | None = None
    ) -> list[Document]:
        if not isinstance(query, str):
            raise InputError(f"the query is {query!r:.100}; give a string, which may be empty")
        k, where = self.k if k is None else k, self.where if where is None else where
        return [_document(one, self.texts) for one in self._open().answer(query, k, where, self.overlap).hits]

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

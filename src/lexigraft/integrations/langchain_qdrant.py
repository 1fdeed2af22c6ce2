"""LangChain with Qdrant: sparse embeddings of a model for `QdrantVectorStore`, in its sparse or hybrid mode."""

from pathlib import Path

from lexigraft.core.cut import DocumentCut, QueryCut
from lexigraft.integrations.encoding import BATCH_SIZE, RowEncoder
from lexigraft.integrations.missing import missing_framework
from lexigraft.retrieve.sparse_encoder import SparseEncoder

try:
    from langchain_qdrant.sparse_embeddings import SparseEmbeddings, SparseVector
except ImportError as error:
    raise missing_framework(
        "lexigraft.integrations.langchain_qdrant", "langchain-qdrant", "langchain-qdrant", error
    ) from error


class LexigraftSparseEmbeddings(SparseEmbeddings):
    """Texts as the model at `model`, or that of the run there, writes them: term ids and weights.

    `qk` and `dk`: terms kept of a query and of a document, 0 for all. The collection's modifier idf stays off: the
    weights are whole as they are.
    """

    def __init__(
        self, model: str | Path | SparseEncoder, *, qk: QueryCut = 0, dk: DocumentCut = 0, batch_size: int = BATCH_SIZE
    ) -> None:
        opened = model if isinstance(model, SparseEncoder) else SparseEncoder.open(model)
        self._queries = RowEncoder(opened, are_queries=True, keep=qk)
        self._documents = RowEncoder(opened, are_queries=False, keep=dk, batch_size=batch_size)

    def embed_documents(self, texts: list[str]) -> list[SparseVector]:
        return [SparseVector(indices=row.indices, values=row.values) for row in self._documents.rows(texts)]

    def embed_query(self, text: str) -> SparseVector:
        (row,) = self._queries.rows([text])
        return SparseVector(indices=row.indices, values=row.values)

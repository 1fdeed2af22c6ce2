"""Search and explanations as tools of assistants, by the Model Context Protocol over stdin and stdout."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from lexigraft import __version__
from lexigraft.core.errors import LexigraftError
from lexigraft.engines.address import Address
from lexigraft.serve import requests as shapes
from lexigraft.serve.asking import Asking, Json, search
from lexigraft.serve.catalogue import Catalogue, Shelf
from lexigraft.serve.explaining import explain_found
from lexigraft.serve.limits import Limits
from lexigraft.serve.refused import RefusedError, refused_by
from lexigraft.serve.shapes import Fields

MOST_TERMS = 20  # that an assistant is told of a query or a score
THREADS = 1  # an assistant asks one thing after the other
LONGEST_TEXT = 4_000  # characters of a document that an assistant reads

Query = Annotated[str, Field(description="What to look for, in words.")]
K = Annotated[int, Field(description="How many documents.")]
System = Annotated[str | None, Field(description="Which system answers; the recommended one where none is named.")]
Where = Annotated[
    list[str] | None, Field(description="Conditions on metadata that all must hold, such as 'year >= 2020'.")
]
DocId = Annotated[str, Field(description="The id of a document that a search found.")]


class Tools:
    """What assistants may call. Requests are looked at by the same shapes as those of the server."""

    def __init__(self, given: Sequence[Path | Address], limits: Limits) -> None:
        self._shelf, self._limits = Shelf(given, THREADS), limits
        self._shelf.watch()

    async def search(self, query: Query, k: K = 5, system: System = None, where: Where = None) -> dict[str, Any]:
        """Search the documents: the best ones with ids, titles, scores, and the part of each text that matched."""
        given = {"query": query, "k": k, "system": system, "where": where or []}
        return await self._done(shapes.search_request, given, self._search)

    async def explain(self, query: Query, doc_id: DocId, system: System = None) -> dict[str, Any]:
        """Say why a document was found: what each term adds to its score; with the beginning of its text."""
        given = {"query": query, "doc_id": doc_id, "system": system}
        return await self._done(shapes.explain_request, given, self._explain)

    async def _done(
        self, shape: Callable[[list[str], Limits], Fields], given: Json, do: Callable[[Catalogue, Json], Json]
    ) -> Json:
        """Worked out beside the event loop; what is wrong becomes one line."""
        try:
            current = self._shelf.current  # once: what is named is then there
            read = shape(current.names, self._limits).read(given)
            return await asyncio.to_thread(do, current, read)
        except RefusedError as refused:
            raise ToolError(refused.message) from None
        except LexigraftError as error:
            raise ToolError(refused_by(error).message) from None

    def _search(self, current: Catalogue, read: Json) -> Json:
        found = search(current.system(read.get("system")), Asking.of(read))
        hits = [
            {
                "rank": rank,
                "doc_id": hit["doc_id"],
                "title": hit["title"],
                "score": hit["score"],
                "text": None if hit["snippet"] is None else hit["snippet"]["text"],
                "metadata": hit["metadata"],
                "matched": [match["term"] for match in hit["matches"][:MOST_TERMS]],
            }
            for rank, hit in enumerate(found["hits"], 1)
        ]
        return {"system": found["system"], "hits": hits, "unknown_words": found["unknown"], "notices": found["notices"]}

    def _explain(self, current: Catalogue, read: Json) -> Json:
        found = explain_found(current, read.get("system"), Asking.of(read), read["doc_id"])
        terms = [
            {name: one[name] for name in ("term", "query_weight", "document_weight", "score", "share", "own_query")}
            for one in found["contributions"][:MOST_TERMS]
        ]
        text = None if found["text"] is None else found["text"][:LONGEST_TEXT]
        facts = {name: found[name] for name in ("system", "doc_id", "title", "score")}
        whole = {} if found["whole"] is None else {"by_systems": found["whole"]["said"]}
        return {**facts, "terms": terms, "only_in_the_query": found["only_query"][:MOST_TERMS], "text": text, **whole}


def run_tools(given: Sequence[Path | Address], limits: Limits) -> None:
    """Answer an assistant until it closes the connection."""
    tools = Tools(given, limits)
    offered = MCPServer(
        "lexigraft",
        version=__version__,
        instructions="Search a collection of documents, and ask why a document was found. Results are exact.",
        log_level="ERROR",
    )
    offered.add_tool(tools.search, name="search")
    offered.add_tool(tools.explain, name="explain")
    offered.run("stdio")

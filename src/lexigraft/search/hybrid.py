"""A hybrid of two systems over the same documents: each gives its candidates, and their rankings are fused."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.types import Ranking
from lexigraft.search.fusion import USUAL_K, fuse
from lexigraft.search.text_search import TextSearch
from lexigraft.search.weighted_fusion import mapped_scores, weighted_sum

WEIGHTED, RRF = "weighted", "rrf"
N_COMPARED = 64  # documents whose ids are looked for in the other system


class Fusion(NamedTuple):
    """How two rankings become one; `weight` is the first's of a weighted sum."""

    method: str
    weight: float = 0.5

    def fuse(self, rankings: Sequence[Ranking], depth: int | None = None) -> Ranking:
        """The ranking of one query."""
        if self.method == RRF:
            return fuse(rankings, depth=depth)
        if self.method != WEIGHTED:
            raise SettingError(f"method {self.method!r} is not known: {WEIGHTED} or {RRF}")
        return weighted_sum(rankings, self.weight, depth)

    def amounts(self, rankings: Sequence[Ranking], doc_id: str) -> list[float]:
        """What each ranking adds to the fused score of a document; 0 where it is not among the candidates."""
        places = [place_in(ranking, doc_id) for ranking in rankings]
        if self.method == RRF:
            return [1 / (USUAL_K + place) if place else 0.0 for place in places]
        mapped = zip((self.weight, 1 - self.weight), rankings, places, strict=True)
        return [weight * float(mapped_scores(one)[place - 1]) if place else 0.0 for weight, one, place in mapped]

    @property
    def asked(self) -> tuple[bool, bool]:
        """Which of the two is asked at all: one of weight 0 would cost its time and add nothing."""
        return (True, True) if self.method == RRF else (self.weight > 0, self.weight < 1)

    @property
    def described(self) -> str:
        if self.method == RRF:
            return "reciprocal ranks"
        return f"{self.weight:g} and {round(1 - self.weight, 6):g} times their scores, each mapped to 0..1"


def place_in(ranking: Ranking, doc_id: str) -> int:
    """The rank of a document; 0 where it has none."""
    return ranking.doc_ids.index(doc_id) + 1 if doc_id in ranking.doc_ids else 0


class HybridTextSearch:
    """Two systems, named by `names`, each with `depth` candidates a query if it has a weight. Raises where they are
    not over the same documents."""

    def __init__(self, names: Sequence[str], parts: Sequence[TextSearch], fusion: Fusion, depth: int) -> None:
        require_same_documents(names, parts)
        self.names, self.parts, self.fusion, self.depth = tuple(names), tuple(parts), fusion, depth

    @property
    def n_documents(self) -> int:
        return self.parts[0].n_documents

    @property
    def passages(self) -> bool:
        return self.parts[0].passages

    def encode_all(self, texts: Sequence[str]) -> list[Any]:
        of_parts = zip(self.parts, self.fusion.asked, strict=True)
        encoded = (part.encode_all(texts) if asked else [None] * len(texts) for part, asked in of_parts)
        return list(zip(*encoded, strict=True))

    def search(self, query: Any, k: int, query_id: str = "") -> Ranking:
        return self.search_all([query], k, [query_id])[0]

    def search_all(self, queries: Sequence[Any], k: int, query_ids: Sequence[str]) -> list[Ranking]:
        return [self.fusion.fuse(rankings, k) for rankings in self.candidates(queries, query_ids)]

    def candidates(self, queries: Sequence[Any], query_ids: Sequence[str]) -> list[tuple[Ranking, ...]]:
        """Both rankings of every query, before they are fused; empty where a system is not asked."""
        if not queries:
            return []
        of_parts = zip(self.parts, zip(*queries, strict=True), self.fusion.asked, strict=True)
        found = [
            part.search_all(list(some), self.depth, query_ids)
            if asked
            else [Ranking(query_id, (), ()) for query_id in query_ids]
            for part, some, asked in of_parts
        ]
        return list(zip(*found, strict=True))

    def holds(self, doc_id: str) -> bool:
        return self.parts[0].holds(doc_id)

    def id_at(self, row: int) -> str:
        return self.parts[0].id_at(row)

    def shown(self, doc_id: str) -> tuple[str, str, int]:
        return self.parts[0].shown(doc_id)


def require_same_documents(names: Sequence[str], parts: Sequence[TextSearch]) -> None:
    """Raise where two systems do not search the same documents, by how many there are and by the ids of some, spread
    over all."""
    (ours, theirs), (left, right) = names, parts
    if left.n_documents != right.n_documents or left.passages != right.passages:
        raise InputError(
            f"{ours} and {theirs} are over different documents ({_counted(left)} and {_counted(right)}): a hybrid is "
            "of two systems over the same; index the same collection with both"
        )
    for name, one, other in ((ours, left, right), (theirs, right, left)):
        if (absent := next((doc_id for doc_id in _some_ids(one) if not other.holds(doc_id)), None)) is not None:
            raise InputError(
                f"{ours} and {theirs} are over different documents (only {name} has {absent!r}): a hybrid is of two "
                "systems over the same; index the same collection with both"
            )


def _some_ids(part: TextSearch) -> list[str]:
    n = part.n_documents
    places = chain(range(0, n, max(1, n // N_COMPARED)), [n - 1] if n else [])
    return [part.id_at(place) for place in places]


def _counted(part: TextSearch) -> str:
    return f"{part.n_documents:,} {'passages' if part.passages else 'documents'}"

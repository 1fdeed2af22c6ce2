"""Search as a person does: a text goes in, ranked documents with their titles and matching terms come out."""

from pathlib import Path
from typing import NamedTuple

from lexigraft.core.types import Explanation
from lexigraft.explain.contributions import explain
from lexigraft.index.live.queries import open_live_encoder
from lexigraft.index.live.reader import LiveIndex, open_live
from lexigraft.index.live.state import is_live
from lexigraft.index.store import open_index
from lexigraft.search.live import LiveSearcher


class Hit(NamedTuple):
    rank: int
    doc_id: str
    score: float
    title: str


class WeightedTerm(NamedTuple):
    term: str
    weight: float
    own: bool  # whether the text itself holds it; the model added the others


def open_searchable(path: Path) -> LiveIndex:
    """The index at `path`: the newest state of a live one, or a plain one as a single segment."""
    return open_live(path) if is_live(path) else LiveIndex.of_index(open_index(path))


class TextSearch:
    """An open index, plain or live, with the encoder that fits it."""

    why_nothing = "the query has no word that documents are indexed by"

    def __init__(self, index_path: Path, method: str = "auto") -> None:
        self.index = open_searchable(index_path)
        self._encoder = open_live_encoder(self.index, index_path)
        self._searcher = LiveSearcher(self.index, method)

    def search(self, text: str, k: int = 10) -> list[Hit]:
        """The k best documents; empty when no word of `text` is in the vocabulary."""
        found = self._searcher.search_places(*self._encoder.encode(text), k)
        return [Hit(rank, place.doc_id, place.score, place.title) for rank, place in enumerate(found, 1)]

    def explain(self, text: str, doc_id: str) -> Explanation:
        """What each shared term adds to the document's score."""
        return explain(self.index.segment_of(doc_id).index, *self._encoder.encode(text), doc_id)

    def terms(self, text: str) -> list[WeightedTerm]:
        """The weighted terms a text becomes as a query, heaviest first."""
        term_ids, weights = self._encoder.encode(text)
        own = set(self._encoder.own_terms(text).tolist())
        named = [
            WeightedTerm(self.index.vocabulary.terms[term_id], weight, term_id in own)
            for term_id, weight in zip(term_ids.tolist(), weights.tolist(), strict=True)
        ]
        return sorted(named, key=lambda item: (-item.weight, item.term))

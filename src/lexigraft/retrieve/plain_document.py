"""A document that was found by vectors without terms: what is shown of it, without words that matched."""

from dataclasses import dataclass
from typing import Any

from lexigraft.core.types import Contribution
from lexigraft.index.metadata_values import Value
from lexigraft.retrieve.snippets import Snippet, Span, cut_snippet


@dataclass(frozen=True)
class PlainDocument:
    """As `answer.FoundDocument`, whose properties it has; nothing of it is marked, and no metadata are read."""

    rank: int
    doc_id: str
    score: float
    title: str
    text: str | None = None  # None where none are kept; of a document in passages, that of its first
    matches: tuple[Contribution, ...] = ()
    kinds: tuple[str | None, ...] = ()
    passage: str = ""
    text_spans: tuple[Span, ...] = ()
    title_spans: tuple[Span, ...] = ()

    @property
    def snippet(self) -> Snippet | None:
        """The beginning of the text; None without one."""
        return None if self.text is None else cut_snippet(self.text, [], {})

    @property
    def metadata(self) -> dict[str, Value]:
        return {}

    def as_json(self, text: bool = True) -> dict[str, Any]:
        """For scripts; without `text`, the snippet alone says what is in the document."""
        snippet = self.snippet
        return {
            "rank": self.rank, "doc_id": self.doc_id, "score": self.score, "title": self.title, "title_spans": (),
            **({"text": self.text} if text else {}),
            "snippet": None if snippet is None else snippet._asdict(), "metadata": {}, "matches": [],
        }  # fmt: skip

"""What was made of what, as counts and examples: a file that people and the report read, and sentences for both."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.core.sealed_json import read_sealed

FILE = "pairs.json"
EXAMPLES = 3  # of each kind
FEWEST_TRAINING, FEWEST_VALIDATION = 200, 10  # pairs; fewer teach nothing that BM25 does not know
PLURAL = {
    "title": "titles", "sentence": "first sentences", "heading": "headings", "link": "links", "crop": "crops",
    "keywords": "keywords",
}  # fmt: skip


@dataclass
class MadeCounts:
    """`made` counts queries by split and kind, `dropped` pairs by reason. `given`: the collection's own training pairs
    that are used beside them. `examples`: query and document by kind."""

    documents: int = 0
    given: int = 0
    made: dict[str, Counter[str]] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[dict[str, str]]] = field(default_factory=dict)

    def add(self, split: str, kind: str, query: str, doc_id: str) -> None:
        """Count a query that was made."""
        self.made.setdefault(split, Counter())[kind] += 1
        shown = self.examples.setdefault(kind, [])
        if len(shown) < EXAMPLES:
            shown.append({"query": query, "document": doc_id})

    def require_enough(self, name: str, measures: bool) -> None:
        """Raise where so few pairs were made that nothing can be learned or chosen by them or, where they are what is
        to be measured, too, nothing measured."""
        counts = self.as_dict()
        training, validation = _total(counts, "train"), _total(counts, "dev")
        enough = training + self.given >= FEWEST_TRAINING and validation >= FEWEST_VALIDATION
        if enough and not (measures and not _total(counts, "test")):
            return
        raise InputError(
            f"{name}: {in_words(counts)}; at least {FEWEST_TRAINING} are needed to train and {FEWEST_VALIDATION} to "
            "choose by. Give more texts, or longer ones; without --pairs, they are indexed and searched by BM25"
        )

    def as_dict(self) -> dict[str, Any]:
        made = {split: dict(sorted(kinds.items())) for split, kinds in self.made.items()}
        dropped = {reason: n for reason, n in sorted(self.dropped.items()) if n}
        return {
            "documents": self.documents, "given": self.given, "made": made, "dropped": dropped,
            "examples": self.examples,
        }  # fmt: skip

    def write(self, folder: Path) -> None:
        write_json(folder / FILE, self.as_dict())


def read_counts(folder: Path) -> dict[str, Any]:
    """What `MadeCounts.write` left."""
    return read_sealed(folder / FILE)


def _total(counts: Mapping[str, Any], split: str) -> int:
    return sum(counts["made"].get(split, {}).values())


def in_words(counts: Mapping[str, Any]) -> str:
    """Such as "1,204 documents, 37 pairs were made to train (30 titles, 7 crops) and 4 to choose by; ..."."""
    kinds = counts["made"].get("train", {})
    listed = ", ".join(f"{n:,} {PLURAL[kind]}" for kind, n in sorted(kinds.items(), key=lambda one: -one[1]))
    given = f", beside {counts['given']:,} given ones" if counts["given"] else ""
    said = (
        f"{counts['documents']:,} documents, {sum(kinds.values()):,} queries were made to train"
        + (f" ({listed})" if listed else "")
        + f"{given} and {_total(counts, 'dev'):,} to choose by"
    )
    if dropped := ", ".join(f"{n:,} ({reason})" for reason, n in counts["dropped"].items()):
        said += f"; dropped: {dropped}"
    return said

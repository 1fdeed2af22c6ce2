"""Rows with what engines store beside the terms: the document that a passage is of, title, text, and metadata."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.progress import Progress
from lexigraft.core.types import counted_rows, document_of
from lexigraft.engines.stored_values import name_of, stored_values
from lexigraft.export.source import Source
from lexigraft.index.metadata import DATE
from lexigraft.index.metadata_values import Value

NO_METADATA: Mapping[str, Value] = {}
MIDNIGHT = "T00:00:00+00:00"


@dataclass(frozen=True)
class StoredRow:
    """A document, or a passage of one. `document` is given for passages, `text` where texts are kept."""

    row_id: str
    title: str
    term_ids: NDArray[np.int32]
    impacts: NDArray[np.uint32]
    metadata: Mapping[str, Value]
    document: str | None = None
    text: str | None = None

    @property
    def terms(self) -> dict[int, int]:
        """Impacts by term id; without terms there are none."""
        return dict(zip(self.term_ids.tolist(), self.impacts.tolist(), strict=True))

    @property
    def shown(self) -> dict[str, str]:
        """What a result shows, by the name of its field."""
        found = {"title": self.title}
        if self.document is not None:
            found["document"] = self.document
        if self.text is not None:
            found["text"] = self.text
        return found


@dataclass
class StoredRows:
    """The rows of a source, and what was seen of those that came by."""

    source: Source
    label: str
    progress: Progress
    longest_row: int = field(default=0, init=False)  # in terms
    n_empty: int = field(default=0, init=False)

    @property
    def kinds(self) -> dict[str, str]:
        """Of metadata, by key: number, date, text, list."""
        metadata = self.source.metadata
        return {} if metadata is None else {key: column.kind for key, column in metadata.columns.items()}

    @property
    def of_passages(self) -> bool:
        return self.source.index.meta.passages

    @property
    def keeps_texts(self) -> bool:
        return self.source.state.keeps_texts

    def __iter__(self) -> Iterator[StoredRow]:
        rows = (row for batch in self.source.batches() for row in batch)
        told = self.progress.track(rows, self.label, self.source.index.n_documents)
        for ordinal, row in enumerate(told):
            self.longest_row = max(self.longest_row, len(row.term_ids))
            self.n_empty += not len(row.term_ids)
            yield StoredRow(
                row.row_id, row.title, row.term_ids, row.impacts, row.metadata,
                document_of(row.row_id) if self.of_passages else None,
                self.source.text_of(ordinal) if self.keeps_texts else None,
            )  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """Numbers of what was written."""
        meta = self.source.index.meta
        return {
            "rows": meta.n_documents, "terms": meta.n_terms, "postings": meta.n_postings, "bits": meta.bits,
            "longest_row": self.longest_row, "empty_rows": self.n_empty, "passages": meta.passages,
            "texts": self.keeps_texts, "metadata": self.kinds,
        }  # fmt: skip

    def kept(self) -> list[str]:
        """In words, what every target keeps."""
        meta = self.source.index.meta
        rows, texts = counted_rows(meta.n_documents, meta.passages), ", and texts" * self.keeps_texts
        found = [f"{rows}, with ids and titles{texts}"]
        if self.of_passages:
            found.append("the document that a passage is of, by which queries fold passages: the best one counts")
        if self.kinds:
            found.append(f"metadata: {', '.join(f'{key} ({kind})' for key, kind in self.kinds.items())}")
        return found


def values_in_iso(row: StoredRow, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Metadata by names that need no quoting; dates as ISO 8601 writes them, and elements of lists as texts."""
    stored: dict[str, Any] = dict(stored_values(row.metadata, kinds))
    dates: Sequence[str] = [key for key in row.metadata if kinds.get(key) == DATE]
    return {**stored, **{name_of(key): str(row.metadata[key]) for key in dates}}


def values_in_utc(row: StoredRow, kinds: Mapping[str, str]) -> dict[str, Any]:
    """The same with a day as the moment when it begins, for engines that would read it in the zone of a session."""
    values = values_in_iso(row, kinds)
    days = [name for key in row.metadata if kinds.get(key) == DATE and "T" not in values[name := name_of(key)]]
    return {**values, **{name: values[name] + MIDNIGHT for name in days}}


def values_in_numbers(row: StoredRow, kinds: Mapping[str, str]) -> dict[str, Any]:
    """The same with dates as microseconds from 1970 on, for engines that have no dates."""
    return dict(stored_values(row.metadata, kinds))


def odd_names(kinds: Mapping[str, str]) -> list[str]:
    """What is said of keys that are stored under another name."""
    changed = {key: name_of(key) for key in kinds if name_of(key) != key}
    return [f"the key {key!r} of metadata is called {name}" for key, name in changed.items()]

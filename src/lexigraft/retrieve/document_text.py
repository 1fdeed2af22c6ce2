"""The text of an indexed document, looked up where the index's collection lies: an index keeps no texts."""

import json
from dataclasses import dataclass
from pathlib import Path

from lexigraft.core.artifact import read_manifest
from lexigraft.core.errors import InputError, LexigraftError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Document, document_of
from lexigraft.data.collection import Reading
from lexigraft.data.passages import cut_passages
from lexigraft.data.sources import open_source
from lexigraft.stages.layout import RunFolder

AS_THEY_ARE = Reading(on_duplicate="keep", on_bad_bytes="replace")  # who indexed them has complained already


@dataclass(frozen=True)
class DocumentTexts:
    """A collection and how its documents were cut; `passage_words` is 0 where nobody says."""

    source: str
    passage_words: int = 0
    passage_overlap: int = 0

    def find(self, row_id: str, passages: bool, progress: Progress = SILENT) -> str:
        """What was encoded for a row of an index, a document or one of its `passages`. The collection is read from its
        beginning. Raises `InputError` where the text is not to be had."""
        if passages and not self.passage_words:
            raise InputError("the index is of passages and does not say how they were cut; explain by the run it is of")
        doc_id = document_of(row_id) if passages else row_id
        try:
            collection = open_source(self.source, AS_THEY_ARE)
        except LexigraftError as error:
            raise InputError(f"{error} (--data names the collection that was indexed)") from error
        for document in progress.track(collection.documents(), "looking for the document"):
            if document.doc_id == doc_id:
                return self._part(document, row_id).contents if passages else document.contents
        raise InputError(f"{self.source} has no document {doc_id!r}; give the collection that was indexed with --data")

    def _part(self, document: Document, row_id: str) -> Document:
        for part in cut_passages([document], self.passage_words, self.passage_overlap):
            if part.doc_id == row_id:
                return part
        raise InputError(f"{self.source} has another text for {document.doc_id!r} than was indexed: no part {row_id!r}")


def texts_of_run(run: RunFolder, view: str, data: str | None = None) -> DocumentTexts:
    """Where the texts of a run's documents are, or are said to be by `data`."""
    try:
        settings = json.loads(run.settings.read_text(encoding="utf-8"))
        found = str(settings["source"])
        cut = [int(settings["data"].get(f"passage_{name}", 0)) for name in ("words", "overlap")]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{run.settings} does not say what was indexed; continue the run with the command that began it"
        ) from error
    own = run.collection / view
    return DocumentTexts(data or (str(own) if own.is_dir() else found), *cut)


def texts_of_index(index: Path, data: str) -> DocumentTexts:
    """The texts of `data`, cut as the manifest of an index says."""
    manifest = read_manifest(index)
    config = {} if manifest is None else manifest.config
    return DocumentTexts(data, int(config.get("passage_words", 0)), int(config.get("passage_overlap", 0)))

"""The text of an indexed document, looked up where the collection lies that was indexed: for indexes that keep no
texts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.artifact import read_manifest
from lexigraft.core.errors import ArtifactError, InputError, LexigraftError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.stored_record import as_expected
from lexigraft.core.types import Document, document_of
from lexigraft.data.passages import BY_WORDS, cut_passages
from lexigraft.data.readers.standard_input import SPOOLED
from lexigraft.data.reading import AUTO, Reading
from lexigraft.data.sources import open_source
from lexigraft.stages.layout import CONTINUE, RunFolder
from lexigraft.stages.run_settings import read_settings

AS_THEY_ARE = Reading(on_duplicate="keep", on_bad_bytes="replace")  # who indexed them has complained already


class PassageCut(NamedTuple):
    """As settings and manifests name it; neither words nor headings is no passages."""

    words: int = 0
    overlap: int = 0
    by: str = BY_WORDS


WHOLE = PassageCut()


@dataclass(frozen=True)
class DocumentTexts:
    """A collection, how it is read, and how its documents were cut, where somebody says that."""

    source: str
    cut: PassageCut = WHOLE
    reading: Reading = AS_THEY_ARE

    def find(self, row_id: str, passages: bool, progress: Progress = SILENT) -> str:
        """What was encoded for a row of an index, a document or one of its `passages`. The collection is read from its
        beginning. Raises `InputError` where the text is not to be had."""
        if passages and self.cut == WHOLE:
            raise InputError("the index is of passages and does not say how they were cut; explain by the run it is of")
        doc_id = document_of(row_id) if passages else row_id
        try:
            collection = open_source(self.source, self.reading)
        except LexigraftError as error:
            raise InputError(f"{error} (data=PATH names the collection that was indexed)") from error
        for document in progress.track(collection.documents(), "looking for the document"):
            if document.doc_id == doc_id:
                return self._part(document, row_id).contents if passages else document.contents
        raise InputError(
            f"{self.source} has no document {doc_id!r}; give the collection that was indexed with data=PATH"
        )

    def _part(self, document: Document, row_id: str) -> Document:
        for part in cut_passages([document], *self.cut):
            if part.doc_id == row_id:
                return part
        raise InputError(f"{self.source} has another text for {document.doc_id!r} than was indexed: no part {row_id!r}")


def texts_of_run(run: RunFolder, view: str, data: str | None = None) -> DocumentTexts:
    """Where the texts of a run's documents are, or are said to be by `data`."""
    try:
        found, settings = read_settings(run)
        with as_expected(run.settings, CONTINUE):
            cut, reading = _cut(settings["data"]), _reading(settings["data"])
    except ArtifactError as error:
        raise InputError(f"it is not known what was indexed: {error}") from error
    own = [str(place) for place in (run.collection / view, run.collection / SPOOLED) if place.exists()]
    return DocumentTexts(data or (own[0] if own else found), cut, reading)


def texts_of_index(index: Path, data: str) -> DocumentTexts:
    """The texts of `data`, cut as the manifest of an index says."""
    manifest = read_manifest(index)
    config = {} if manifest is None else manifest.config
    return DocumentTexts(data, _cut(config), _reading(config))


def _cut(said: Mapping[str, Any]) -> PassageCut:
    """How documents were cut, as the settings of a run or the manifest of an index say."""
    by = str(said.get("passage_by", BY_WORDS))
    return PassageCut(int(said.get("passage_words", 0)), int(said.get("passage_overlap", 0)), by)


def _reading(said: Mapping[str, Any]) -> Reading:
    """How a collection was read; duplicates and wrong bytes are nobody's concern any more."""
    return replace(AS_THEY_ARE, fields=str(said.get("fields", "")), format=str(said.get("format", AUTO)))

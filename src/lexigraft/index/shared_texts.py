"""Texts that are kept once for all indexes of the same documents: the files of a `texts` artifact.

texts.*      index/texts.py; absent where they were too large, or were not to be kept
doc_ids.*    the ids of the documents, or passages, in the same order
"""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from lexigraft.core.arrays import StringTable, StringTableWriter
from lexigraft.core.artifact import open_artifact
from lexigraft.core.made_here import validate_unless_known
from lexigraft.core.pinned import of_one_version, where_it_stands
from lexigraft.core.types import Document
from lexigraft.core.validation import require_length
from lexigraft.index.texts import KeptText, StoredTexts, TextWriter, open_texts

KIND, FORMAT_VERSION = "texts", 1
DOC_IDS = "doc_ids"


class SharedTexts:
    """Made by `open_shared_texts`."""

    def __init__(self, texts: StoredTexts, doc_ids: StringTable, corpus: str) -> None:
        self._texts, self._doc_ids = texts, doc_ids
        self.corpus = corpus  # the digest of the documents that they are of

    def get(self, row_id: str, ordinal: int) -> KeptText | None:
        """The text of an index's row; None where it is not here. Most indexes have their rows in this very order."""
        here = ordinal < len(self._doc_ids) and self._doc_ids[ordinal] == row_id
        place = ordinal if here else self._place_of.get(row_id)
        return None if place is None else self._texts.get(place)

    @cached_property
    def _place_of(self) -> dict[str, int]:
        return {row_id: place for place, row_id in enumerate(self._doc_ids)}


def write_shared_texts(documents: Iterable[Document], folder: Path, most: float) -> None:
    """Write the texts of documents into `folder`, unless they are more than `most` bytes in all."""
    with TextWriter(folder, most) as texts, StringTableWriter(folder, DOC_IDS) as doc_ids:
        if texts.keeps:
            doc_ids.extend(_ids_while_kept(documents, texts))


def _ids_while_kept(documents: Iterable[Document], texts: TextWriter) -> Iterable[str]:
    for document in texts.passing(documents):
        if not texts.keeps:
            return
        yield document.doc_id


def open_shared_texts(path: Path) -> SharedTexts | None:
    """The texts at `path`; None where there are none. Every byte is checked, and a wrong one raises."""
    return _open(path) if where_it_stands(path).is_dir() else None


@of_one_version
def _open(path: Path) -> SharedTexts | None:
    manifest = open_artifact(path, KIND, FORMAT_VERSION)
    texts = open_texts(path)
    if texts is None:
        return None
    doc_ids = StringTable(path, DOC_IDS)
    validate_unless_known(path, manifest, True, lambda: _validate(path, texts, doc_ids))
    return SharedTexts(texts, doc_ids, manifest.parents.get("corpus", ""))


def _validate(path: Path, texts: StoredTexts, doc_ids: StringTable) -> None:
    require_length(path / f"{DOC_IDS}.utf8", len(doc_ids), len(texts), "strings")
    doc_ids.validate()
    texts.validate()

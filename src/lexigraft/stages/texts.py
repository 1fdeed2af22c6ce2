"""Texts kept apart from encoding: of a view's documents, once for all indexes of a run, and of vectors' documents."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from lexigraft.core.artifact import Manifest
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.core.types import Document
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.index import shared_texts
from lexigraft.index.texts import TextWriter, keep_texts, own_order
from lexigraft.stages.cells import document_config
from lexigraft.stages.collect import collect, collected
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.ensure import Ensurer


def ensure_texts(
    artifacts: Ensurer, settings: Settings, view: str, collection: Collection, progress: Progress = SILENT
) -> None:
    """The texts of the documents of a view, or of their passages; where they are not to be kept, an artifact that says
    so, and those of a former call go."""
    wanted = Manifest(
        shared_texts.KIND, shared_texts.FORMAT_VERSION, {**document_config(settings), "texts": settings.index.texts},
        {"corpus": collection.digest(CORPUS)}, notes={"seed": settings.run.seed},
    )  # fmt: skip
    artifacts.ensure(
        "index", f"texts ({view})", artifacts.run.texts(view), wanted,
        lambda folder: shared_texts.write_shared_texts(
            searched_documents(collection, settings.data, progress), folder, settings.index.most_text_bytes
        ),
    )  # fmt: skip


def keep_texts_of_rows(source: str, row_ids: Sequence[str], settings: Settings, index: Path, reordered: bool) -> None:
    """Keep the texts of the collection `source`, whose documents, or passages as the settings cut them, must be the
    rows of vectors in their order, in the folder `index`, the draft of the index that was made of those."""
    # Within the draft: the next writer removes what a kill leaves of that.
    with TemporaryDirectory(prefix=".texts-", dir=index) as written:
        folder = Path(written)
        collect(source, settings.data, folder)
        collection = next(iter(collected(source, settings.data, folder).values()))
        documents = searched_documents(collection, settings.data, SILENT)
        with TextWriter(folder, settings.index.most_text_bytes) as texts:
            for _ in texts.passing(_same_rows(documents, row_ids, source)):
                if not texts.keeps:
                    return
        keep_texts(folder, index, row_ids, own_order(index, reordered))


def _same_rows(documents: Iterator[Document], row_ids: Sequence[str], source: str) -> Iterator[Document]:
    for place, (document, row_id) in enumerate(zip_longest(documents, row_ids)):
        if document is None or document.doc_id != row_id:
            found = "ends there" if document is None else f"has {document.doc_id!r}"
            expected = "end there" if row_id is None else f"have {row_id!r}"
            raise InputError(
                f"document {place + 1} of {source}: it {found}, and the vectors {expected}; give the collection that "
                "they are of, with the settings that they were encoded with"
            )
        yield document

"""The texts of a view's documents, kept once for all indexes of a run."""

from lexigraft.core.artifact import Manifest
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.index import shared_texts
from lexigraft.stages.cells import document_config
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

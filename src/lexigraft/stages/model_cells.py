"""The vectors of a trained model as a cell of a run: of the documents of a view, kept or made."""

from pathlib import Path

from lexigraft.core.artifact import Manifest
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.systems import System
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.stages.cells import document_config
from lexigraft.stages.encode_model import bits_config, encode_with_trained_model
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.expanded_documents import Expansions
from lexigraft.vectors import store as vectors_store


def ensure_model_vectors(
    artifacts: Ensurer,
    system: System,
    view: str,
    collection: Collection,
    model: Manifest,
    expansions: Expansions | None,
    progress: Progress = SILENT,
) -> Manifest:
    """The vectors that a system's `model` writes of the documents of a view, with their expansions where there are
    some."""
    settings, path = system.settings, artifacts.run.vectors(view, system.name)
    bits = settings.model.bits
    config = {**document_config(settings), "encoder": "model", **bits_config(bits)}
    # New queries or judgements change no document.
    parents = {"corpus": collection.digest(CORPUS), "model": model.fingerprint}
    if expansions is not None:
        parents["expansions"] = expansions.digest

    def make(folder: Path) -> None:
        encode_with_trained_model(
            collection, settings.data, artifacts.run.of(system).model(system.trained_part), folder, path, progress,
            expansions.file if expansions is not None else None,
            bits=bits,
        )  # fmt: skip

    notes = {"seed": settings.run.seed}
    wanted = Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, config, parents, notes=notes)
    return artifacts.ensure("encode", f"encode {system.name} ({view})", path, wanted, make)

"""The stage that embeds: the documents of a view, or their passages, to the vectors of a dense system."""

import os
from pathlib import Path

from lexigraft.core.artifact import Manifest
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.systems import System
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.dense import store
from lexigraft.dense.encode import encode_dense
from lexigraft.dense.opening import open_dense
from lexigraft.stages.cells import document_config
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.encode_model import bits_config
from lexigraft.stages.ensure import Ensurer


def ensure_dense_vectors(
    artifacts: Ensurer,
    system: System,
    view: str,
    collection: Collection,
    encoder: Manifest,
    progress: Progress = SILENT,
) -> Manifest:
    """The vectors of a dense system, whose encoder is trained, of the documents of a view. On a CPU by the encoder's
    inference form, on a GPU by torch."""
    settings, path = system.settings, artifacts.run.vectors(view, system.name)
    model, bits = artifacts.run.of(system).model(system.trained_part), settings.model.bits
    config = {**document_config(settings), "encoder": "dense", "dense_bits": settings.dense.bits, **bits_config(bits)}
    parents = {"corpus": collection.digest(CORPUS), "model": encoder.fingerprint}
    wanted = Manifest(store.KIND, store.FORMAT_VERSION, config, parents, notes={"seed": settings.run.seed})

    def make(folder: Path) -> None:
        queries = {"kind": "dense", "model": os.path.relpath(model, path), "fingerprint": encoder.fingerprint}
        passages = settings.data.in_passages
        encode_dense(
            searched_documents(collection, settings.data, SILENT),
            open_dense(model, bits, on_gpu=True, fingerprint=encoder.fingerprint),
            {**queries, **bits_config(bits)}, folder, settings.dense.bits, passages, progress,
            None if passages else collection.about_how_many(),
        )  # fmt: skip

    return artifacts.ensure("encode", f"encode {system.name} ({view})", path, wanted, make)

"""The stage that embeds: the documents of a view, or their passages, to the vectors of a dense system."""

import logging
import os
from pathlib import Path
from typing import NamedTuple

from lexigraft.core.artifact import Manifest
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.systems import System
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.dense import store
from lexigraft.dense.encode import KnownTexts, encode_dense
from lexigraft.dense.opening import open_dense
from lexigraft.dense.store import open_dense_vectors
from lexigraft.inference.dense_meta import DenseMeta, read_dense_meta
from lexigraft.stages.cells import document_config
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.encode_model import bits_config
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.layout import RunFolder

LENGTH = "document_length"  # in a recipe: that less of documents is read than the encoder would

log = logging.getLogger(__name__)


class Embedded(NamedTuple):
    """A view whose documents have their vectors."""

    view: str
    collection: Collection
    vectors: Manifest


def encoder_at(run: RunFolder, system: System) -> Path:
    """Where the encoder of a dense system lies."""
    return run.of(system).model(system.trained_part)


def read_length(encoder: DenseMeta, system: System) -> int:
    """How many subwords are read of a document."""
    return min(system.settings.dense.document_length or encoder.document_length, encoder.document_length)


def ensure_dense_vectors(
    artifacts: Ensurer,
    system: System,
    view: str,
    collection: Collection,
    encoder: Manifest,
    progress: Progress = SILENT,
    done: Embedded | None = None,
) -> Manifest:
    """The vectors of a dense system, whose encoder is there, of the documents of a view. On a CPU by the encoder's
    inference form, on a GPU by torch. Texts that another view has, too, which is `done`, are not computed again."""
    settings, path = system.settings, artifacts.run.vectors(view, system.name)
    model, bits = encoder_at(artifacts.run, system), settings.model.bits
    config = {**document_config(settings), "encoder": "dense", "dense_bits": settings.dense.bits, **bits_config(bits)}
    own = read_dense_meta(model)
    if read_length(own, system) < own.document_length:
        config[LENGTH] = read_length(own, system)
    parents = {"corpus": collection.digest(CORPUS), "model": encoder.fingerprint}
    if done is not None:
        parents[done.view] = done.vectors.fingerprint
    wanted = Manifest(store.KIND, store.FORMAT_VERSION, config, parents, notes={"seed": settings.run.seed})

    def make(folder: Path) -> None:
        opened = open_dense(model, bits, on_gpu=True, fingerprint=encoder.fingerprint)
        queries = {"kind": "dense", "model": os.path.relpath(model, path), "fingerprint": encoder.fingerprint}
        passages, known = settings.data.in_passages, None
        if done is not None:
            known = KnownTexts(
                searched_documents(collection, settings.data, SILENT),
                searched_documents(done.collection, settings.data, SILENT),
                open_dense_vectors(artifacts.run.vectors(done.view, system.name)),
            )
            log.info("%d of %d texts (%s) are embedded already", known.n_known, known.n_wanted, view)
        total = None if passages else collection.about_how_many()
        encode_dense(
            searched_documents(collection, settings.data, SILENT),
            opened.reading(read_length(own, system)),
            {**queries, **bits_config(bits)}, folder, settings.dense.bits, passages, progress,
            total if known is None else known.n_wanted - known.n_known, known,
        )  # fmt: skip

    return artifacts.ensure("encode", f"encode {system.name} ({view})", path, wanted, make)

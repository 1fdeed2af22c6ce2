"""The stages of a grafted system: a vector of every document, and BM25's rows with what those vectors add."""

import os
import shutil
from pathlib import Path

import numpy as np

from lexigraft.core.arrays import open_array
from lexigraft.core.artifact import Manifest
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import GRAFTED, Settings
from lexigraft.core.systems import System
from lexigraft.core.systems_table import BM25
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.dense import store as dense_store
from lexigraft.dense.encode import encode_dense
from lexigraft.dense.opening import open_dense
from lexigraft.dense.store import DenseVectorsMeta, open_dense_vectors
from lexigraft.dense.unfinished import UnfinishedVectors
from lexigraft.grafted.given_vectors import fingerprint_of_given, write_given_vectors
from lexigraft.grafted.shares import Shares
from lexigraft.grafted.vector_order import require_order
from lexigraft.grafted.write import copy_tables, make_graft, write_grafted
from lexigraft.inference.dense_meta import DenseNetwork
from lexigraft.stages.cells import document_config
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.encode_model import bits_config
from lexigraft.stages.ensure import Ensurer
from lexigraft.vectors import store as vectors_store
from lexigraft.vectors.store import open_vectors

GIVEN = "given"  # the encoder of vectors that a user made
DOCUMENTS = "documents"  # the vectors of documents, beside the system's own of terms
BITS = 16


def documents_at(artifacts: Ensurer, view: str) -> Path:
    """Where the dense vectors of the documents of a view lie."""
    return artifacts.run.vectors(view, GRAFTED).with_name(DOCUMENTS)


def ensure_documents(
    artifacts: Ensurer,
    system: System,
    view: str,
    collection: Collection,
    encoder: tuple[Path, Manifest],
    progress: Progress = SILENT,
) -> Manifest:
    """The dense vectors of the documents of a view, by the encoder at a path, with its manifest."""
    settings, path = system.settings, documents_at(artifacts, view)
    made_by, bits, length = encoder[1], settings.model.bits, settings.grafted.length
    config = {
        **document_config(settings), "encoder": "dense", "dense_bits": BITS, **bits_config(bits),
        "grafted.length": length,
    }  # fmt: skip
    parents = {"corpus": collection.digest(CORPUS), "model": made_by.fingerprint}
    wanted = Manifest(dense_store.KIND, dense_store.FORMAT_VERSION, config, parents)
    unfinished = path.with_name(f"{DOCUMENTS}-unfinished")
    made = artifacts.ensure(
        "encode", f"encode documents ({view})", path, wanted,
        lambda folder: embed_documents(collection, settings, encoder, path, unfinished, folder, progress),
    )  # fmt: skip
    shutil.rmtree(unfinished, ignore_errors=True)
    return made


def embed_documents(
    collection: Collection,
    settings: Settings,
    encoder: tuple[Path, Manifest],
    path: Path,
    unfinished: Path,
    folder: Path,
    progress: Progress = SILENT,
) -> None:
    """Write the dense vectors of all documents, which are to lie at `path`, into `folder`. What is done stays at
    `unfinished` until it is removed: who is killed loses one batch."""
    (model, made_by), bits, passages = encoder, settings.model.bits, settings.data.in_passages
    network, name = open_reader(encoder, bits, settings.grafted.length)
    queries = {"kind": "dense", "model": os.path.relpath(model, path), "fingerprint": made_by.fingerprint}
    kept = UnfinishedVectors(unfinished, name)
    encode_dense(
        searched_documents(collection, settings.data, SILENT), network, {**queries, **bits_config(bits)}, folder, BITS,
        passages, progress, None if passages else collection.about_how_many(), unfinished=kept,
    )  # fmt: skip


def open_reader(encoder: tuple[Path, Manifest], bits: int, length: int) -> tuple[DenseNetwork, str]:
    """The encoder, which reads so many subwords of a document, and what tells its vectors from others."""
    model, made_by = encoder
    network = open_dense(model, bits, on_gpu=True, fingerprint=made_by.fingerprint)
    network = network.reading(min(length, network.meta.document_length))
    return network, f"{made_by.fingerprint} {network.meta.document_length} {bits} {BITS}"


def ensure_grafted_vectors(
    artifacts: Ensurer, system: System, view: str, lexical: Manifest, documents: Manifest, shares: Shares,
    cost: float | None, progress: Progress = SILENT,
) -> Manifest:  # fmt: skip
    """The grafted vectors of a view, of which BM25's and those of the documents are there."""
    run, k = artifacts.run, system.settings.grafted.neighbours
    config = {"encoder": GRAFTED, "neighbours": k, "borrowed": shares.borrowed, "told": shares.told, "cost": cost}
    parents = {BM25: lexical.fingerprint, DOCUMENTS: documents.fingerprint}
    if "corpus" in lexical.parents:
        parents["corpus"] = lexical.parents["corpus"]
    wanted = Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, config, parents)

    def make(folder: Path) -> None:
        bm25, vectors = open_vectors(run.vectors(view, BM25)), open_dense_vectors(documents_at(artifacts, view))
        graft = make_graft(bm25.matrix, vectors.matrix, shares, k, progress)
        write_grafted(bm25, run.vectors(view, BM25), graft, cost, folder, progress=progress)

    return artifacts.ensure("encode", f"graft ({view})", run.vectors(view, GRAFTED), wanted, make)


def ensure_given_documents(
    artifacts: Ensurer, system: System, view: str, lexical: Manifest, progress: Progress = SILENT
) -> Manifest:
    """The dense vectors of the documents of a view, from the file that `grafted.vectors` names."""
    source, bm25 = Path(system.settings.grafted.vectors), artifacts.run.vectors(view, BM25)
    parents = {BM25: lexical.fingerprint, "given": fingerprint_of_given(source)}
    wanted = Manifest(dense_store.KIND, dense_store.FORMAT_VERSION, {"encoder": GIVEN}, parents)
    return artifacts.ensure(
        "encode", f"read vectors ({view})", documents_at(artifacts, view), wanted,
        lambda folder: write_vectors_of(source, bm25, folder, progress),
    )  # fmt: skip


def write_vectors_of(source: Path, lexical: Path, folder: Path, progress: Progress = SILENT) -> None:
    """Write the vectors that a user made of the documents that BM25 has at `lexical`, in their order, as those of a
    dense encoder. Documents without a word have none. Raises where rows without ids are not of the documents in their
    places."""
    bm25 = open_vectors(lexical)
    without = np.flatnonzero(np.diff(bm25.matrix.indptr) == 0).tolist()
    given = write_given_vectors(source, bm25.matrix.row_ids, folder, BITS, without, progress)
    numbers = open_array(folder / dense_store.VECTORS, np.dtype(f"float{given.bits}"))
    if not given.by_id:
        require_order(numbers.reshape(given.n_rows, given.width), bm25.matrix, str(source))
    copy_tables(lexical, folder, (dense_store.ROW_IDS, dense_store.TITLES))
    meta = DenseVectorsMeta(given.n_rows, given.width, given.bits, {"kind": GIVEN}, bm25.passages)
    dense_store.write_meta(folder, meta)

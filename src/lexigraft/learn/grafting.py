"""Makes what is missing of a grafted system of a run: the documents' vectors, and BM25's rows with what those add."""

from pathlib import Path

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import AUTO, Settings
from lexigraft.core.systems import System
from lexigraft.data.collection import Collection
from lexigraft.dense import store as dense_store
from lexigraft.dense.store import open_dense_vectors
from lexigraft.grafted.shares import Shares
from lexigraft.grafted.write import make_graft, write_grafted
from lexigraft.learn.sentence_encoder import sentence_encoder, why_no_encoder
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.grafted_cells import (
    embed_documents,
    ensure_documents,
    ensure_given_documents,
    ensure_grafted_vectors,
    write_vectors_of,
)
from lexigraft.stages.standalone import Improving
from lexigraft.vectors.store import open_vectors


def why_no_graft(settings: Settings) -> str:
    """Why no grafted system can be made here; empty where one can."""
    return "" if settings.grafted.vectors else why_no_encoder(settings.model.backbone)


def require_graft(settings: Settings) -> None:
    """Raise where no grafted system can be made here."""
    if reason := why_no_graft(settings):
        raise InputError(
            f"nothing can be grafted: {reason}, or give documents' vectors of your own: --set grafted.vectors=FILE"
        )


def ensure_grafted(
    artifacts: Ensurer,
    system: System,
    view: str,
    collection: Collection,
    lexical: Manifest,
    progress: Progress = SILENT,
) -> Manifest:
    """The vectors of a grafted system in a view, of which BM25 has its own."""
    grafted = system.settings.grafted
    if grafted.vectors:
        documents = ensure_given_documents(artifacts, system, view, lexical, progress)
    else:
        with sentence_encoder(system.settings.model.backbone) as encoder:
            documents = ensure_documents(artifacts, system, view, collection, encoder, progress)
    return ensure_grafted_vectors(
        artifacts, system, view, lexical, documents, shares_of(system.settings), cost_of(system.settings), progress
    )


def shares_of(settings: Settings) -> Shares:
    """How much is added of what is borrowed and told; what is lifted depends on the texts."""
    return Shares(settings.grafted.borrowed, settings.grafted.told)


def cost_of(settings: Settings) -> float | None:
    """The share of BM25's cost that the index may have; None where nothing is cut. Queries need no model, so it is
    BM25's own where nothing is asked for."""
    if settings.prune.budget == "none":
        return None
    return 1.0 if settings.prune.cost == AUTO else float(settings.prune.cost)


def graft_alone(improving: Improving, folder: Path, progress: Progress = SILENT) -> None:
    """Write the grafted vectors of a collection outside of a run into `folder`; BM25's are there."""
    settings, lexical = improving.settings, open_vectors(improving.lexical)
    documents = improving.scratch / "documents"
    with write_artifact(documents, Manifest(dense_store.KIND, dense_store.FORMAT_VERSION, {})) as draft:
        if settings.grafted.vectors:
            write_vectors_of(Path(settings.grafted.vectors), improving.lexical, draft, progress)
        else:
            with sentence_encoder(settings.model.backbone) as encoder:
                embed_documents(improving.collection, settings, encoder, documents, improving.aside, draft, progress)
    vectors = open_dense_vectors(documents).matrix
    graft = make_graft(lexical.matrix, vectors, shares_of(settings), settings.grafted.neighbours, progress)
    write_grafted(lexical, improving.lexical, graft, cost_of(settings), folder, progress=progress)

"""An index of a run that keeps a part of every document, made of the run's vectors where it is not there yet."""

import logging

from lexigraft.core.artifact import open_artifact
from lexigraft.core.cut import DocumentCut
from lexigraft.core.errors import ArtifactError
from lexigraft.core.lock import writer_lock
from lexigraft.stages.cells import ensure_index
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.finished_run import open_run
from lexigraft.stages.layout import RunFolder
from lexigraft.vectors import store as vectors_store

log = logging.getLogger(__name__)


def ensure_pruned_index(run: RunFolder, view: str, system: str, dk: DocumentCut) -> None:
    """Make the index of a system in a view whose documents keep `dk`, which stays with the run."""
    path = run.vectors(view, system)
    if not path.is_dir():
        raise ArtifactError(f"{run.index(view, system, 0).parent} has no vectors to make an index with dk = {dk} of")
    vectors = open_artifact(path, vectors_store.KIND, vectors_store.FORMAT_VERSION, checksums=False)
    log.info("the run has no index with dk = %s yet; it is made and kept", dk)
    with writer_lock(run.root):
        ensure_index(Ensurer(run, None), open_run(run.root).settings, view, system, dk, vectors)

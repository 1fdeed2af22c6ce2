"""A model made elsewhere, as one artifact: ready to encode, index, prune and explain."""

import logging
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.model.encoder import FORMAT_VERSION, KIND, save_encoder
from lexigraft.model.imported import import_encoder
from lexigraft.stages.standalone import require_free_for
from lexigraft.vectors.open_network import ensure_form

log = logging.getLogger(__name__)


def import_model(source: str, out: Path, query_length: int = 0, document_length: int = 0) -> dict[str, Any]:
    """Write the model at `source` (a folder or hub name) as one of ours at `out`, replacing a model there; returns what
    it says of itself."""
    require_free_for(out, KIND)
    encoder = import_encoder(source, query_length, document_length)
    config = {"source": source, "query_length": query_length, "document_length": document_length}
    with write_artifact(out, Manifest(KIND, FORMAT_VERSION, config)) as folder:
        save_encoder(encoder, folder)
    if reason := ensure_form(out, lambda: encoder):
        log.info("the model will be run by torch: %s", reason)
    return asdict(encoder.meta)

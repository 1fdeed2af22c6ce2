"""A model made elsewhere, or exported from here, as one artifact: ready to encode, index, prune and explain."""

import logging
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import SettingError
from lexigraft.learn.import_graph import import_graph
from lexigraft.model.damaged_folders import naming_what_is_damaged
from lexigraft.model.encoder import FORMAT_VERSION, KIND, SparseEncoder, read_encoder, save_encoder
from lexigraft.model.exported import ONNX, ExportedModel, is_exported, read_exported, write_as_model
from lexigraft.model.exported_weights import write_weights
from lexigraft.model.imported import import_encoder
from lexigraft.stages.standalone import require_free_for
from lexigraft.vectors.open_network import ensure_form

log = logging.getLogger(__name__)


def import_model(source: str, out: Path, query_length: int = 0, document_length: int = 0) -> dict[str, Any]:
    """Write the model at `source` (a folder or hub name) as one of ours at `out`, replacing a model there; returns what
    it says of itself."""
    require_free_for(out, KIND)
    if is_exported(source):
        return _take_back(read_exported(source), out, query_length, document_length)
    encoder = import_encoder(source, query_length, document_length)
    config = {"source": source, "query_length": query_length, "document_length": document_length}
    with write_artifact(out, Manifest(KIND, FORMAT_VERSION, config)) as folder:
        save_encoder(encoder, folder)
    return _with_form(out, encoder)


def _with_form(out: Path, encoder: SparseEncoder) -> dict[str, Any]:
    if reason := ensure_form(out, lambda: encoder):
        log.info("the model will be run by torch: %s", reason)
    return asdict(encoder.meta)


def _take_back(found: ExportedModel, out: Path, query_length: int, document_length: int) -> dict[str, Any]:
    """An export of ours, in whichever form: as data alone. Its source is no part of its recipe, so that what is
    exported again is the same wherever it lay."""
    longest = found.meta.query_length, found.meta.document_length
    for name, length, most in zip(
        ("--query-length", "--document-length"), (query_length, document_length), longest, strict=True
    ):
        if length and not 3 <= length <= most:
            raise SettingError(f"{name} = {length} is not allowed: {str(found.folder)!r} reads 3 to {most} subwords")
    lengths = query_length or longest[0], document_length or longest[1]
    found = found._replace(meta=replace(found.meta, query_length=lengths[0], document_length=lengths[1]))
    config = {"export": found.form, "query_length": lengths[0], "document_length": lengths[1]}
    if found.form == ONNX:
        return import_graph(found, out, Manifest(KIND, FORMAT_VERSION, config))
    with write_artifact(out, Manifest(KIND, FORMAT_VERSION, config)) as folder:
        encoder = _written(found.folder, found, folder)
    return _with_form(out, encoder)


@naming_what_is_damaged
def _written(source: Path, found: ExportedModel, folder: Path) -> SparseEncoder:
    """The export at `source` as a model of ours in `folder`, opened: what cannot be opened is not kept."""
    write_as_model(found, folder)
    write_weights(found, folder)
    return read_encoder(folder)

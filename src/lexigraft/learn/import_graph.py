"""An export to ONNX Runtime, taken back: a model whose only weights are those of its graph.

It encodes, is indexed, searched and explained as before. What trains, or writes another form, needs weights for torch
and says so. The graph is a stranger's as much as any file: it is run once, on texts of its terms, before it is kept.
"""

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import InputError
from lexigraft.core.manifest import require_manifest
from lexigraft.core.plain_files import require_plain_file
from lexigraft.core.types import Vocabulary
from lexigraft.inference.folder import (
    FACTS,
    FORMAT_VERSION,
    GRAPHS,
    KIND,
    TOKENIZER,
    WEIGHTS,
    WEIGHTS_8,
    form_beside,
    read_facts,
)
from lexigraft.inference.graph_network import GraphNetwork
from lexigraft.inference.session import open_session
from lexigraft.model.exported import REMEDY, ExportedModel, write_as_model
from lexigraft.vectors.text_encoder import TextEncoder

NEEDED, OF_8_BITS = (GRAPHS[32], WEIGHTS, TOKENIZER, FACTS), (GRAPHS[8], WEIGHTS_8)
TRIED = 8  # terms of the text that is written


def import_graph(found: ExportedModel, out: Path, manifest: Manifest) -> dict[str, Any]:
    """The model at `out`, and its inference form beside it."""
    names = _files(found.folder)
    with write_artifact(out, manifest) as folder:
        write_as_model(found, folder)
        _try(found, folder)
    made = Manifest(KIND, FORMAT_VERSION, {}, {"model": require_manifest(out).fingerprint})
    with write_artifact(form_beside(out), made) as form:
        for name in names:
            shutil.copyfile(found.folder / name, form / name)
    return asdict(found.meta)


def _files(folder: Path) -> tuple[str, ...]:
    names = (*NEEDED, *(name for name in OF_8_BITS if (folder / name).is_file()))
    for name in names:
        try:
            require_plain_file(folder / name, (folder / name).stat())
        except OSError as error:
            raise InputError(f"{folder / name} cannot be read ({error.strerror or error}); {REMEDY}") from error
    return names


def _try(found: ExportedModel, model: Path) -> None:
    """Let every graph write a text."""
    vocabulary = Vocabulary(found.terms)
    for name in GRAPHS.values():
        if (found.folder / name).is_file():
            session, facts = open_session(found.folder / name), read_facts(found.folder)
            network = GraphNetwork(model, found.folder, facts, session, vocabulary, threads=1, meta=found.meta)
            TextEncoder(network, are_queries=False).encode([" ".join(found.terms[:TRIED]), ""])

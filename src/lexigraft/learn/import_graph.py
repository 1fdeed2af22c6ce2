"""An export to ONNX Runtime, taken back: a model whose only weights are those of its graph.

It encodes, is indexed, searched and explained as before. What trains, or writes another form, needs weights for torch
and says so. The graph is a stranger's as much as any file: it is run once, on texts of its terms, before it is kept.
"""

import shutil
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lexigraft.core.artifact import Manifest, require_replaceable, write_artifact
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.folders import make_folders
from lexigraft.core.manifest import require_manifest
from lexigraft.core.stored_record import shortened
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
from lexigraft.model.exported_checks import require_own_file
from lexigraft.vectors.text_encoder import TextEncoder

NEEDED, OF_8_BITS = (GRAPHS[32], WEIGHTS, TOKENIZER, FACTS), (GRAPHS[8], WEIGHTS_8)
WITHIN = {"Loop", "Scan", "If", "SequenceMap"}  # operators with graphs of their own
TRIED = 8  # terms of the text that is written


def import_graph(found: ExportedModel, out: Path, manifest: Manifest) -> dict[str, Any]:
    """The model at `out`, and its inference form beside it."""
    names = _files(found.folder)
    require_replaceable(form_beside(out))  # asked before the model that may be at `out` gives way
    make_folders(out.parent)
    with TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as scratch:
        copied = Path(scratch)
        for name in names:
            shutil.copyfile(found.folder / name, copied / name)
        with write_artifact(out, manifest) as folder:
            write_as_model(found, folder)
            _try(found, folder, copied)
        made = Manifest(KIND, FORMAT_VERSION, {}, {"model": require_manifest(out).fingerprint})
        with write_artifact(form_beside(out), made) as form:
            for name in names:
                (copied / name).rename(form / name)
    return asdict(found.meta)


def _files(folder: Path) -> tuple[str, ...]:
    names = (*NEEDED, *(name for name in OF_8_BITS if (folder / name).is_file()))
    for name in names:
        require_own_file(folder, folder / name, REMEDY)
    return names


def _try(found: ExportedModel, model: Path, form: Path) -> None:
    """Let every graph in `form` write a text."""
    vocabulary = Vocabulary(found.terms)
    for name in GRAPHS.values():
        if not (form / name).is_file():
            continue
        _require_end(form / name)
        try:
            session, facts = open_session(form / name), read_facts(form)
            network = GraphNetwork(model, form, facts, session, vocabulary, threads=1, meta=found.meta)
            TextEncoder(network, are_queries=False).encode([" ".join(found.terms[:TRIED]), ""])
        except (ArtifactError, ArithmeticError, TypeError, ValueError, LookupError) as error:
            said = shortened(str(error).partition(";")[0].replace(str(form), str(found.folder)), quoted=False)
            raise InputError(f"{found.folder / name} writes no text ({said}); {REMEDY}") from error


def _require_end(graph: Path) -> None:
    """Raise for a graph that may go on without end, or calls what is not in it: ours have no loops and no functions."""
    import onnx

    try:
        found = onnx.load(graph, load_external_data=False)
    except Exception as error:  # of protobuf, by whichever of its programs reads
        raise InputError(f"{graph.name} is no graph ({type(error).__name__}); {REMEDY}") from error
    odd = sorted({node.op_type for node in found.graph.node} & WITHIN)
    if odd or found.functions:
        raise InputError(f"{graph.name} has {', '.join(odd) or 'functions'}, which no export of ours has; {REMEDY}")

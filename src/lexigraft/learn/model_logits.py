"""The logit statistics of a trained model on a collection's documents."""

import hashlib
import heapq
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import read_manifest, write_json
from lexigraft.core.errors import InputError
from lexigraft.core.folders import make_folders
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.core.types import Document
from lexigraft.stages.find_model import find_model
from lexigraft.stages.vocabularies import judged_collection


def measure(
    model: Path,
    source: str,
    n_texts: int,
    length: int,
    settings: Settings,
    out: Path | None = None,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """What `train.logits` says of the model at `model` on `n_texts` documents of `source` (0: all), the same ones
    whenever they are drawn; written to `out` as JSON where that is given.

    `length` subwords are read of each; 0: as many as the model was trained to read.
    """
    from lexigraft.model.backbone import default_device
    from lexigraft.model.encoder import open_encoder
    from lexigraft.train.language.logits import measure_logits

    model = find_model(model)
    encoder = open_encoder(model).to(default_device())
    length = length or encoder.meta.document_length or _trained_length(model)
    with judged_collection(source, settings.data, progress) as collection:
        documents = progress.track(collection.documents(), "reading documents")
        drawn = heapq.nsmallest(n_texts, documents, key=_by_chance) if n_texts else documents
        prompt = encoder.meta.document_prompt
        statistics = measure_logits(encoder, (prompt + document.contents for document in drawn), length)
    if not statistics.n_tokens:
        raise InputError(f"no document of {source} has a word: there are no logits to measure; give another collection")
    facts = {
        "model": str(model), "documents": statistics.n_documents, "tokens": statistics.n_tokens,
        "terms": encoder.meta.n_terms, "length": length, **statistics.result(),
    }  # fmt: skip
    if out is not None:
        make_folders(out.parent)
        write_json(out, facts)
    return facts


def _trained_length(model: Path) -> int:
    """What a model that was only pre-trained read of a text."""
    manifest = read_manifest(model)
    found = manifest.config.get("length") if manifest is not None else None
    if not isinstance(found, int):
        raise InputError(f"{model} does not say how many subwords it reads of a text; give --length")
    return found


def _by_chance(document: Document) -> bytes:
    return hashlib.sha256(document.doc_id.encode("utf-8", "replace")).digest()

"""The stage that encodes by a trained model: documents, or their passages, to learned vectors. It imports torch."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import read_manifest
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import DataSettings
from lexigraft.core.types import Document
from lexigraft.data.collection import Collection
from lexigraft.expand.generated import open_generated
from lexigraft.index.texts import TextWriter
from lexigraft.model.backbone import default_device
from lexigraft.model.encoder import OF_SUBWORDS, WITHOUT_MODEL, SparseEncoder, open_encoder
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.expanded_documents import expanded
from lexigraft.vectors.encode import encode_with_model

log = logging.getLogger(__name__)


def encode_with_trained_model(
    collection: Collection,
    data: DataSettings,
    model: Path,
    folder: Path,
    final: Path,
    progress: Progress = SILENT,
    expansions: Path | None = None,
    texts: TextWriter | None = None,
) -> None:
    """Documents, or their passages, to learned vectors; the way from `final`, where they will lie, to the model is kept
    with them. A model that reads expansions takes them from a file, and without one reads the documents alone. `texts`
    keeps what documents say on the way."""
    encoder = open_encoder(model).to(default_device())
    manifest = read_manifest(model)
    assert manifest is not None, "just opened"
    queries: dict[str, Any] = {
        "kind": "model",
        "model": os.path.relpath(model, final),
        "fingerprint": manifest.fingerprint,
    }
    if encoder.meta.queries in WITHOUT_MODEL:
        queries |= words_of_queries(encoder)
    passages, searched = data.in_passages, searched_documents(collection, data, progress)
    if texts is not None:
        searched = texts.passing(searched)
    with _as_read(searched, encoder, expansions, passages, model) as documents:
        encode_with_model(documents, encoder, queries, folder, passages)


@contextmanager
def _as_read(
    documents: Iterator[Document], encoder: SparseEncoder, expansions: Path | None, passages: bool, model: Path
) -> Iterator[Iterator[Document]]:
    """Documents as the model takes them, with their expansions where it reads some; it is said what has none."""
    if not encoder.meta.expansion_length:
        yield documents
    elif expansions is None:
        log.warning(
            "%s was trained on documents with expansions, and none are given: they are encoded without, and worse than "
            "they could be; give a file (lexigraft tilde expand writes one)", model,
        )  # fmt: skip
        yield expanded(documents, None)
    else:
        with open_generated(expansions) as generated:
            yield expanded(documents, generated, passages)
            generated.report("documents")


def words_of_queries(encoder: SparseEncoder) -> dict[str, Any]:
    """What must be known, beside the model's files, to read queries as it does without opening it."""
    return {
        "queries": encoder.meta.queries,
        "subwords": encoder.meta.head in OF_SUBWORDS,
        "special": sorted(int(number) for number in encoder.backbone.hf_tokenizer.all_special_ids),
        "unknown": encoder.tokenizer.special.unknown,
    }

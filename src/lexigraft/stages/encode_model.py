"""The stage that encodes by a trained model: documents, or their passages, to learned vectors. On a CPU by the model's
inference form, on a GPU by torch."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import open_artifact
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import DataSettings
from lexigraft.core.types import Document
from lexigraft.data.collection import Collection
from lexigraft.expand.generated import open_generated
from lexigraft.index.texts import TextWriter
from lexigraft.inference.meta import MODEL_FORMAT, MODEL_KIND, OF_SUBWORDS, WITHOUT_MODEL, EncoderMeta
from lexigraft.inference.network import Network
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.expanded_documents import expanded
from lexigraft.vectors.encode import encode_with_model
from lexigraft.vectors.open_network import USUAL_BITS, open_network

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
    bits: int = USUAL_BITS,
) -> None:
    """Documents, or their passages, to learned vectors; the way from `final`, where they will lie, to the model is kept
    with them. A model that reads expansions takes them from a file, and without one reads the documents alone. `texts`
    keeps what documents say on the way. `bits`: of the model's matrices, where it encodes on a CPU."""
    fingerprint = open_artifact(model, MODEL_KIND, MODEL_FORMAT).fingerprint
    network = open_network(model, bits, on_gpu=True, fingerprint=fingerprint)
    queries = query_encoder_of(network, model, fingerprint, final, bits)
    passages, searched = data.in_passages, searched_documents(collection, data, SILENT)
    if texts is not None:
        searched = texts.passing(searched)
    with as_read(searched, network.meta, expansions, passages, model) as documents:
        total = None if passages else collection.about_how_many()
        encode_with_model(documents, network, queries, folder, passages, progress, total)


def query_encoder_of(network: Network, model: Path, fingerprint: str, final: Path, bits: int) -> dict[str, Any]:
    """How queries are encoded for the vectors that the model at `model` writes, seen from `final`."""
    queries: dict[str, Any] = {"kind": "model", "model": os.path.relpath(model, final), "fingerprint": fingerprint}
    queries |= bits_config(bits)
    if network.meta.queries in WITHOUT_MODEL:
        queries |= words_of_queries(network)
    return queries


@contextmanager
def as_read(
    documents: Iterator[Document], meta: EncoderMeta, expansions: Path | None, passages: bool, model: Path
) -> Iterator[Iterator[Document]]:
    """Documents as the model takes them, with their expansions where it reads some; it is said what has none."""
    if not meta.expansion_length:
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


def bits_config(bits: int) -> dict[str, int]:
    """The bits of a model's matrices, for the recipe of its vectors; the usual ones are not named."""
    return {} if bits == USUAL_BITS else {"bits": bits}


def words_of_queries(network: Network) -> dict[str, Any]:
    """What must be known, beside the model's files, to read queries as it does without opening it."""
    special = network.special
    return {
        "queries": network.meta.queries,
        "subwords": network.meta.head in OF_SUBWORDS,
        "special": sorted(network.not_terms),
        "unknown": special.unknown,
    }

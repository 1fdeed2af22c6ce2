"""The stages of the learned model: learn the vocabulary, pre-train, fine-tune, encode. Imported only when one runs."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import read_manifest
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import DataSettings, VocabSettings
from lexigraft.core.settings_backbone import BackboneSettings
from lexigraft.core.types import Document
from lexigraft.data.collection import Collection
from lexigraft.expand.generated import open_generated
from lexigraft.learn.training_data import training_queries
from lexigraft.model import scratch
from lexigraft.model.backbone import default_device, load_backbone
from lexigraft.model.encoder import BY_WORDS, OF_SUBWORDS, SparseEncoder, open_encoder
from lexigraft.stages.expanded_documents import expanded
from lexigraft.stages.stages_tmp import searched_documents
from lexigraft.vectors.encode import encode_with_model
from lexigraft.vocab.lexicon import adopt, learn
from lexigraft.vocab.lexicon import count_subwords as write_subwords

log = logging.getLogger(__name__)


def make_backbone(
    collection: Collection, layers: int, seed: int, folder: Path, settings: BackboneSettings = scratch.USUAL
) -> None:
    """A tokenizer of the collection's own, or the one that the settings name, and an encoder for it, untrained."""
    scratch.make_backbone(texts_of(collection), layers, seed, folder, settings)


def texts_of(collection: Collection) -> Iterator[str]:
    """All that may be learned from without judgements: the documents, and the queries that train."""
    return chain((document.contents for document in collection.documents()), training_queries(collection))


def learn_vocabulary(
    collection: Collection, words_of: Collection, backbone: str, settings: VocabSettings, folder: Path
) -> None:
    """The most frequent terms that the backbone can spell: of the documents and the training queries, or of another
    collection. What the terms are worth is counted in the collection's own documents either way.

    Documents are what will be searched, so all of them count; of the queries, only those that train.
    """
    tokenizer = load_backbone(backbone, 1).tokenizer
    own = words_of is collection
    words = texts_of(collection) if own else (document.contents for document in words_of.documents())
    documents = (document.contents for document in collection.documents())
    wanted = settings.size, settings.min_count, settings.stemmer, settings.stopwords
    learn(words, documents, tokenizer, *wanted, folder)


def adopt_vocabulary(collection: Collection, vocabulary: Path, backbone: str, folder: Path) -> None:
    """A vocabulary learned elsewhere, with what its terms are worth in the collection's documents."""
    documents = (document.contents for document in collection.documents())
    adopt(vocabulary, documents, load_backbone(backbone, 1).tokenizer, folder)


def count_subwords(collection: Collection, backbone: str, folder: Path) -> None:
    """The backbone's own subwords, the terms of a plain head, with what they are worth in the collection."""
    documents = (document.contents for document in collection.documents())
    write_subwords(documents, load_backbone(backbone, 1).subword_reader(), folder)


def encode(
    collection: Collection,
    data: DataSettings,
    model: Path,
    folder: Path,
    final: Path,
    progress: Progress = SILENT,
    expansions: Path | None = None,
) -> None:
    """Documents, or their passages, to learned vectors; the way from `final`, where they will lie, to the model is kept
    with them. A model that reads expansions takes them from a file, and without one reads the documents alone."""
    encoder = open_encoder(model).to(default_device())
    manifest = read_manifest(model)
    assert manifest is not None, "just opened"
    queries: dict[str, Any] = {
        "kind": "model",
        "model": os.path.relpath(model, final),
        "fingerprint": manifest.fingerprint,
    }
    if encoder.meta.queries == BY_WORDS:
        queries |= words_of_queries(encoder)
    passages = bool(data.passage_words)
    with _as_read(searched_documents(collection, data, progress), encoder, expansions, passages, model) as documents:
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
        "queries": BY_WORDS,
        "subwords": encoder.meta.head in OF_SUBWORDS,
        "special": sorted(int(number) for number in encoder.backbone.hf_tokenizer.all_special_ids),
        "unknown": encoder.tokenizer.special.unknown,
    }

"""The stages of the learned model: learn the vocabulary, pre-train, fine-tune, encode. Imported only when one runs."""

import json
import os
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lexigraft.core.arrays import StringTable, write_strings
from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import FinetuneSettings, ModelSettings, PretrainSettings, VocabSettings
from lexigraft.core.types import Vocabulary
from lexigraft.data.collection import Collection
from lexigraft.model.backbone import Backbone, default_device, load_backbone
from lexigraft.model.encoder import SparseEncoder, open_encoder, save_encoder
from lexigraft.model.head import diagnose, graft, random_head
from lexigraft.train.finetune import finetune as train_to_rank
from lexigraft.train.pretrain import freeze_embeddings, set_dropout
from lexigraft.train.pretrain import pretrain as train_to_name_terms
from lexigraft.vectors.encode import encode_with_model
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.unigrams import build_unigrams, count_words

TRAIN = "train"


class TrainingPairs(NamedTuple):
    """Texts of judged training pairs, row by row; `document_numbers` tells equal documents."""

    queries: list[str]
    documents: list[str]
    document_numbers: list[int]


def training_pairs(collection: Collection) -> TrainingPairs:
    """The positive pairs of the training split; their texts are held in memory, the rest of the corpus is not."""
    positives = [qrel for qrel in collection.qrels(TRAIN) if qrel.relevance > 0]
    query_text = {query.query_id: query.text for query in collection.queries()}
    wanted = {qrel.doc_id for qrel in positives}
    document_text = {
        document.doc_id: document.contents for document in collection.documents() if document.doc_id in wanted
    }
    number = {doc_id: place for place, doc_id in enumerate(document_text)}
    kept = [qrel for qrel in positives if qrel.query_id in query_text and qrel.doc_id in number]
    if not kept:
        raise InputError(
            f"{collection.folder} has no training pair of a known query and document; nothing can be learned"
        )
    return TrainingPairs(
        [query_text[qrel.query_id] for qrel in kept],
        [document_text[qrel.doc_id] for qrel in kept],
        [number[qrel.doc_id] for qrel in kept],
    )


def learn_vocabulary(collection: Collection, model: ModelSettings, settings: VocabSettings, folder: Path) -> None:
    """The most frequent words of the documents and the training queries that the backbone can spell.

    Documents are what will be searched, so all of them count; of the queries, only those that train.
    """
    tokenizer = load_backbone(model.backbone, 1).tokenizer
    documents = (document.contents for document in collection.documents())
    counts = count_words(chain(training_pairs(collection).queries, documents))
    learned = build_unigrams(counts, settings.size, tokenizer, settings.min_count)
    write_strings(folder, "terms", learned.vocabulary.terms)
    np.save(folder / "counts.npy", learned.counts)
    facts = {
        "terms": len(learned.vocabulary),
        "distinct_words": learned.n_distinct_words,
        "unspellable": learned.n_unspellable,
        "coverage": float(learned.counts.sum() / max(1, counts.total())),
        "fingerprint": learned.vocabulary.fingerprint,
    }
    write_json(folder / "vocabulary.json", facts)


def pretrain(
    collection: Collection,
    vocabulary: Path,
    model: ModelSettings,
    settings: PretrainSettings,
    seed: int,
    recipe: dict[str, Any],
    checkpoint: Path,
    folder: Path,
) -> None:
    """Graft the vocabulary onto the backbone and train it to name masked terms of the corpus (EMLM)."""
    terms = Vocabulary(list(StringTable(vocabulary, "terms")))
    encoder = new_encoder(load_backbone(model.backbone, model.layers), terms, model.head, seed).to(default_device())
    texts = [document.contents for document in collection.documents()] + training_pairs(collection).queries
    aligned = AlignedReader(encoder.tokenizer, terms).read(texts, model.document_length)
    set_dropout(encoder, settings.dropout)
    freeze_embeddings(encoder)
    history = train_to_name_terms(encoder, aligned, settings, checkpoint, recipe, seed)
    _write_model(encoder, history, folder)


def new_encoder(backbone: Backbone, vocabulary: Vocabulary, head: str, seed: int) -> SparseEncoder:
    """A backbone with a grafted or random head over `vocabulary`."""
    if head == "random":
        return SparseEncoder(backbone, random_head(len(vocabulary), backbone.width, seed), vocabulary, head)
    spelt = backbone.tokenizer.spell(list(vocabulary.terms))
    indptr = np.cumsum([0, *map(len, spelt)], dtype=np.int64)
    grafted = graft(backbone.subword_weight, backbone.subword_bias, indptr, np.concatenate(spelt))
    return SparseEncoder(backbone, grafted, vocabulary, head)


def finetune(
    collection: Collection,
    pretrained: Path,
    model: ModelSettings,
    settings: FinetuneSettings,
    seed: int,
    recipe: dict[str, Any],
    checkpoint: Path,
    folder: Path,
) -> None:
    """Divide the head by alpha and train the model to rank."""
    encoder = open_encoder(pretrained).to(default_device())
    encoder.head.rescale(model.alpha)
    pairs = training_pairs(collection)
    reader = AlignedReader(encoder.tokenizer, encoder.vocabulary)
    queries = reader.read(pairs.queries, model.query_length)
    documents = reader.read(pairs.documents, model.document_length)
    set_dropout(encoder, settings.dropout)
    freeze_embeddings(encoder)
    history = train_to_rank(encoder, queries, documents, pairs.document_numbers, settings, checkpoint, recipe, seed)
    _write_model(encoder, history, folder)


def _write_model(encoder: SparseEncoder, history: list[dict[str, float]], folder: Path) -> None:
    save_encoder(encoder, folder)
    (folder / "history.json").write_text(json.dumps(history))
    write_json(folder / "head.json", diagnose(encoder.head).__dict__)


def encode(
    collection: Collection,
    model_path: Path,
    model: ModelSettings,
    masks: FinetuneSettings,
    folder: Path,
    final: Path,
    progress: Progress = SILENT,
) -> None:
    """Documents to learned vectors; the way from `final`, where they will lie, to the model is kept with them."""
    query_encoder: dict[str, Any] = {
        "kind": "model",
        "model": os.path.relpath(model_path, final),
        "length": model.query_length,
        "keep": masks.qk,
    }
    documents = progress.track(collection.documents(), "encoding documents")
    encoder = open_encoder(model_path).to(default_device())
    encode_with_model(documents, encoder, model.document_length, masks.dk, query_encoder, folder)

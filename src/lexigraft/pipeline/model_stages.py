"""The stages of the learned model: learn the vocabulary, pre-train, fine-tune, encode. Imported only when one runs."""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import save_file
from torch import nn

from lexigraft.core.artifact import read_manifest, write_json
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import DataSettings, FinetuneSettings, ModelSettings, PretrainSettings, VocabSettings
from lexigraft.data.collection import Collection
from lexigraft.model import scratch
from lexigraft.model.backbone import Backbone, default_device, load_backbone
from lexigraft.model.encoder import PLAIN, SparseEncoder, open_encoder, save_encoder
from lexigraft.model.head import SparseHead, diagnose, graft, own_words, random_head
from lexigraft.model.inputs import read_documents, read_queries
from lexigraft.model.plain import plain_head
from lexigraft.pipeline.choose_alpha import probe_alphas
from lexigraft.pipeline.stages import searched_documents
from lexigraft.pipeline.training_curves import draw as draw_curves
from lexigraft.pipeline.training_data import training_data, training_queries
from lexigraft.train.finetune import ValidationTexts
from lexigraft.train.finetune import finetune as train_to_rank
from lexigraft.train.loop import Training
from lexigraft.train.pairs import TrainingPairs
from lexigraft.train.pretrain import freeze, set_dropout
from lexigraft.train.pretrain import pretrain as train_to_name_terms
from lexigraft.train.pretraining_texts import choose_texts
from lexigraft.vectors.encode import encode_with_model
from lexigraft.vocab.aligned import AlignedTexts, joined
from lexigraft.vocab.batching import batches
from lexigraft.vocab.lexicon import Lexicon, adopt, learn, open_lexicon
from lexigraft.vocab.lexicon import count_subwords as write_subwords


def make_backbone(collection: Collection, layers: int, seed: int, folder: Path) -> None:
    """A tokenizer of the collection's own and a small encoder for it, untrained."""
    scratch.make_backbone(texts_of(collection), layers, seed, folder)


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


def pretrain(
    texts: Iterable[str],
    vocabulary: Path,
    source: str,
    name: str,
    model: ModelSettings,
    settings: PretrainSettings,
    seed: int,
    recipe: dict[str, Any],
    progress: Progress,
    checkpoint: Path,
    folder: Path,
) -> None:
    """Graft the vocabulary onto the backbone loaded from `source` and train it to name masked terms (EMLM) in `texts`;
    `pretraining.json` says what became of those. With a plain head terms are subwords, and this is masked language
    modelling of the usual kind.
    """
    lexicon = open_lexicon(vocabulary)
    backbone = load_backbone(source, model.layers, name)
    _require_positions(backbone, max(model.query_length, model.document_length))
    encoder = new_encoder(backbone, lexicon, model, seed).to(default_device())
    corpus = choose_texts(_read_corpus(texts, encoder, model.document_length), settings, seed)
    set_dropout(encoder, settings.dropout)
    freeze(encoder)
    training = train_to_name_terms(encoder, corpus, settings, checkpoint, recipe, seed, progress)
    _write_model(encoder, training, folder)
    write_json(folder / "pretraining.json", corpus.facts)


def _require_positions(backbone: Backbone, longest: int) -> None:
    most = backbone.longest_text
    if most is not None and longest > most:
        raise SettingError(
            f"model.query_length, model.document_length: {backbone.name!r} reads at most {most} subwords, not {longest}"
        )


def _read_corpus(texts: Iterable[str], encoder: SparseEncoder, length: int) -> AlignedTexts:
    """Texts as subwords; the texts themselves are held only some thousand at a time."""
    reader = encoder.reader()
    parts = [reader.read(some, length) for some in batches(texts, len)]
    if not parts:
        raise InputError("there is no text to pre-train on; give a collection that has some (pretrain.source)")
    return joined(parts)


def new_encoder(backbone: Backbone, lexicon: Lexicon, model: ModelSettings, seed: int) -> SparseEncoder:
    """A backbone with a grafted or random head over the terms of `lexicon`, or with its own over its subwords; its rows
    times `model.inflate`."""
    if (model.head == PLAIN) != lexicon.subwords:
        raise InputError(f"model.head = {model.head!r} does not go with this vocabulary; learn it again")
    if model.head == PLAIN:
        head = plain_head(backbone)
    elif model.head == "random":
        head = random_head(len(lexicon.vocabulary), backbone.width, seed)
    else:
        head = grafted_head(backbone, lexicon)
    if model.inflate != 1:
        head.rescale(1 / model.inflate)
    if model.own_words:
        head.own = nn.Parameter(own_words(lexicon.idf, model.own_words))
    return SparseEncoder(
        backbone, head, lexicon.vocabulary, model.head, lexicon.stemmer, lexicon.stopwords, lexicon.mean_words
    )


def grafted_head(backbone: Backbone, lexicon: Lexicon) -> SparseHead:
    """A term's row is the mean of its forms' rows, by their counts; a form's row the mean of its subwords' rows."""
    spelt = backbone.tokenizer.spell(lexicon.forms)
    lengths = np.array([len(ids) for ids in spelt], np.int64)
    of_term = np.add.reduceat(lexicon.form_counts, lexicon.forms_indptr[:-1])
    of_form = lexicon.form_counts / np.repeat(of_term, np.diff(lexicon.forms_indptr))
    shares = np.repeat(of_form / lengths, lengths).astype(np.float32)
    starts = np.concatenate(([0], np.cumsum(lengths)))[lexicon.forms_indptr]
    return graft(backbone.subword_weight, backbone.subword_bias, starts, np.concatenate(spelt), shares)


def finetune(
    collection: Collection,
    measured_split: str | None,
    pretrained: Path,
    model: ModelSettings,
    settings: FinetuneSettings,
    seed: int,
    recipe: dict[str, Any],
    progress: Progress,
    checkpoint: Path,
    folder: Path,
) -> None:
    """Divide the head by alpha and train the model to rank; how alpha = auto was chosen is kept beside it."""
    encoder = open_encoder(pretrained).to(default_device())
    pairs, validating = training_data(collection, measured_split, settings)
    reader = encoder.reader()
    training_pairs = TrainingPairs(
        read_queries(reader, pairs.queries, model.query_length),
        read_documents(encoder, reader, pairs.documents, model.document_length),
        np.array(pairs.query_of, np.int64),
        np.array(pairs.document_of, np.int64),
        pairs.negatives,
        pairs.teacher,
    )
    validation = validating and ValidationTexts(
        read_queries(reader, validating.queries, model.query_length),
        read_documents(encoder, reader, validating.documents, model.document_length),
        np.array(validating.wanted, np.int64),
    )
    alpha = model.alpha
    if isinstance(alpha, str):
        choice = probe_alphas(
            lambda: open_encoder(pretrained).to(default_device()),
            training_pairs, settings, seed, validation, checkpoint.with_name("alpha-probe"), progress,
        )  # fmt: skip
        choice.write(folder)
        alpha = choice.alpha
    encoder.head.rescale(alpha)
    set_dropout(encoder, settings.dropout)
    freeze(encoder, settings.frozen_layers)
    encoder.meta = replace(
        encoder.meta, pooling=model.pooling, pooled=model.pooled,
        query_length=model.query_length, document_length=model.document_length,
        query_terms=settings.qk, document_terms=settings.dk,
    )  # fmt: skip
    training = train_to_rank(encoder, training_pairs, settings, checkpoint, recipe, seed, validation, progress)
    _write_model(encoder, training, folder)


def _write_model(encoder: SparseEncoder, training: Training, folder: Path) -> None:
    """The model and how it was trained; `last.safetensors` holds the last trained weights where others are better."""
    save_encoder(encoder, folder)
    (folder / "history.json").write_text(json.dumps(training.history))
    draw_curves(training.history, folder / "curves.png")
    write_json(folder / "kept.json", {"step": training.best_step or len(training.history)})
    write_json(folder / "head.json", diagnose(encoder.head).__dict__)
    if training.last is not None:
        save_file(training.last, folder / "last.safetensors")


def encode(
    collection: Collection, data: DataSettings, model: Path, folder: Path, final: Path, progress: Progress = SILENT
) -> None:
    """Documents, or their passages, to learned vectors; the way from `final`, where they will lie, to the model is kept
    with them."""
    encoder = open_encoder(model).to(default_device())
    documents = searched_documents(collection, data, progress)
    manifest = read_manifest(model)
    assert manifest is not None, "just opened"
    queries = {"kind": "model", "model": os.path.relpath(model, final), "fingerprint": manifest.fingerprint}
    encode_with_model(documents, encoder, queries, folder, passages=bool(data.passage_words))

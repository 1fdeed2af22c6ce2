"""The stage that fine-tunes a model: a pre-trained one learns to rank."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import SettingError
from lexigraft.core.settings import FinetuneSettings, ModelSettings
from lexigraft.data.collection import Collection
from lexigraft.inference.meta import BY_MODEL, BY_TABLE, WITHOUT_MODEL
from lexigraft.inference.reading import read_documents, read_queries
from lexigraft.learn.choose_alpha import kept_choice, probe_alphas
from lexigraft.learn.new_model import write_model
from lexigraft.learn.query_expansions import distilled_table, table_source
from lexigraft.learn.token_cache import cached, open_texts, write_texts
from lexigraft.learn.training_data import TrainingData, training_data
from lexigraft.learn.training_job import TrainingJob
from lexigraft.model.backbone import default_device
from lexigraft.model.encoder import SparseEncoder, open_encoder
from lexigraft.stages.layout import RunFolder
from lexigraft.train.batches import steps_of_passes, warmup_within
from lexigraft.train.level import level
from lexigraft.train.quieten import quieten
from lexigraft.train.ranking.finetune import finetune as train_to_rank
from lexigraft.train.ranking.lessons import Lessons
from lexigraft.train.ranking.pairs import TrainingPairs
from lexigraft.train.ranking.ranking_validation import ValidationTexts
from lexigraft.train.trainable import freeze, set_dropout
from lexigraft.vocab.lexicon import open_lexicon
from lexigraft.vocab.lookup import TableRows, own_terms_table, read_table, write_table

log = logging.getLogger(__name__)

QUERIES, DOCUMENTS, ASKED, RANKED = "queries", "documents", "validation-queries", "validation-documents"


def finetune(
    collection: Collection,
    measured_split: str | None,
    vocabulary: Path,
    pretrained: Path,
    model: ModelSettings,
    settings: FinetuneSettings,
    job: TrainingJob,
    run: RunFolder | None = None,
) -> None:
    """Divide the head by alpha and train the model to rank; how alpha = auto was chosen is kept beside it. `run`: where
    the systems lie that it learns from (`finetune.teachers`)."""
    seed, recipe, progress, checkpoint, folder = job
    if model.queries in WITHOUT_MODEL:
        settings = replace(settings, qk=0)  # a query is its own words, and all of them

    data = training_data(collection, measured_split, settings)
    table = _first_table(vocabulary, data.pairs.queries, model, job) if model.queries == BY_TABLE else None
    cut = not settings.dual  # otherwise whole vectors are ranked by, too: nothing of them is without meaning

    def open_pretrained() -> SparseEncoder:
        encoder = open_encoder(pretrained).to(default_device())
        encoder.meta = replace(
            encoder.meta, pooling=model.pooling, pooled=model.pooled,
            query_length=model.query_length, document_length=model.document_length,
            query_terms=cut * settings.qk, document_terms=cut * settings.dk, queries=model.queries,
            expansion_length=model.expansion_length if model.expansions else 0,
        )  # fmt: skip
        if table is not None:
            encoder.set_table(table)
        return encoder

    encoder = open_pretrained()
    _require_positions(encoder)
    if settings.epochs:
        steps = steps_of_passes(settings.epochs, len(data.pairs.query_of), settings.batch)
        settings = replace(settings, steps=steps, epochs=0.0, warmup=warmup_within(settings.warmup, steps))
    texts = cached(
        checkpoint.with_name("finetune-texts"), recipe, lambda draft: _read_texts(encoder, data, model, draft)
    )
    training_pairs, validation = _open_texts(texts, data)
    lessons = _lessons(run, data, settings, job) if run is not None and settings.hears else None
    if settings.hears and lessons is None and not (settings.in_batch or settings.kl or settings.margin_mse):
        log.warning("no teacher is heard, and nothing else was to be learned from: judgements are (finetune.in_batch)")
        settings = replace(settings, in_batch=1.0)
    alpha = model.alpha
    if isinstance(alpha, str):
        probes = open_pretrained, training_pairs, settings, seed, validation, checkpoint.with_name("alpha-probe")
        kept = checkpoint.with_name("finetune-alpha")
        alpha = kept_choice(kept, recipe, lambda: probe_alphas(*probes, progress), folder)
    encoder.head.rescale(alpha)
    if model.calibrate == "terms":
        level(encoder, training_pairs.documents, model.first_terms, progress)
    if model.first_terms:
        quieten(encoder, training_pairs.documents, model.first_terms)
    set_dropout(encoder, settings.dropout)
    freeze(encoder, settings.frozen_layers)
    training = train_to_rank(encoder, training_pairs, settings, checkpoint, recipe, seed, validation, progress, lessons)
    write_model(encoder, training, folder)


def _lessons(run: RunFolder, data: TrainingData, settings: FinetuneSettings, job: TrainingJob) -> Lessons | None:
    """What the teachers say, read once and kept until training ends; what they are worth stays beside the model."""
    from lexigraft.learn.lessons import FACTS, open_lessons, write_lessons

    kept = cached(
        job.checkpoint.with_name("finetune-lessons"), job.recipe,
        lambda draft: write_lessons(run, settings.teachers, data, draft),
    )  # fmt: skip
    lessons, facts = open_lessons(kept, len(data.pairs.queries), len(data.pairs.doc_ids))
    write_json(job.folder / FACTS, facts)
    return lessons


def _first_table(vocabulary: Path, queries: list[str], model: ModelSettings, job: TrainingJob) -> TableRows:
    """Where the table of queries begins. One that a model was asked for is kept until training ends: a checkpoint holds
    what its entries weigh, not what they are."""
    lexicon = open_lexicon(vocabulary)
    if not model.expands_by_table:
        return own_terms_table(lexicon.idf)
    source = table_source(model.table_source, lexicon.vocabulary.fingerprint)

    def write(draft: Path) -> None:
        write_table(draft, distilled_table(source, lexicon, queries, model.table_terms, job.progress))

    return read_table(cached(job.checkpoint.with_name("finetune-table"), job.recipe, write))


def _require_positions(encoder: SparseEncoder) -> None:
    meta, most = encoder.meta, encoder.backbone.longest_text
    if most is not None and meta.query_length > most and meta.queries == BY_MODEL:
        raise SettingError(
            f"model.query_length = {meta.query_length} is more than {meta.backbone!r} reads: {most} subwords"
        )
    if most is not None and meta.document_length + meta.expansion_length > most:
        raise SettingError(
            f"model.document_length = {meta.document_length} and model.expansion_length = {meta.expansion_length} are "
            f"more than {meta.backbone!r} reads: {most} subwords together"
        )


def _read_texts(encoder: SparseEncoder, data: TrainingData, model: ModelSettings, draft: Path) -> None:
    """Every text that trains or validates, as the model reads it."""
    reader, meta, (pairs, validating) = encoder.reader(), encoder.meta, data
    sides = [(QUERIES, DOCUMENTS, pairs.queries, pairs.documents)]
    if validating is not None:
        sides.append((ASKED, RANKED, validating.queries, validating.documents))
    for asked, ranked, queries, documents in sides:
        write_texts(draft, asked, queries, lambda some: read_queries(reader, some, model.query_length))
        write_texts(draft, ranked, documents, lambda some: read_documents(meta, reader, some, model.document_length))


def _open_texts(texts: Path, data: TrainingData) -> tuple[TrainingPairs, ValidationTexts | None]:
    pairs, validating = data
    rows = np.array(pairs.query_of, np.int64), np.array(pairs.document_of, np.int64)
    opened = open_texts(texts, QUERIES), open_texts(texts, DOCUMENTS)
    training_pairs = TrainingPairs(*opened, *rows, pairs.negatives, pairs.teacher)
    if validating is None:
        return training_pairs, None
    wanted = np.array(validating.wanted, np.int64)
    return training_pairs, ValidationTexts(open_texts(texts, ASKED), open_texts(texts, RANKED), wanted)

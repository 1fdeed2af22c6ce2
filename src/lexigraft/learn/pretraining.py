"""The stage that pre-trains a model: a new head on a backbone learns to name masked terms."""

from collections.abc import Iterable
from pathlib import Path

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.settings import ModelSettings, PretrainSettings
from lexigraft.learn.new_model import new_encoder, write_model
from lexigraft.learn.token_cache import cached, open_aligned, write_aligned
from lexigraft.learn.training_job import TrainingJob
from lexigraft.model.backbone import Backbone, default_device, load_backbone
from lexigraft.train.language.pretrain import pretrain as train_to_name_terms
from lexigraft.train.language.pretraining_texts import choose_texts
from lexigraft.train.loop import Training
from lexigraft.train.trainable import freeze, set_dropout
from lexigraft.vocab.lexicon import open_lexicon

TEXTS = "texts"


def pretrain(
    texts: Iterable[str],
    vocabulary: Path,
    source: str,
    name: str,
    model: ModelSettings,
    settings: PretrainSettings,
    job: TrainingJob,
) -> None:
    """Graft the vocabulary onto the backbone loaded from `source` and train it to name masked terms (EMLM) in `texts`;
    `pretraining.json` says what became of those. With a plain head terms are subwords, and this is masked language
    modelling of the usual kind. With no steps the texts are not read.
    """
    seed, recipe, progress, checkpoint, folder = job
    lexicon = open_lexicon(vocabulary)
    backbone = load_backbone(source, model.layers, name)
    _require_positions(backbone, max(model.query_length, model.document_length))
    encoder = new_encoder(backbone, lexicon, model, seed, progress).to(default_device())
    if not settings.steps:
        write_model(encoder, Training(), folder)
        return
    reader = encoder.reader()

    def read(draft: Path) -> None:
        if not write_aligned(draft, TEXTS, texts, lambda some: reader.read(some, model.document_length)):
            raise InputError("there is no text to pre-train on; give a collection that has some (pretrain.source)")

    aligned = open_aligned(cached(checkpoint.with_name("pretrain-texts"), recipe, read), TEXTS)
    corpus = choose_texts(aligned, settings, seed)
    set_dropout(encoder, settings.dropout)
    freeze(encoder)
    training = train_to_name_terms(encoder, corpus, settings, checkpoint, recipe, seed, progress)
    write_model(encoder, training, folder)
    write_json(folder / "pretraining.json", corpus.facts)


def _require_positions(backbone: Backbone, longest: int) -> None:
    most = backbone.longest_text
    if most is not None and longest > most:
        raise SettingError(
            f"model.query_length, model.document_length: {backbone.name!r} reads at most {most} subwords, not {longest}"
        )

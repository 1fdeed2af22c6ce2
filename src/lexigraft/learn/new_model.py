"""A model before and after training: backbone and vocabulary joined, and what training leaves as files."""

import json
from pathlib import Path

import numpy as np
from safetensors.torch import save_file
from torch import nn

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import ModelSettings
from lexigraft.core.types import require_same_vocabulary
from lexigraft.inference.meta import OF_SUBWORDS, PLAIN, UNICOIL
from lexigraft.learn.training_curves import draw as draw_curves
from lexigraft.model.backbone import Backbone
from lexigraft.model.encoder import SparseEncoder, save_encoder
from lexigraft.model.head import SparseHead, diagnose, graft, own_words, random_head
from lexigraft.model.impact import ImpactHead, impact_head
from lexigraft.model.neighbours import from_neighbours
from lexigraft.model.plain import plain_head
from lexigraft.train.loop import Training
from lexigraft.vocab.lexicon import Lexicon


def new_encoder(
    backbone: Backbone, lexicon: Lexicon, model: ModelSettings, seed: int, progress: Progress = SILENT
) -> SparseEncoder:
    """A backbone with a grafted or random head over the terms of `lexicon`, with its own over its subwords, or with one
    impact for each of those; its rows times `model.inflate`."""
    if (model.head in OF_SUBWORDS) != lexicon.subwords:
        raise InputError(f"model.head = {model.head!r} does not go with this vocabulary; learn it again")
    if lexicon.subwords:
        require_same_vocabulary(
            f"the backbone {backbone.name}", backbone.subwords().fingerprint,
            "the vocabulary", lexicon.vocabulary.fingerprint,
        )  # fmt: skip
    head: SparseHead | ImpactHead
    if model.head == UNICOIL:
        head = impact_head(backbone.width, backbone.is_term(), seed)
    elif model.head == PLAIN:
        head = plain_head(backbone)
    elif model.head == "random":
        head = random_head(len(lexicon.vocabulary), backbone.width, seed)
    else:
        head = grafted_head(backbone, lexicon)
        if model.graft == "neighbours":
            head = from_neighbours(backbone, lexicon, head, progress)
    if model.inflate != 1:
        head.rescale(1 / model.inflate)
    if model.own_words and isinstance(head, SparseHead):
        head.own = nn.Parameter(own_words(lexicon.idf, model.own_words))
    return SparseEncoder(
        backbone,
        head,
        lexicon.vocabulary,
        model.head,
        lexicon.stemmer,
        lexicon.stopwords,
        lexicon.mean_words,
        lexicon.rule,
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


def write_model(encoder: SparseEncoder, training: Training, folder: Path) -> None:
    """The model and how it was trained; `last.safetensors` holds the last trained weights where others are better."""
    save_encoder(encoder, folder)
    (folder / "history.json").write_text(json.dumps(training.history))
    draw_curves(training.history, folder / "curves.png")
    write_json(folder / "kept.json", {"step": training.best_step or len(training.history)})
    write_json(folder / "head.json", diagnose(encoder.head).__dict__)
    if training.last is not None:
        save_file(training.last, folder / "last.safetensors")

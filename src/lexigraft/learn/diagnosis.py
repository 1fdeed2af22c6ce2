"""A model or backbone looked at before it is trained to rank: its head, what it makes of texts, what that predicts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.data.collection import Collection
from lexigraft.inference.reading import read_documents, read_queries
from lexigraft.learn.training_data import sample_pairs
from lexigraft.model.backbone import default_device, load_backbone
from lexigraft.model.encoder import open_encoder
from lexigraft.model.head import HasRows, HeadDiagnostics, SparseHead, diagnose, is_tied
from lexigraft.model.pool import max_over_tokens, saturate
from lexigraft.stages.find_model import find_model
from lexigraft.stages.vocabularies import judged_collection
from lexigraft.train.activations import AT_ONCE, Activations, encode_rows, measure_activations
from lexigraft.train.rescaling import ALPHAS, is_too_large, predict, suggest_alpha

N_PAIRS = 256


@dataclass(frozen=True)
class Diagnosis:
    """`head` says where the rows came from, `tied` whether they are the word embeddings too. With texts, `activations`
    has what they become and, where the head is too large, `by_alpha` the same after dividing it. `alpha` is suggested:
    1 where nothing speaks for another."""

    name: str
    head: str
    tied: bool
    n_terms: int
    width: int
    norms: HeadDiagnostics
    activations: Activations | None
    by_alpha: dict[float, Activations]
    alpha: float
    predictions: list[str]


class _Subject(NamedTuple):
    """What is looked at: `encode(texts, are_queries)` gives vectors [texts, vocabulary] by the rows that `head` has."""

    name: str
    kind: str
    tied: bool
    head: HasRows
    encode: Callable[[Sequence[str], bool], Tensor]


def diagnose_model(
    path: Path, source: str | None, settings: Settings, n_pairs: int = N_PAIRS, progress: Progress = SILENT
) -> Diagnosis:
    """Of a model folder, or of a run: its fine-tuned model or, where there is none yet, the pre-trained one."""
    return _diagnose(_open_model(path, settings), source, settings, n_pairs, progress)


def diagnose_backbone(
    name: str, source: str | None, settings: Settings, n_pairs: int = N_PAIRS, progress: Progress = SILENT
) -> Diagnosis:
    """Of a backbone with its own head over its own subwords, in as many layers as `model.layers` says."""
    return _diagnose(_open_backbone(name, settings), source, settings, n_pairs, progress)


def _diagnose(subject: _Subject, source: str | None, settings: Settings, n_pairs: int, progress: Progress) -> Diagnosis:
    norms, found = diagnose(subject.head), {}
    if source is not None:
        with judged_collection(source, settings.data, progress) as collection:
            measure = _measurement(subject, collection, settings, n_pairs)
        found = {1.0: measure()}
    activations, alpha = found.get(1.0), suggest_alpha(norms.mean_norm)
    if source is not None and is_too_large(norms.mean_norm, activations):
        for smaller, larger in pairwise(ALPHAS):
            subject.head.rescale(larger / smaller)
            found[larger] = measure()
        fits = [a for a, one in found.items() if not is_too_large(norms.mean_norm / a, one)]
        alpha = next((a for a in fits if a >= alpha), ALPHAS[-1])
    return Diagnosis(
        subject.name, subject.kind, subject.tied, len(subject.head.weight), subject.head.weight.shape[1], norms,
        activations, found if len(found) > 1 else {}, alpha, predict(norms, activations, alpha),
    )  # fmt: skip


def _measurement(
    subject: _Subject, collection: Collection, settings: Settings, n_pairs: int
) -> Callable[[], Activations]:
    pairs = sample_pairs(collection, n_pairs)
    if len(pairs.queries) < 2:
        raise InputError(f"{collection.name} has fewer than two training pairs to look at; name a larger collection")
    rows = range(len(pairs.queries))
    relevant: NDArray[np.bool_] = np.array([[(q, d) in pairs.relevant for d in rows] for q in rows])

    def measure() -> Activations:
        queries, documents = subject.encode(pairs.queries, True), subject.encode(pairs.documents, False)
        return measure_activations(queries, documents, relevant, settings.finetune)

    return measure


def _open_model(path: Path, settings: Settings) -> _Subject:
    path = find_model(path)
    encoder = open_encoder(path).to(default_device())
    lengths = {
        True: encoder.meta.query_length or settings.model.query_length,
        False: encoder.meta.document_length or settings.model.document_length,
    }

    def encode(texts: Sequence[str], are_queries: bool) -> Tensor:
        reader, length = encoder.reader(), lengths[are_queries]
        prompt = encoder.meta.query_prompt if are_queries else encoder.meta.document_prompt
        texts = [prompt + text for text in texts]
        read = (
            read_queries(reader, texts, length) if are_queries else read_documents(encoder.meta, reader, texts, length)
        )
        return encode_rows(encoder, read, np.arange(len(texts)), encoder.queries if are_queries else encoder)

    embeddings = encoder.body.model.get_input_embeddings().weight  # type: ignore[operator]
    return _Subject(str(path), encoder.meta.head, is_tied(encoder.head, embeddings), encoder.head, encode)


def _open_backbone(name: str, settings: Settings) -> _Subject:
    backbone = load_backbone(name, settings.model.layers)
    device = default_device()
    head = SparseHead(backbone.subword_weight, backbone.subword_bias).to(device)
    body = backbone.body.to(device).eval()
    lengths = {True: settings.model.query_length, False: settings.model.document_length}

    @torch.inference_mode()
    def encode(texts: Sequence[str], are_queries: bool) -> Tensor:
        vectors = []
        for start in range(0, len(texts), AT_ONCE):
            batch = backbone.hf_tokenizer(
                list(texts[start : start + AT_ONCE]), truncation=True, max_length=lengths[are_queries], padding=True,
                return_tensors="pt",
            ).to(device)  # fmt: skip
            hidden = body(batch["input_ids"], batch["attention_mask"])
            vectors.append(saturate(max_over_tokens(hidden, batch["attention_mask"], head.weight, head.bias)))
        return torch.cat(vectors)

    embeddings = body.model.get_input_embeddings().weight  # type: ignore[operator]
    return _Subject(name, "plain", is_tied(head, embeddings), head, encode)

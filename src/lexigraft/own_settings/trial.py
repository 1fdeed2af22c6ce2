"""Short trials of the very training that is to come: how fast it goes here, what fits, and which rate learns best.

The model is the one that pre-training begins with. Nothing that a trial learns is kept.
"""

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from lexigraft.core.settings import FinetuneSettings, ModelSettings, PretrainSettings
from lexigraft.inference.meta import BY_TABLE
from lexigraft.inference.network import Network
from lexigraft.inference.reading import read_documents, read_queries
from lexigraft.learn.new_model import new_encoder
from lexigraft.learn.training_data import Pairs, TrainingData, ValidationSet
from lexigraft.model.backbone import default_device, load_backbone
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.head import SparseHead
from lexigraft.model.inputs import inputs_of
from lexigraft.model.torch_network import TorchNetwork
from lexigraft.train.language.pretrain import pretrain as train_to_name_terms
from lexigraft.train.language.pretraining_texts import choose_texts
from lexigraft.train.loop import TrainingError
from lexigraft.train.ranking.finetune import finetune as train_to_rank
from lexigraft.train.ranking.pairs import TrainingPairs
from lexigraft.train.ranking.ranking_validation import ValidationTexts, recall_at_10
from lexigraft.train.trainable import freeze, set_dropout
from lexigraft.vectors.open_network import writes_graphs
from lexigraft.vectors.text_encoder import TextEncoder
from lexigraft.vocab.lexicon import Lexicon
from lexigraft.vocab.lookup import own_terms_table

MOST_PAIRS = 20_000
FEWEST_STEPS, MOST_STEPS = 2, 20
ENCODED_FIRST, ENCODED = 32, 256  # documents: to warm up, and to be timed
NEVER = 1_000_000  # steps: so that a regulariser has no weight yet
USUAL_TERMS = 400  # of a document in training, soon after its beginning
LOOKED_AT = 32  # documents, to see how many they have

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Trials:
    """`source` is what the backbone is loaded from and `called` its name; `texts` are some documents. `scratch` is a
    path at which nothing is; trials leave nothing there."""

    source: str
    called: str
    lexicon: Lexicon
    model: ModelSettings
    data: TrainingData
    texts: list[str]
    seed: int
    scratch: Path

    def new_encoder(self) -> SparseEncoder:
        """The model before any training, on the device that trains it."""
        backbone = load_backbone(self.source, self.model.layers, self.called)
        encoder = new_encoder(backbone, self.lexicon, self.model, self.seed).to(default_device())
        encoder.meta = replace(
            encoder.meta, pooling=self.model.pooling, pooled=self.model.pooled, queries=self.model.queries,
            query_length=self.model.query_length, document_length=self.model.document_length,
        )  # fmt: skip
        if self.model.queries == BY_TABLE:
            encoder.set_table(own_terms_table(self.lexicon.idf))
        if not isinstance(self.model.alpha, str):
            encoder.head.rescale(self.model.alpha)
        return encoder

    def pairs(self, encoder: SparseEncoder) -> TrainingPairs:
        """Some of the training pairs, the same ones at every call, as the model reads them."""
        pairs, reader = _some(self.data.pairs), encoder.reader()
        return TrainingPairs(
            read_queries(reader, pairs.queries, self.model.query_length),
            read_documents(encoder.meta, reader, pairs.documents, self.model.document_length),
            np.array(pairs.query_of, np.int64),
            np.array(pairs.document_of, np.int64),
        )

    def validation(self, encoder: SparseEncoder, held: ValidationSet) -> ValidationTexts:
        reader = encoder.reader()
        return ValidationTexts(
            read_queries(reader, held.queries, self.model.query_length),
            read_documents(encoder.meta, reader, held.documents, self.model.document_length),
            np.array(held.wanted, np.int64),
        )

    def batch_that_fits(self, settings: FinetuneSettings, batch: int) -> int:
        """`batch`, halved as long as a step of it does not fit into the memory of the GPU."""
        encoder = self._to_train(settings)
        pairs = self.pairs(encoder)
        while batch > 2:
            try:
                self._steps(encoder, pairs, replace(settings, batch=batch), 1)
                return batch
            except torch.cuda.OutOfMemoryError:
                log.info("finetune.batch: %d pairs do not fit into the memory of the GPU", batch)
                batch //= 2
                torch.cuda.empty_cache()
        return batch

    def finetune_step(self, settings: FinetuneSettings, seconds: float) -> float:
        """Seconds of a step of fine-tuning, measured for about `seconds`."""
        encoder = self._quiet(self._to_train(settings))
        pairs = self.pairs(encoder)
        found = seconds_of(lambda steps: self._steps(encoder, pairs, settings, steps), seconds)
        return found * (1 + settings.n_negatives)  # which a trial leaves out, and which are encoded as documents are

    def pretrain_step(self, settings: PretrainSettings, seconds: float) -> float:
        encoder = self.new_encoder()
        freeze(encoder)
        aligned = encoder.reader().read(self.texts, self.model.document_length)
        corpus = choose_texts(aligned, replace(settings, texts=0, validate_every=0), self.seed)

        def run(steps: int) -> None:
            short = replace(
                settings, steps=steps, warmup=0, horizon=0, validate_every=0, texts=0, checkpoint_every=steps + 1
            )
            train_to_name_terms(encoder, corpus, short, self.scratch, {}, self.seed)

        return seconds_of(run, seconds)

    def encode_document(self) -> float:
        """Seconds of a document, in the form that will encode them all."""
        with TemporaryDirectory() as folder:
            encoder = TextEncoder(self._network(Path(folder)), are_queries=False)
            encoder.encode(self.texts[:ENCODED_FIRST])
            some = self.texts[:ENCODED]
            return _seconds(lambda: encoder.encode(some)) / len(some)

    def _network(self, folder: Path) -> Network:
        encoder = self._quiet(self.new_encoder()).eval()
        if default_device().type != "cpu" or not writes_graphs():
            return TorchNetwork(encoder)
        from lexigraft.model.inference_form import graph_of

        try:
            return graph_of(encoder, folder, self.model.bits)
        except Exception:  # noqa: BLE001  # what cannot be written as a graph is run by torch
            return TorchNetwork(encoder)

    def one_validation(self, settings: FinetuneSettings) -> float:
        """Seconds of a validation; 0 where there is none."""
        held = self.data.validation
        if held is None or not settings.validate_every:
            return 0.0
        encoder = self._quiet(self.new_encoder()).eval()
        texts = self.validation(encoder, held)
        return _seconds(lambda: recall_at_10(encoder, texts, settings.qk, settings.dk))

    def recall_after(self, settings: FinetuneSettings, rates: Sequence[float], steps: int) -> dict[float, float]:
        """Validation R@10 after `steps` of fine-tuning with each learning rate; 0 where training failed."""
        held, found = self.data.validation, {}
        assert held is not None, "asked for where there is one"
        for rate in rates:
            encoder = self._to_train(settings)
            pairs, texts = self.pairs(encoder), self.validation(encoder, held)
            short = replace(
                on_its_own(settings), learning_rate=rate, steps=steps, warmup=steps // 15, ramp=4 * steps // 15,
                horizon=0, validate_every=steps, checkpoint_every=steps + 1,
            )  # fmt: skip
            try:
                history = train_to_rank(encoder, pairs, short, self.scratch, {}, self.seed, texts).history
                found[rate] = history[-1]["R@10"]
            except TrainingError as error:
                log.info("learning rate %g: %s", rate, error)
                found[rate] = 0.0
            log.info("learning rate %g: R@10 %.4f after %d steps", rate, found[rate], steps)
        return found

    @torch.no_grad()
    def _quiet(self, encoder: SparseEncoder) -> SparseEncoder:
        """The model with a lower bias, so that a document has as many terms as in most of its training: before that it
        has thousands, which takes up to twice as long."""
        if not isinstance(encoder.head, SparseHead) or encoder.meta.pooling == "sum" or not self.texts:
            return encoder
        device, pad_id, some = next(encoder.parameters()).device, encoder.tokenizer.special.pad, self.texts[:LOOKED_AT]
        read = read_documents(encoder.meta, encoder.reader(), some, self.model.document_length)
        logits = encoder.logits(*inputs_of(read, np.arange(len(some)), pad_id, device))
        least = logits.topk(min(USUAL_TERMS, logits.shape[1]), dim=1).values[:, -1].median()
        encoder.head.bias.sub_(least.clamp(min=0))
        return encoder

    def _to_train(self, settings: FinetuneSettings) -> SparseEncoder:
        encoder = self.new_encoder()
        set_dropout(encoder, settings.dropout)
        freeze(encoder, settings.frozen_layers)
        return encoder

    def _steps(self, encoder: SparseEncoder, pairs: TrainingPairs, settings: FinetuneSettings, steps: int) -> None:
        short = replace(
            on_its_own(settings),
            steps=steps,
            warmup=0,
            horizon=0,
            ramp=NEVER,
            validate_every=0,
            checkpoint_every=steps + 1,
        )
        train_to_rank(encoder, pairs, short, self.scratch, {}, self.seed)


def seconds_of(run: Callable[[int], Any], seconds: float) -> float:
    """Seconds of a step: one is run first, which compiles and takes memory, then as many as fit into `seconds`."""
    one = _seconds(lambda: run(1))
    if one < seconds:
        one = _seconds(lambda: run(1))
    steps = min(MOST_STEPS, max(FEWEST_STEPS, math.floor(seconds / one)))
    return _seconds(lambda: run(steps)) / steps


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - began


def on_its_own(settings: FinetuneSettings) -> FinetuneSettings:
    """The settings without hard negatives and a teacher, which are not there yet."""
    return replace(
        settings, epochs=0.0, negatives="", n_negatives=0, teacher="", margin_mse=0.0, kl=0.0, patience=0,
        in_batch=settings.in_batch or 1.0, tensorboard="",
    )  # fmt: skip


def _some(pairs: Pairs) -> Pairs:
    """At most MOST_PAIRS of them, with the texts they need."""
    n_pairs = len(pairs.query_of)
    rows = np.sort(np.random.default_rng(0).permutation(n_pairs)[:MOST_PAIRS]).tolist()
    queries = {number: row for row, number in enumerate(dict.fromkeys(pairs.query_of[at] for at in rows))}
    documents = {number: row for row, number in enumerate(dict.fromkeys(pairs.document_of[at] for at in rows))}
    return Pairs(
        [pairs.queries[number] for number in queries],
        [pairs.documents[number] for number in documents],
        [queries[pairs.query_of[at]] for at in rows],
        [documents[pairs.document_of[at]] for at in rows],
    )

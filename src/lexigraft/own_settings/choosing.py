"""Choosing, in order: lengths by what reading more is worth, batch by memory, steps by the pace, rate by short trials.

The queries that fine-tuning validates on decide; where they are too few to decide anything, the defaults stand.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lexigraft.core.config import with_values
from lexigraft.core.settings import Settings
from lexigraft.data.collection import Collection
from lexigraft.learn.backbone_choice import BackboneChoice
from lexigraft.learn.training_data import held_out, training_data, training_queries
from lexigraft.model.backbone import default_device
from lexigraft.model.families import layers_of
from lexigraft.own_settings.batch import usual_batch
from lexigraft.own_settings.choice import MODELS, Choice
from lexigraft.own_settings.given_time import GivenTime
from lexigraft.own_settings.lengths import SPECIAL, lengths_to_try, quantiles, query_length, smallest_good
from lexigraft.own_settings.looked_at import read_seconds, reading_curve, sample_texts, subwords_of
from lexigraft.own_settings.memory import chunk_that_fits, free_memory
from lexigraft.own_settings.plan import Pace, Plan, TooShortError, Work, at_length, plan
from lexigraft.own_settings.rate import ABOUT, choose_rate, seconds_of_trials
from lexigraft.own_settings.trial import Trials, on_its_own
from lexigraft.stages.layout import RunFolder
from lexigraft.vocab.lexicon import open_lexicon

FEWEST_QUERIES = 50  # to choose by: of fewer, one more that is found is worth .02
WANTED_PASSES = 3  # over the pairs: before there are fewer, less of each document is read
PATIENCE = 4
PACE_SHARE = 0.01  # of the time, for timing the steps of one kind of training
RATE_SHARE = 0.1  # of the time, for trials of learning rates
INDEXED = 5e-5  # seconds of a document at least, where all its words are known already

log = logging.getLogger(__name__)


class Choosing:
    """`settings` are those of the model that is trained first, and later those with what was chosen; `work` says what
    else the run has to do."""

    def __init__(
        self,
        collection: Collection,
        split: str | None,
        settings: Settings,
        time: GivenTime,
        folder: RunFolder,
        backbone: BackboneChoice,
        work: Work,
    ) -> None:
        self.collection, self.settings, self.time = collection, settings, time
        self.chunk: Choice | None = None
        self.paces: dict[int, Pace] = {}  # by document length
        self.judged = held_out(collection, split, settings.finetune)
        self.trials = Trials(
            backbone.source, backbone.name, open_lexicon(folder.model("vocabulary")), settings.model,
            training_data(collection, split, on_its_own(settings.finetune)), sample_texts(collection),
            settings.run.seed, folder.model("own-settings-trial"),
        )  # fmt: skip
        encoder = self.trials.new_encoder()
        self.reader, self.most = encoder.reader(), encoder.backbone.longest_text
        self.shape = len(layers_of(encoder.body.model)), encoder.backbone.width, len(encoder.vocabulary)
        self.query_subwords = subwords_of(self.reader, training_queries(collection))
        self.document_subwords = subwords_of(self.reader, self.trials.texts)
        self.n_queries = len({qrel.query_id for qrel in self.judged})
        self.work = work._replace(
            pairs=len(self.trials.data.pairs.query_of),
            texts=work.documents + len(self.trials.data.pairs.queries),
            pretrains=self.pretrains and "pretrain.steps" not in time.by_hand,
        )

    @property
    def wanted_passes(self) -> int:
        """How many passes over the pairs there should be, before less of each document is read."""
        return min(WANTED_PASSES, self.work.passes_at_most)

    @property
    def can_validate(self) -> bool:
        """Whether there are enough validation queries to choose by."""
        return self.n_queries >= FEWEST_QUERIES

    @property
    def pretrains(self) -> bool:
        return self.settings.pretrain.steps > 0 and self.settings.model.head != "unicoil"

    def choices(self) -> list[Choice]:
        """All of them, each with what speaks for it."""
        queries = self._take(self._query_length())
        documents, shorter = self._document_length()
        documents = self._take(documents)
        batch = self._take(self._batch())
        self.work = self.work._replace(batch=self.settings.finetune.batch)
        pace, given_up = self._fit(shorter)
        if given_up:
            documents = replace(
                documents,
                settings={"model.document_length": self.settings.model.document_length},
                why=f"{documents.why}; of those, the time leaves {self.wanted_passes} passes over the pairs, or the "
                f"most, at {self.settings.model.document_length} ({_listed(given_up, 'at {}: {:.1f}')})",
            )
        rate = self._take(self._rate(pace))  # before the steps: what it takes is gone
        steps = self._take(self._steps(self._most_models(pace), pace))
        chunk = [self.chunk] if self.chunk is not None else []
        return [queries, documents, batch, *chunk, steps, rate, self._take(self._patience())]

    def _take(self, choice: Choice) -> Choice:
        """Go on with a choice, but for what was set by hand."""
        mine = choice.without(self.time.by_hand)
        self.settings = with_values(self.settings, mine.settings)
        self.trials = replace(self.trials, model=self.settings.model)
        return mine

    def _query_length(self) -> Choice:
        subwords = self.query_subwords
        return Choice(
            "query length", {"model.query_length": query_length(subwords, self.most)},
            f"99 of 100 of the {len(subwords):,} training queries are no longer",
            {"subwords": quantiles(subwords)},
        )  # fmt: skip

    def _document_length(self) -> tuple[Choice, list[int]]:
        """The choice, and the shorter lengths that were tried, the longest first."""
        subwords = self.document_subwords
        evidence: dict[str, object] = {"subwords": quantiles(subwords)}
        if not self.can_validate:
            return Choice("document length", {}, self._too_few(), evidence), []
        most = None if self.most is None else self.most - self._expansion()
        lengths = lengths_to_try(subwords, most)
        if len(lengths) == 1:
            why = "95 of 100 documents are no longer"
            return Choice("document length", {"model.document_length": lengths[0]}, why, evidence), []
        curve = reading_curve(self.collection, self.judged, self.reader, lengths, self.settings.lexical)
        length = smallest_good(curve.mrr)
        evidence |= {
            "MRR@10 of BM25": {str(key): value for key, value in curve.mrr.items()},
            "queries": curve.queries, "documents": curve.documents,
        }  # fmt: skip
        why = (
            "the shortest at which BM25, over the first subwords of documents alone, is within .005 MRR@10 of its "
            f"best on {curve.queries} validation queries ({_listed(curve.mrr, '{}: {:.4f}')})"
        )
        by_hand = "model.document_length" in self.time.by_hand or self.time.steps_by_hand
        shorter = [] if by_hand else [other for other in reversed(lengths) if other < length]
        return Choice("document length", {"model.document_length": length}, why, evidence), shorter

    def _expansion(self) -> int:
        """Subwords that are read of a document's expansion."""
        model = self.settings.model
        return model.expansion_length if model.expansions or self.settings.tilde.trains else 0

    def _batch(self) -> Choice:
        pairs, on_gpu = self.work.pairs, default_device().type == "cuda"
        batch, why = usual_batch(pairs, on_gpu)
        if on_gpu and "finetune.batch" not in self.time.by_hand:
            fits = self.trials.batch_that_fits(self.settings.finetune, batch)
            why = f"{2 * fits} pairs do not fit into the memory of the GPU" if fits < batch else why
            batch = fits
        return Choice("batch", {"finetune.batch": batch}, why, {"pairs": pairs})

    def _set_chunk(self) -> None:
        """How many texts are encoded at once, where the memory of a CPU is short for all of a batch."""
        model, free = self.settings.model, free_memory() if default_device().type == "cpu" else None
        subwords = model.query_length + model.document_length
        chunk = chunk_that_fits(self.settings.finetune.batch, subwords, *self.shape, free)
        why = f"a whole batch would take more than half of the {(free or 0) / 2**30:.1f} GiB of memory that are free"
        choice = self._take(Choice("chunk", {"finetune.chunk": chunk}, why))
        self.chunk = choice if chunk else None

    def _fit(self, shorter: list[int]) -> tuple[Pace, dict[int, float]]:
        """The pace at the chosen document length or, where the pairs would be seen too seldom, at the next shorter one;
        and how many passes longer ones would have left."""
        given_up = self._too_long(shorter) if shorter else {}
        while True:
            pace = self._pace_here()
            passes = self._passes(pace)
            if passes >= self.wanted_passes or not shorter:
                return pace, given_up
            self._give_up(passes, shorter, given_up)

    def _too_long(self, shorter: list[int]) -> dict[int, float]:
        """Go down to a document length that will do, by the pace at the shortest: a step at a long one may take a good
        part of the time. Returns the passes that longer ones would leave."""
        chosen, given_up = self.settings.model.document_length, dict[int, float]()
        self._go_on_with(shorter[-1])
        pace, least = self._pace_here(), self._read_of_document(shorter[-1])
        query = float(self.query_subwords.mean()) + SPECIAL
        self._go_on_with(chosen)
        while shorter:
            length = self._read_of_document(self.settings.model.document_length)
            passes = self._passes(at_length(pace, (query + length) / (query + least), length / least))
            if passes >= self.wanted_passes:
                break
            self._give_up(passes, shorter, given_up)
        return given_up

    def _give_up(self, passes: float, shorter: list[int], given_up: dict[int, float]) -> None:
        """Read less of each document, because so few passes are not enough."""
        given_up[self.settings.model.document_length] = passes
        self._go_on_with(shorter.pop(0))

    def _go_on_with(self, document_length: int) -> None:
        self._take(Choice("document length", {"model.document_length": document_length}, ""))

    def _plan(self, pace: Pace, fewest_passes: int) -> Plan:
        """What fits into the time that is left now."""
        by_hand = 0.0
        if self.pretrains and not self.work.pretrains:
            by_hand = self.work.models * self.settings.pretrain.steps * pace.pretrain_step
        return plan(self.time.seconds, self.time.spent() + by_hand, pace, self.work, fewest_passes)

    def _most_models(self, pace: Pace) -> Plan:
        """The plan of as many of the models, the first ones, as the time is enough for; raises where it is for none."""
        while True:
            try:
                return self._plan(pace, 0 if self.time.steps_by_hand else 1)
            except TooShortError:
                if self.work.models == 1:
                    raise
                self.work = self.work._replace(models=self.work.models - 1)

    def _passes(self, pace: Pace) -> float:
        """How many passes over the pairs fit into the time."""
        return self._plan(pace, 0).passes

    def _read_of_document(self, length: int) -> float:
        """Subwords that are read of a document on average, special ones included."""
        return float(np.minimum(self.document_subwords + SPECIAL, length).mean())

    def _pace_here(self) -> Pace:
        """The pace at the document length that is gone on with, measured once."""
        length = self.settings.model.document_length
        self._set_chunk()
        if length not in self.paces:
            self.paces[length] = self._pace()
        return self.paces[length]

    def _pace(self) -> Pace:
        seconds, finetune, trials = PACE_SHARE * self.time.seconds, self.settings.finetune, self.trials
        pace = Pace(
            finetune_step=trials.finetune_step(finetune, seconds),
            pretrain_step=trials.pretrain_step(self.settings.pretrain, seconds) if self.pretrains else 0.0,
            validation=trials.one_validation(finetune),
            encode_document=trials.encode_document(),
            read_document=max(INDEXED, read_seconds(self.reader, trials.texts)),
        )
        said = ", ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in pace._asdict().items())
        log.info("pace at %d subwords a document, in seconds: %s", self.settings.model.document_length, said)
        return pace

    def _steps(self, planned: Plan, pace: Pace) -> Choice:
        most = self.work.passes_at_most
        limit = f", which is the most, {most}" if planned.passes >= most else ""
        shared = f", divided among {self.work.models} models" if self.work.models > 1 else ""
        by_hand = "; fine-tuning is as long as it was set by hand" if self.time.steps_by_hand else ""
        why = (
            f"what fits into {self.time.minutes:g} minutes{shared}: {planned.passes:.1f} passes over the "
            f"{self.work.pairs:,} training pairs{limit}; a step of fine-tuning takes {pace.finetune_step:.3g} s here, "
            f"one of pre-training {pace.pretrain_step:.3g} s, and {1 / pace.encode_document:,.0f} documents are "
            f"encoded a second{by_hand}"
        )
        seconds = {f"{name} s": float(f"{value:.3g}") for name, value in pace._asdict().items()}
        evidence = {"pace": seconds, MODELS: self.work.models}
        chosen = planned.pretraining() if self.work.pretrains else {}
        if not self.time.steps_by_hand:
            chosen |= planned.finetuning(self.settings.finetune.validate_every > 0)
        return Choice("steps", chosen, why, {**evidence, "planned seconds": planned.seconds})

    def _rate(self, pace: Pace) -> Choice:
        if not self.can_validate:
            return Choice(ABOUT, {}, self._too_few())
        if "finetune.learning_rate" in self.time.by_hand:
            return Choice(ABOUT, {}, "set by hand and kept: finetune.learning_rate")
        taken = seconds_of_trials(pace)
        if taken > RATE_SHARE * self.time.seconds:
            why = f"trials would take about {taken:.0f} s, more than a tenth of the time; the usual is kept"
            return Choice(ABOUT, {}, why)
        if self._passes(pace) < self.wanted_passes:
            why = f"trials would take about {taken:.0f} s, and the time is short; the usual is kept"
            return Choice(ABOUT, {}, why)
        return choose_rate(self.trials, self.settings.finetune, self.n_queries)

    def _patience(self) -> Choice:
        if not self.can_validate:
            return Choice("early stopping", {}, self._too_few())
        why = f"training ends when {PATIENCE} validations in a row are more than a standard error below the best"
        return Choice("early stopping", {"finetune.patience": PATIENCE}, why)

    def _too_few(self) -> str:
        return (
            f"{self.n_queries} validation queries are too few to choose by (at least {FEWEST_QUERIES}); the default "
            "is kept"
        )


def _listed(values: Mapping[int, float] | Mapping[float, float], form: str) -> str:
    return ", ".join(form.format(key, value) for key, value in values.items())

"""How many steps fit into the time: arithmetic over a pace that was measured, with no clock of its own."""

import math
from typing import Any, NamedTuple

from lexigraft.core.errors import SettingError

MARGIN = 0.15  # of what is left is not planned for: nothing takes exactly as long as it was estimated to
PRETRAINING_SHARE = 1 / 6
MOST_PASSES = 25  # over the training pairs; who reads them more often learns them by heart
FEWEST_VALIDATIONS, MOST_VALIDATIONS = 2, 12  # over the whole of fine-tuning
VALIDATION_SHARE = 0.1  # of the time of fine-tuning, for all but the fewest of them
WARMUP_SHARE, RAMP_SHARE, PRETRAIN_WARMUP_SHARE = 1 / 15, 4 / 15, 1 / 5  # as the defaults have them
PRETRAIN_CHECKPOINTS = 2
A_SEARCH = 0.002  # seconds, with what belongs to it: more than it takes on any collection that was looked at


class TooShortError(SettingError):
    """The time is too short for what is to be trained in it; `reason` says so without a remedy."""

    def __init__(self, minutes: float, reason: str) -> None:
        remedy = "give more, or leave minutes out and set finetune.steps"
        super().__init__(f"minutes = {minutes:g} is too short: {reason}; {remedy}")
        self.reason = reason


class Pace(NamedTuple):
    """Seconds, on this machine at the chosen lengths and batch: of a step of fine-tuning and of pre-training, of one
    validation, of encoding a document with the model, and of going through a document's words, which is what counting
    and indexing it take, too."""

    finetune_step: float
    pretrain_step: float
    validation: float
    encode_document: float
    read_document: float


class Work(NamedTuple):
    """What there is to do. `documents`: of all views together. `models`: how many share the time. `rows`: of the
    report, each an index and `searches` that are timed. `most_passes` over the pairs; 0: as many as usual."""

    pairs: int
    batch: int
    texts: int
    pretrain_batch: int
    documents: int
    models: int = 1
    rows: int = 0
    searches: int = 0
    pretrains: bool = True
    most_passes: int = 0

    @property
    def passes_at_most(self) -> int:
        return self.most_passes or MOST_PASSES

    @property
    def steps_a_pass(self) -> int:
        """Steps in which every training pair is seen once."""
        return max(1, self.pairs // self.batch)


class Plan(NamedTuple):
    """Steps of each model; `seconds` says for what the time is meant."""

    pretrain_steps: int
    finetune_steps: int
    validations: int
    passes: float
    seconds: dict[str, float]

    def pretraining(self) -> dict[str, Any]:
        """The steps of pre-training and what is in proportion to them, by full names."""
        return {
            "pretrain.steps": self.pretrain_steps,
            "pretrain.warmup": round(self.pretrain_steps * PRETRAIN_WARMUP_SHARE),
            "pretrain.checkpoint_every": max(1, math.ceil(self.pretrain_steps / PRETRAIN_CHECKPOINTS)),
        }

    def finetuning(self, validates: bool = True) -> dict[str, Any]:
        """The same of fine-tuning."""
        steps, every = self.finetune_steps, max(1, math.ceil(self.finetune_steps / self.validations))
        return {
            "finetune.steps": steps,
            "finetune.warmup": round(steps * WARMUP_SHARE),
            "finetune.ramp": round(steps * RAMP_SHARE),
            **({"finetune.validate_every": every} if validates else {}),
            "finetune.checkpoint_every": every,
        }


def plan(seconds: float, spent: float, pace: Pace, work: Work, fewest_passes: int = 1) -> Plan:
    """What fits into `seconds`, of which `spent` are gone; raises where that is less than `fewest_passes` over the
    pairs (0 or 1), and says how many minutes one would need."""
    encoding = work.documents * (work.models * pace.encode_document + pace.read_document)
    measuring = work.rows * (work.documents * pace.read_document + work.searches * A_SEARCH)
    fixed = encoding + measuring
    share = PRETRAINING_SHARE if work.pretrains else 0.0
    each = (1 - MARGIN) * (seconds - spent - fixed) / work.models
    validations = _validations(each * (1 - share), pace)
    validating = validations * pace.validation
    training = each * (1 - share) - validating
    steps = max(0, min(math.floor(training / pace.finetune_step), work.passes_at_most * work.steps_a_pass))
    if steps < fewest_passes * work.steps_a_pass:
        least = (work.steps_a_pass * pace.finetune_step + validating) / (1 - share)
        needed = math.ceil(10 * (spent + fixed + work.models * least / (1 - MARGIN)) / 60) / 10
        raise TooShortError(
            seconds / 60,
            f"one pass over the {work.pairs:,} training pairs, with all else that the run does, needs about {needed:g} "
            "minutes here",
        )
    before = 0
    if work.pretrains:
        most = MOST_PASSES * max(1, work.texts // work.pretrain_batch)
        before = max(1, min(math.floor(each * share / pace.pretrain_step), most))
    meant = {
        "spent before": spent,
        "pre-training": work.models * before * pace.pretrain_step,
        "fine-tuning": work.models * (steps * pace.finetune_step + validating),
        "encoding": encoding,
        "indexing and measuring": measuring,
    }
    rounded = {name: round(value, 1) for name, value in meant.items()}
    return Plan(before, steps, validations, steps / work.steps_a_pass, rounded)


def _validations(seconds: float, pace: Pace) -> int:
    """How often a fine-tuning of so many seconds looks at its validation queries."""
    affordable = math.floor(VALIDATION_SHARE * seconds / pace.validation) if pace.validation else MOST_VALIDATIONS
    return min(MOST_VALIDATIONS, max(FEWEST_VALIDATIONS, affordable))


def at_length(pace: Pace, longer: float, of_document: float) -> Pace:
    """The pace where a pair has `longer` times as many subwords, and a document `of_document` times as many: what a
    transformer takes grows as they do."""
    return pace._replace(
        finetune_step=pace.finetune_step * longer,
        pretrain_step=pace.pretrain_step * of_document,
        validation=pace.validation * of_document,
        encode_document=pace.encode_document * of_document,
    )

"""The one optimisation loop: schedule, checkpoints, exact resuming, and stopping when it goes wrong.

What a step does is handed in as a function of the step's number; randomness is seeded from that number too, so a run
that was killed and continued ends with the same weights as one that was not.
"""

import json
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from lexigraft.core import stopping
from lexigraft.core.artifact import Manifest, canonical_json, open_artifact, read_manifest, write_artifact
from lexigraft.core.errors import ArtifactError, LexigraftError
from lexigraft.core.processes import is_leader, n_processes, process_rank
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.stopping import StoppedError
from lexigraft.core.stored_record import as_expected
from lexigraft.model.precision import allow_fast_products, fast_precision
from lexigraft.train.distributed import add_gradients, broadcast, connect
from lexigraft.train.phases import Phases

CHECKPOINT_FORMAT = 5
NO_STATE: Mapping[str, Tensor] = MappingProxyType({})
SECONDS_BETWEEN_MESSAGES = 15.0

log = logging.getLogger(__name__)


class TrainingError(LexigraftError, RuntimeError):
    """Training cannot go on; says what happened, where the last good weights are, and what to change."""


@dataclass(frozen=True)
class Schedule:
    """Linear warm-up, then linear decay to 0 at `horizon`, which may lie beyond the last step (T3)."""

    steps: int
    horizon: int
    warmup: int
    learning_rate: float

    def rate(self, step: int) -> float:
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        horizon = max(self.horizon, self.steps)
        return self.learning_rate * max(0.0, (horizon - step) / max(1, horizon - self.warmup))


StepFunction = Callable[[int], dict[str, Tensor]]
Observer = Callable[[int], dict[str, float]]  # given the number of steps done


@dataclass(frozen=True)
class Validation:
    """`measure()`, a share of `n_cases`, is called every `every` steps and after the last. The latest weights win whose
    result is within a standard error of the highest: what is trained longer is better unless it is clearly worse, and a
    few hundred cases tell hundredths apart only by chance. Training ends early when the last `patience` results, one
    after the other, were not (0: it never does)."""

    measure: Callable[[], float]
    every: int
    name: str
    n_cases: int
    patience: int = 0

    def good_enough(self, score: float, highest: float) -> bool:
        return score >= highest - math.sqrt(max(0.0, highest * (1 - highest)) / self.n_cases)

    def gives_up(self, history: Sequence[Mapping[str, float]]) -> bool:
        """Whether training longer has become hopeless. Read from the history alone, which a checkpoint holds: a
        training that is continued ends where it would have ended."""
        scores = [values[self.name] for values in history if self.name in values]
        if not self.patience or len(scores) <= self.patience:
            return False
        return not any(self.good_enough(score, max(scores)) for score in scores[-self.patience :])


@dataclass
class Training:
    """What a run leaves: all values by step, and, where a validation chose earlier weights, the last ones too."""

    history: list[dict[str, float]] = field(default_factory=list)
    best_step: int = 0
    best: dict[str, Tensor] | None = None
    last: dict[str, Tensor] | None = None
    seconds: dict[str, float] = field(default_factory=dict)  # of this call, by phase


def _nothing(step: int, values: dict[str, float]) -> None:
    """Any values will do."""


@dataclass(frozen=True)
class Loop:
    """One training run. `recipe` names everything the weights depend on; a checkpoint of another one is not used.

    `rates` gives named parameters a share of the learning rate. `check` sees a step's values before its weights change,
    and raises where training must not go on; `listeners` are told them when it is done. With several processes
    (`train.distributed`) the losses are those of all of them, each process adds its share of the gradients, and the
    leader writes.
    """

    name: str
    schedule: Schedule
    checkpoint: Path
    checkpoint_every: int
    recipe: dict[str, Any]
    seed: int
    rates: Mapping[str, float] = field(default_factory=dict)
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    progress: Progress = SILENT
    check: Callable[[int, dict[str, float]], None] = _nothing
    listeners: Sequence[Callable[[int, Mapping[str, float]], None]] = ()

    def run(
        self,
        model: nn.Module,
        step_losses: StepFunction,
        validation: Validation | None = None,
        observe: Observer | None = None,
        state: Mapping[str, Tensor] = NO_STATE,
        phases: Phases | None = None,
    ) -> Training:
        """Optimise `model` in place: `step_losses(step)["loss"]` is minimised. At the end it has the weights that
        `validation` chose, or without one the last. What `observe` finds after a step joins its history. `state`: what
        the steps remember beside the weights; saved with checkpoints, and filled in again in place. `phases`: in which
        the step function marks its own."""
        # A training without checkpoints has none to go on from, and several processes would not stop at the same step.
        can_keep = self.checkpoint_every <= self.schedule.steps and n_processes() == 1
        with stopping.patience(can_keep):
            return self._run(model, step_losses, validation, observe, state, phases)

    def _run(
        self, model: nn.Module, step_losses: StepFunction, validation: Validation | None, observe: Observer | None,
        state: Mapping[str, Tensor], phases: Phases | None,
    ) -> Training:  # fmt: skip
        device = next(model.parameters()).device
        phases = phases or Phases(device)
        allow_fast_products(device)
        connect()
        trained = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
        optimizer = torch.optim.AdamW(
            self._groups(trained), lr=self.schedule.learning_rate, weight_decay=self.weight_decay, fused=True
        )
        training = self._restore(model, optimizer, state)
        gradients: Tensor | None = None
        started, spoken, first = time.monotonic(), time.monotonic(), len(training.history)
        model.train()
        gives_up = validation is not None and validation.gives_up(training.history)
        for step in self.progress.track(range(first, self.schedule.steps), self.name, self.schedule.steps - first):
            if gives_up:
                break
            # Of several processes each has dropout of its own; all else that is drawn is drawn alike by all.
            torch.manual_seed((self.seed * 1_000_003 + step) * n_processes() + process_rank())
            for group in optimizer.param_groups:
                group["lr"] = self.schedule.rate(step) * group["rate"]
            with fast_precision(device):
                losses = step_losses(step)
            phases.mark("losses")
            numbers = _as_numbers(losses)
            losses["loss"].backward()  # type: ignore[no-untyped-call]
            phases.mark("backward")
            values = numbers()
            del losses  # and with them what the backward pass has been through
            self._require_finite(step, values["loss"])
            self.check(step, values)
            phases.settle()
            add_gradients(trained.values())
            phases.mark("exchange")
            norm = nn.utils.clip_grad_norm_(list(trained.values()), self.clip_norm)
            gradients = norm if gradients is None else gradients + norm  # not finite from the first that is not
            optimizer.step()
            optimizer.zero_grad()
            phases.mark("optimiser")
            training.history.append(values | (observe(step + 1) if observe is not None else {}))
            if validation is not None:
                self._validate(model, trained, validation, training)
                gives_up = validation.gives_up(training.history)
            for listen in self.listeners:
                listen(step + 1, training.history[-1])
            is_last = gives_up or step + 1 == self.schedule.steps
            stops = stopping.is_asked() and not is_last
            if (step + 1) % self.checkpoint_every == 0 or is_last or stops:  # only here: a device is not kept waiting
                self._require_finite(step, float(gradients), "gradients")
                if not is_last:
                    self._save(trained, optimizer, training, state)
            if stops:
                raise StoppedError(f"{self.name}: stopped after step {step + 1}; the next call goes on from there")
            if time.monotonic() - spoken > SECONDS_BETWEEN_MESSAGES:
                spoken = time.monotonic()
                self._speak(step, values, (step + 1 - first) / (spoken - started))
            phases.mark("looking")
        if gives_up and len(training.history) < self.schedule.steps:
            message = "%s: stopped after step %d of %d: the last %d validations were clearly worse than the best"
            patience = validation.patience if validation is not None else 0
            log.info(message, self.name, len(training.history), self.schedule.steps, patience)
        if first < len(training.history):
            log.info("%s: time went to %s", self.name, phases.summary())
        training.seconds = dict(phases.seconds)
        model.eval()
        self._take_best(trained, training)
        return training

    def _take_best(self, trained: Mapping[str, Tensor], training: Training) -> None:
        """Give the model the weights that validation chose, where those are not the last."""
        if training.best is not None and training.best_step < len(training.history):
            training.last = _copy(trained)
            _fill(trained, training.best)
            message = "%s: the weights of step %d are kept: later ones were worse on validation"
            log.info(message, self.name, training.best_step)

    def _groups(self, trained: Mapping[str, Tensor]) -> list[dict[str, Any]]:
        """The parameters by the share of the learning rate they have: few groups are few launches."""
        by_rate: dict[float, list[Tensor]] = {}
        for name, value in trained.items():
            by_rate.setdefault(self.rates.get(name, 1.0), []).append(value)
        return [{"params": values, "rate": rate} for rate, values in by_rate.items()]

    def _validate(
        self, model: nn.Module, trained: Mapping[str, Tensor], validation: Validation, training: Training
    ) -> None:
        step = len(training.history)
        if step % validation.every and step != self.schedule.steps:
            return
        model.eval()
        score = broadcast(validation.measure())
        model.train()
        training.history[-1][validation.name] = score
        highest = max(values[validation.name] for values in training.history if validation.name in values)
        if validation.good_enough(score, highest):
            training.best_step, training.best = step, _copy(trained)
        log.info("%s %d/%d: validation %s %.4f", self.name, step, self.schedule.steps, validation.name, score)

    def _speak(self, step: int, values: dict[str, float], rate: float) -> None:
        shown = ", ".join(f"{key} {value:.4g}" for key, value in values.items())
        left = (self.schedule.steps - step - 1) / rate
        log.info(
            "%s %d/%d: %s; %.2f steps/s, %d:%02d left",
            self.name,
            step + 1,
            self.schedule.steps,
            shown,
            rate,
            left // 60,
            left % 60,
        )

    def _require_finite(self, step: int, value: float, what: str = "loss") -> None:
        if not math.isfinite(value):
            kept = (
                f"the weights of the last checkpoint are in {self.checkpoint}"
                if self.checkpoint.is_dir()
                else "no checkpoint was due yet"
            )
            raise TrainingError(
                f"{self.name}: the {what} became {value} at step {step + 1}{' or before' if what != 'loss' else ''}; "
                f"{kept}. Lower the learning rate, or set a larger model.alpha"
            )

    def _save(
        self, trained: Mapping[str, Tensor], optimizer: Any, training: Training, remembered: Mapping[str, Tensor]
    ) -> None:
        if not is_leader():
            return
        manifest = Manifest("checkpoint", CHECKPOINT_FORMAT, self.recipe, seed=self.seed)
        with write_artifact(self.checkpoint, manifest) as folder:
            state = {"model": dict(trained), "optimizer": optimizer.state_dict(), "best": training.best}
            state["remembered"] = dict(remembered)
            try:
                torch.save(state, folder / "state.pt")
            except RuntimeError as error:  # what torch makes of a full disk
                raise ArtifactError(
                    f"the checkpoint {self.checkpoint} could not be written: {_first_line(error)}"
                ) from error
            facts = {"history": training.history, "best_step": training.best_step}
            (folder / "history.json").write_text(json.dumps(facts))

    def _restore(self, model: nn.Module, optimizer: Any, remembered: Mapping[str, Tensor]) -> Training:
        found = read_manifest(self.checkpoint)
        if found is None:
            return Training()
        if canonical_json(found.config) != canonical_json(self.recipe):
            log.warning(
                "%s: the checkpoint in %s is from other settings (%s); starting anew",
                self.name,
                self.checkpoint,
                differences(found.config, self.recipe),
            )
            return Training()
        try:
            open_artifact(self.checkpoint, "checkpoint", CHECKPOINT_FORMAT)
        except ArtifactError as error:
            log.warning("%s: %s; starting anew", self.name, error)
            return Training()
        with as_expected(self.checkpoint, "remove the folder, and the training begins anew"):
            return self._taken_from_checkpoint(model, optimizer, remembered)

    def _taken_from_checkpoint(self, model: nn.Module, optimizer: Any, remembered: Mapping[str, Tensor]) -> Training:
        try:
            state = torch.load(self.checkpoint / "state.pt", map_location="cpu", weights_only=True)
            model.load_state_dict(state["model"], strict=False)
        except Exception as error:  # a file of another form, or tensors of other sizes: torch says so in many kinds
            raise ValueError(_first_line(error, "")) from error
        optimizer.load_state_dict(state["optimizer"])
        _fill(remembered, state["remembered"])
        facts = read_sealed(self.checkpoint / "history.json")
        log.info("%s: continuing after step %d of %d", self.name, len(facts["history"]), self.schedule.steps)
        if state["best"] is None:
            return Training(facts["history"])
        return Training(facts["history"], facts["best_step"], state["best"])


def _as_numbers(losses: Mapping[str, Tensor]) -> Callable[[], dict[str, float]]:
    """Ask for all values at once; what is returned gives them. A GPU goes on with the backward pass meanwhile."""
    names, found = list(losses), torch.stack([value.detach().float() for value in losses.values()])
    if not found.is_cuda:
        return lambda: dict(zip(names, found.tolist(), strict=True))
    copied = torch.empty(found.shape, dtype=found.dtype, pin_memory=True)
    copied.copy_(found, non_blocking=True)
    is_there = torch.cuda.Event()  # type: ignore[no-untyped-call]
    is_there.record()

    def numbers() -> dict[str, float]:
        is_there.synchronize()
        return dict(zip(names, copied.tolist(), strict=True))

    return numbers


def _first_line(error: Exception, ending: str = "; is the disk full?") -> str:
    return str(error).partition("\n")[0] + ending


def _copy(parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().cpu().clone() for name, value in parameters.items()}


@torch.no_grad()
def _fill(parameters: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    for name, value in values.items():
        parameters[name].copy_(value)


def differences(old: Any, new: Any) -> str:
    """The settings that differ, as "key: old -> new"."""
    changed = sorted(_changes("", old, new))
    return ", ".join(changed) or "none"


def _changes(prefix: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() | new.keys():
            yield from _changes(f"{prefix}.{key}".lstrip("."), old.get(key), new.get(key))
    elif old != new:
        yield f"{prefix}: {old} -> {new}"

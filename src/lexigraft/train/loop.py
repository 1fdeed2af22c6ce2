"""The one optimisation loop, on accelerate: schedule, checkpoints, exact resuming, and stopping when it goes wrong.

What a step does is handed in as a function of the step's number; randomness is seeded from that number too, so a run
that was killed and continued ends with the same weights as one that was not.
"""

import json
import logging
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from lexigraft.core.artifact import Manifest, canonical_json, open_artifact, read_manifest, write_artifact
from lexigraft.core.errors import LexigraftError

CHECKPOINT_FORMAT = 1
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


@dataclass(frozen=True)
class Loop:
    """One training run. `recipe` names everything the weights depend on; a checkpoint of another one is not used."""

    name: str
    schedule: Schedule
    checkpoint: Path
    checkpoint_every: int
    recipe: dict[str, Any]
    seed: int
    weight_decay: float = 0.01
    clip_norm: float = 1.0

    def run(self, model: nn.Module, step_losses: StepFunction) -> list[dict[str, float]]:
        """Optimise `model` in place: `step_losses(step)["loss"]` is minimised, all its values are returned by step."""
        accelerator = Accelerator(mixed_precision="bf16" if has_fast_bf16() else "no")
        trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        optimizer = torch.optim.AdamW(
            trained, lr=self.schedule.learning_rate, weight_decay=self.weight_decay, fused=True
        )
        optimizer = accelerator.prepare(optimizer)
        history = self._restore(model, optimizer)
        started, spoken, first = time.monotonic(), time.monotonic(), len(history)
        model.train()
        for step in range(first, self.schedule.steps):
            torch.manual_seed(self.seed * 1_000_003 + step)
            for group in optimizer.param_groups:
                group["lr"] = self.schedule.rate(step)
            with accelerator.autocast():
                losses = step_losses(step)
            values = {key: float(value.detach()) for key, value in losses.items()}
            self._require_finite(step, values["loss"])
            accelerator.backward(losses["loss"])
            accelerator.clip_grad_norm_(trained, self.clip_norm)
            optimizer.step()
            optimizer.zero_grad()
            history.append(values)
            if (step + 1) % self.checkpoint_every == 0 and step + 1 < self.schedule.steps:
                self._save(model, optimizer, history)
            if time.monotonic() - spoken > SECONDS_BETWEEN_MESSAGES:
                spoken = time.monotonic()
                self._speak(step, values, (step + 1 - first) / (spoken - started))
        model.eval()
        return history

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

    def _require_finite(self, step: int, loss: float) -> None:
        if not math.isfinite(loss):
            kept = (
                f"the weights of the last checkpoint are in {self.checkpoint}"
                if self.checkpoint.is_dir()
                else "no checkpoint was due yet"
            )
            raise TrainingError(
                f"{self.name}: the loss became {loss} at step {step + 1}; {kept}. Lower the learning rate, or set a "
                "larger model.alpha"
            )

    def _save(self, model: nn.Module, optimizer: Any, history: list[dict[str, float]]) -> None:
        manifest = Manifest("checkpoint", CHECKPOINT_FORMAT, self.recipe, seed=self.seed)
        with write_artifact(self.checkpoint, manifest) as folder:
            trained = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
            weights = {key: value for key, value in model.state_dict().items() if key in trained}
            torch.save({"model": weights, "optimizer": optimizer.state_dict()}, folder / "state.pt")
            (folder / "history.json").write_text(json.dumps(history))

    def _restore(self, model: nn.Module, optimizer: Any) -> list[dict[str, float]]:
        found = read_manifest(self.checkpoint)
        if found is None:
            return []
        if canonical_json(found.config) != canonical_json(self.recipe):
            log.warning(
                "%s: the checkpoint in %s is from other settings (%s); starting anew",
                self.name,
                self.checkpoint,
                differences(found.config, self.recipe),
            )
            return []
        open_artifact(self.checkpoint, "checkpoint", CHECKPOINT_FORMAT)
        state = torch.load(self.checkpoint / "state.pt", weights_only=True)
        model.load_state_dict(state["model"], strict=False)
        optimizer.load_state_dict(state["optimizer"])
        history: list[dict[str, float]] = json.loads((self.checkpoint / "history.json").read_text())
        log.info("%s: continuing after step %d of %d", self.name, len(history), self.schedule.steps)
        return history


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


def has_fast_bf16() -> bool:
    """Whether this machine multiplies bf16 matrices faster than fp32: a GPU, or a CPU with AMX or AVX512-BF16."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    probes = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return any(bool(getattr(torch.cpu, probe, bool)()) for probe in probes)

"""`model.alpha` = auto (H3): a head that is too large is divided by the alpha whose short fine-tuning ranks best.

A probe is the fine-tuning to come at a tenth of its length, warm-up, ramp and horizon in proportion. Where that is too
short for any of them to learn to rank, their scores are noise, and the size of the head decides alone. Probes have the
seed of the run, so the same run chooses the same alpha. The choice is kept beside the checkpoint: a fine-tuning that is
continued goes on with the alpha it began with.
"""

import logging
import math
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest, write_json
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.settings import FinetuneSettings
from lexigraft.core.stored_record import require_value
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.head import diagnose
from lexigraft.stages.ensure import Makers, keep_or_make
from lexigraft.train.activations import Activations, first_activations
from lexigraft.train.distributed import broadcast
from lexigraft.train.loop import TrainingError
from lexigraft.train.ranking.chance import chance_loss
from lexigraft.train.ranking.finetune import finetune
from lexigraft.train.ranking.pairs import Judged, TrainingPairs, batch_of_step
from lexigraft.train.ranking.ranking_validation import ValidationTexts
from lexigraft.train.rescaling import (
    ALPHAS,
    LARGE_NORM,
    Chance,
    ProbeResult,
    alpha_without_ranking,
    best_alpha,
    is_too_large,
)
from lexigraft.train.trainable import freeze, set_dropout

FILE = "alpha.json"
KIND, FORMAT_VERSION = "alpha", 1
PROBE_SHARE, FEWEST_STEPS, MOST_STEPS = 10, 20, 1000
LARGEST_ALPHA = 256.0  # a head that needs more is broken otherwise
LAST = 5  # steps whose mean is the last loss
RANKING = ("rank", "kl", "margin_mse")  # the first that is in use says how well a probe ranks

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AlphaChoice:
    """`probes` is empty where the head is not too large, and alpha then 1."""

    alpha: float
    why: str
    mean_norm: float
    activations: Activations
    probe_steps: int = 0
    probes: dict[float, ProbeResult] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Into the folder of the model; numbers that are not finite are null."""
        probes = [{"alpha": alpha, **_finite(asdict(probe))} for alpha, probe in self.probes.items()]
        write_json(folder / FILE, {**asdict(self), "activations": _finite(asdict(self.activations)), "probes": probes})


def kept_choice(kept: Path, recipe: dict[str, Any], choose: Callable[[], AlphaChoice], folder: Path) -> float:
    """The alpha of `choose()`, called now or by a call that was stopped later: then it lies at `kept`, with the recipe
    of the model it is for. Its numbers are written into `folder`, the model's."""
    keep_or_make(kept, Manifest(KIND, FORMAT_VERSION, recipe), lambda draft: choose().write(draft), Makers.ALL)
    shutil.copy(kept / FILE, folder / FILE)
    found = read_sealed(kept / FILE).get("alpha")
    require_value(kept / FILE, "alpha", found, float)
    return float(found)  # type: ignore[arg-type]


def choose_alpha(
    mean_norm: float, found: Activations, probe: Callable[[float], ProbeResult], chance: Chance
) -> AlphaChoice:
    """1 for a head that is not too large; otherwise the best of 1, 2, 4, 8 and 16 by `probe(alpha)`, and of larger ones
    as long as the largest is the best or none has learned to rank yet. Where none ever does, the head's norm or the
    first losses decide."""
    loss = f"first loss {found.first_loss:.2f}, of chance {found.chance_loss:.2f}"
    if not is_too_large(mean_norm, found):
        return AlphaChoice(1.0, f"the head is not too large: mean norm {mean_norm:.2f}, {loss}", mean_norm, found)
    reason = f"mean norm {mean_norm:.2f}" if mean_norm >= LARGE_NORM else loss
    log.info("alpha: the head is too large (%s); probing what to divide it by", reason)
    probes: dict[float, ProbeResult] = {}
    alpha = ALPHAS[0]
    while alpha <= ALPHAS[-1] or (alpha <= LARGEST_ALPHA and _may_be_larger(probes, chance)):
        probes[alpha] = probe(alpha)
        shown = "score %.4f, ranking loss %.3f to %.3f"
        log.info(f"alpha {alpha:g}: {shown}", probes[alpha].score, probes[alpha].first_loss, probes[alpha].last_loss)
        alpha *= 2
    learned = _learned(probes, chance)
    best = best_alpha(learned) if learned else alpha_without_ranking(mean_norm, probes, chance.loss)
    by = "the best of short probe runs" if learned else "no probe run learned to rank, so by its size"
    return AlphaChoice(best, f"the head is too large ({reason}); {by}", mean_norm, found, probes=probes)


def _learned(probes: Mapping[float, ProbeResult], chance: Chance) -> dict[float, ProbeResult]:
    return {alpha: one for alpha, one in probes.items() if chance.is_beaten_by(one)}


def _may_be_larger(probes: Mapping[float, ProbeResult], chance: Chance) -> bool:
    """Whether alphas beyond those probed are worth a look: collapsed and diverged ones say nothing of which is best."""
    learned = _learned(probes, chance)
    return not learned or best_alpha(learned) == max(probes)


def probe_alphas(
    open_pretrained: Callable[[], SparseEncoder],
    pairs: TrainingPairs,
    settings: FinetuneSettings,
    seed: int,
    validation: ValidationTexts | None,
    scratch: Path,
    progress: Progress = SILENT,
) -> AlphaChoice:
    """Look at a pre-trained model on the pairs it will be trained on, and choose. `scratch` is a path at which nothing
    is; probes leave nothing there."""
    short = probe_settings(settings)

    def probe(alpha: float) -> ProbeResult:
        encoder = open_pretrained()
        encoder.head.rescale(alpha)
        set_dropout(encoder, settings.dropout)
        freeze(encoder, settings.frozen_layers)
        try:
            history = finetune(encoder, pairs, short, scratch, {"alpha": alpha}, seed, validation, progress).history
        except TrainingError as error:
            log.info("alpha %g: %s", alpha, error)
            return ProbeResult(0.0, math.inf, math.inf)
        if not history:  # finetune.steps = 0: nothing to tell them apart by
            return ProbeResult(0.0, math.inf, math.inf)
        name = next(name for name in RANKING if name in history[0])
        losses = [values[name] for values in history]
        ends = losses[0], sum(losses[-LAST:]) / len(losses[-LAST:])
        return ProbeResult(history[-1].get("R@10", 0.0), *map(broadcast, ends))

    encoder = open_pretrained()
    found = first_activations(encoder, pairs, settings, seed)
    found = replace(found, first_loss=broadcast(found.first_loss))  # several processes must do the same
    chance = chance_of(pairs, settings, seed, validation)
    choice = choose_alpha(diagnose(encoder.head).mean_norm, found, probe, chance)
    choice = replace(choice, alpha=broadcast(choice.alpha))
    log.info("alpha: %g is taken: %s", choice.alpha, choice.why)
    if choice.alpha == LARGEST_ALPHA and chance.is_beaten_by(choice.probes[LARGEST_ALPHA]):
        log.warning("alpha %g, the largest that was probed, is best: a larger one may be better still", choice.alpha)
    return replace(choice, probe_steps=short.steps if choice.probes else 0)


def chance_of(
    pairs: TrainingPairs, settings: FinetuneSettings, seed: int, validation: ValidationTexts | None
) -> Chance:
    """What a probe comes to by chance: with equal scores in its first batch, and with ten of the validation documents
    drawn. The losses of a teacher alone have no such value."""
    loss = math.inf
    if settings.in_batch:
        batch = batch_of_step(pairs, Judged(pairs), 0, settings.batch, seed, settings.n_negatives)
        loss = chance_loss(batch.relevant, settings.temperature, settings.symmetric, settings.margin)
    return Chance(loss, min(1.0, 10 / len(validation.documents)) if validation is not None else 0.0)


def probe_settings(settings: FinetuneSettings) -> FinetuneSettings:
    """The same training in small: a tenth of its steps, at least 20 and at most 1,000, never more than it has."""
    steps = min(settings.steps, MOST_STEPS, max(FEWEST_STEPS, settings.steps // PROBE_SHARE))
    share = steps / max(1, settings.steps)
    return replace(
        settings,
        steps=steps,
        warmup=round(settings.warmup * share),
        ramp=round(settings.ramp * share),
        horizon=round(settings.horizon * share),
        validate_every=steps if settings.validate_every else 0,
        checkpoint_every=steps + 1,  # never
        tensorboard="",
    )


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in values.items()
    }

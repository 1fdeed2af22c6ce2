"""What fine-tuning minimises: the losses of a batch and the pressure that keeps its vectors sparse (F1, F2, F3)."""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.core.settings import FinetuneSettings
from lexigraft.model.inputs import sent
from lexigraft.train.ranking.cost_control import CostControl, batch_cost
from lexigraft.train.ranking.document_frequency import DocumentFrequency
from lexigraft.train.ranking.lessons import Lessons
from lexigraft.train.ranking.losses import (
    distillation_loss,
    in_batch_loss,
    keep_heaviest,
    margin_mse_loss,
    mask_kl_loss,
)
from lexigraft.train.ranking.pairs import PairBatch
from lexigraft.train.ranking.regularizers import df_flops, df_weights, flops, joint_flops, l1, quadratic_ramp

Named = dict[str, Tensor]
KEPT = "kept"
SHARED = (("rank", "in_batch"), ("taught", "taught"))  # losses of masked and of unmasked vectors have one weight


class Objective:
    """Vectors of a whole batch to its losses, by name: those in use, before they are weighed. "pressure" is the weighed
    sum of the regularisers, "loss" all together, which is minimised."""

    def __init__(
        self, settings: FinetuneSettings, n_terms: int, device: torch.device, lessons: Lessons | None = None
    ) -> None:
        self.settings, self._lessons = settings, lessons
        self._frequency = DocumentFrequency(n_terms, device) if settings.df_flops else None
        self._control: CostControl | None = None
        if isinstance(settings.aim, float) and settings.aim:
            self._control = CostControl(settings.aim, settings.steps, device)

    def state(self) -> Named:
        """What it remembers from step to step: saved with checkpoints and filled in again in place."""
        parts = [part.state() for part in (self._frequency, self._control) if part is not None]
        return {name: value for part in parts for name, value in part.items()}

    def losses(self, queries: Tensor, documents: Tensor, batch: PairBatch, step: int) -> Named:
        """`queries` [queries, vocabulary], `documents` [documents, vocabulary], in the batch's order, unmasked."""
        settings = self.settings
        kept_q, kept_d = keep_heaviest(queries, settings.qk), keep_heaviest(documents, settings.dk)
        scores = kept_q @ kept_d.T
        masks = settings.qk + settings.dk > 0
        unmasked = queries @ documents.T if masks and (settings.dual or settings.mask_kl) else scores
        ranking = {
            **self._ranking(scores, unmasked, batch),
            **self._distillation(scores, batch),
            **self._taught(scores, unmasked, batch),
        }
        loss = torch.stack([self._weight(name) * value for name, value in ranking.items()]).sum()
        pressed = (kept_q, kept_d) if settings.pressed == KEPT else (queries, documents)
        pressures = self._pressures(*pressed, step)
        if not pressures:
            return {"loss": loss, **ranking}
        pressure = torch.stack([self._weight(name) * value for name, value in pressures.items()]).sum()
        ramp = quadratic_ramp(step, settings.ramp)
        if self._control is None:
            return {"loss": loss + ramp * pressure, **ranking, "pressure": pressure, **pressures}
        cost, factor = batch_cost(kept_q, kept_d), self._control.factor
        if step >= settings.ramp:  # before, the pressure is not yet what the factor says
            self._control.see(cost, step)
        steered = {"cost": cost, "factor": factor}
        return {"loss": loss + ramp * factor * pressure, **ranking, "pressure": pressure, **pressures, **steered}

    def _weight(self, name: str) -> float:
        """The setting of that name; both ranking losses have that of `in_batch`, and both of distillation within the
        batch that of `taught`."""
        setting = next((own for prefix, own in SHARED if name.startswith(prefix)), name)
        weight: float = getattr(self.settings, setting)
        return weight

    def _ranking(self, scores: Tensor, unmasked: Tensor, batch: PairBatch) -> Named:
        """The ranking loss among the documents of the batch, of masked and, for the dual loss, of unmasked vectors."""
        settings = self.settings
        found: Named = {}
        if settings.in_batch:
            loss = partial(
                in_batch_loss,
                relevant=_tensor(batch.relevant, scores),
                temperature=settings.temperature,
                symmetric=settings.symmetric,
                margin=settings.margin,
            )
            found["rank"] = loss(scores)
            if settings.dual and settings.qk + settings.dk > 0:
                found["rank_unmasked"] = loss(unmasked)
        if settings.mask_kl:
            found["mask_kl"] = mask_kl_loss(unmasked, scores, settings.temperature)
        return found

    def _distillation(self, scores: Tensor, batch: PairBatch) -> Named:
        """What the teacher says of each query's own document and of the negatives drawn for it."""
        settings = self.settings
        found: Named = {}
        if not (settings.margin_mse or settings.kl):
            return found
        assert batch.own_negatives is not None and batch.teacher is not None, "the settings ask for both"
        own = np.arange(len(batch.queries))[:, None]
        columns = np.concatenate((own, np.maximum(batch.own_negatives, 0)), axis=1)  # where -1, the teacher is silent
        students, teacher = scores.gather(1, _tensor(columns, scores)), _tensor(batch.teacher, scores)
        if settings.margin_mse:
            found["margin_mse"] = margin_mse_loss(students, teacher)
        if settings.kl:
            found["kl"] = distillation_loss(students, teacher, settings.temperature)
        return found

    def _taught(self, scores: Tensor, unmasked: Tensor, batch: PairBatch) -> Named:
        """What the teachers say of all documents of the batch, to masked and, as the ranking loss, unmasked vectors."""
        settings = self.settings
        if self._lessons is None or not settings.taught:
            return {}
        others = _tensor(batch.relevant, scores) & ~torch.eye(*scores.shape, dtype=torch.bool, device=scores.device)
        heard = self._lessons.scores(batch.queries, batch.documents, scores.device).masked_fill(others, float("nan"))
        found = {"taught": distillation_loss(scores, heard, settings.temperature)}
        if settings.dual and settings.qk + settings.dk > 0:
            found["taught_unmasked"] = distillation_loss(unmasked, heard, settings.temperature)
        return found

    def _pressures(self, queries: Tensor, documents: Tensor, step: int) -> Named:
        """The regularisers in use, by name."""
        measures: dict[str, Callable[[], Tensor]] = {
            "joint_flops": lambda: joint_flops(queries, documents),
            "flops_q": lambda: flops(queries),
            "flops_d": lambda: flops(documents),
            "l1_q": lambda: l1(queries),
            "l1_d": lambda: l1(documents),
            "df_flops": lambda: self._df_flops(documents, step),
        }
        return {name: measure() for name, measure in measures.items() if self._weight(name)}

    def _df_flops(self, documents: Tensor, step: int) -> Tensor:
        assert self._frequency is not None, "made where the setting asks for it"
        shares = self._frequency.see(documents, step)
        return df_flops(documents, df_weights(shares, self.settings.df_alpha, self.settings.df_beta))


def _tensor(values: NDArray[np.generic], like: Tensor) -> Tensor:
    return sent(torch.from_numpy(np.ascontiguousarray(values)), like.device)


def mean_terms(vectors: Tensor) -> Tensor:
    """L0: the mean number of terms with a weight."""
    return torch.count_nonzero(vectors.detach(), dim=1).float().mean()

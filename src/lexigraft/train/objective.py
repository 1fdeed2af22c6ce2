"""What fine-tuning minimises: the losses of a batch and the pressure that keeps its vectors sparse (F1, F2, F3)."""

import numpy as np
import torch
from torch import Tensor

from lexigraft.core.settings import FinetuneSettings
from lexigraft.train.losses import in_batch_loss, keep_heaviest
from lexigraft.train.pairs import PairBatch
from lexigraft.train.regularizers import flops, joint_flops, quadratic_ramp


class Objective:
    """Vectors of a whole batch to its losses, by name; "loss" is their sum, which is minimised."""

    def __init__(self, settings: FinetuneSettings) -> None:
        self.settings = settings

    def state(self) -> dict[str, Tensor]:
        """What it remembers from step to step: saved with checkpoints and filled in again in place."""
        return {}

    def losses(self, queries: Tensor, documents: Tensor, batch: PairBatch, step: int) -> dict[str, Tensor]:
        """`queries` [queries, vocabulary], `documents` [documents, vocabulary], in the batch's order, unmasked."""
        settings = self.settings
        kept_q, kept_d = keep_heaviest(queries, settings.qk), keep_heaviest(documents, settings.dk)
        relevant = torch.from_numpy(np.ascontiguousarray(batch.relevant)).to(queries.device)
        rank = in_batch_loss(kept_q @ kept_d.T, relevant, settings.temperature, settings.symmetric)
        pressure = settings.joint_flops * joint_flops(kept_q, kept_d)
        pressure = pressure + settings.flops_q * flops(kept_q) + settings.flops_d * flops(kept_d)
        loss = rank + quadratic_ramp(step, settings.ramp) * pressure
        return {"loss": loss, "rank": rank, "pressure": pressure}

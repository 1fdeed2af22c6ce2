"""What of a model trains, and with how much dropout."""

from typing import Any

from torch import nn

from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.families import layers_of


def set_dropout(module: nn.Module, share: float) -> None:
    """Give every dropout of the backbone the same share; backbones differ in where they keep it, and ModernBERT's
    attention keeps a number instead of a module."""
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = share
        elif isinstance(getattr(part, "attention_dropout", None), float):
            part.attention_dropout = share  # type: ignore[assignment]


def freeze(encoder: SparseEncoder, layers: int = 0) -> None:
    """Keep the input embeddings as they are (half of a small model's weights, of which a batch touches few), and the
    lowest `layers` of the backbone. Embeddings that are the head too train: a head must, and they are one."""
    model: Any = encoder.body.model
    for part in (model.get_input_embeddings(), *layers_of(model)[:layers]):
        part.requires_grad_(False)
    encoder.head.requires_grad_(True)

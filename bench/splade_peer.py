"""The same model in sentence-transformers: our backbone and our head's rows, its pooling, losses and encoding."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.layer_norm import LayerNorm
from lexigraft.model.precision import fast_precision

LEARNING_RATE, CLIP = 2e-5, 1.0


def peer_of(encoder: SparseEncoder, tokenizer: Any = None, length: int = 512) -> Any:
    """A `SparseEncoder` of theirs with the weights of ours, which it takes: our layer normalisation becomes torch's.
    `tokenizer`: where texts are to be encoded."""
    from sentence_transformers import SparseEncoder as Theirs
    from sentence_transformers.sparse_encoder.models import SpladePooling

    device = encoder.head.weight.device
    for module in encoder.body.modules():
        if isinstance(module, LayerNorm):
            module.__class__ = nn.LayerNorm
    return Theirs(modules=[_logits_module(encoder, tokenizer, length), SpladePooling("max")], device=str(device))


def _logits_module(encoder: SparseEncoder, tokenizer: Any, length: int) -> nn.Module:
    from sentence_transformers.models import InputModule

    class Logits(InputModule):
        """Subwords to the logits of all tokens, as a model with a masked-language-model head gives them."""

        def __init__(self) -> None:
            super().__init__()
            self.body, self.head = encoder.body, encoder.head
            self.tokenizer, self.max_seq_length = tokenizer, length

        def forward(self, features: dict[str, Tensor], **kwargs: Any) -> dict[str, Tensor]:
            hidden = self.body.launched(features["input_ids"], features["attention_mask"])
            features["token_embeddings"] = nn.functional.linear(hidden, self.head.weight, self.head.bias)
            return features

        def preprocess(self, inputs: list[str], **kwargs: Any) -> dict[str, Tensor]:
            read = self.tokenizer(
                inputs, padding=True, truncation=True, max_length=self.max_seq_length, return_tensors="pt"
            )
            return {name: read[name] for name in ("input_ids", "attention_mask")}

        tokenize = preprocess

        def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
            raise NotImplementedError("this one is measured, not kept")

    return Logits()


def peer_step(
    encoder: SparseEncoder, queries: tuple[Tensor, Tensor], documents: tuple[Tensor, Tensor], mini_batch: int = 0
) -> Callable[[], None]:
    """A training step of theirs on subwords and masks, with AdamW and clipped gradients as in our loop: SpladeLoss, or
    where `mini_batch` is given CachedSpladeLoss, over their ranking loss within the batch."""
    from sentence_transformers.sparse_encoder import losses

    model = peer_of(encoder)
    options = {"document_regularizer_weight": 3e-5, "query_regularizer_weight": 5e-5}
    ranking = losses.SparseMultipleNegativesRankingLoss(model)
    if mini_batch:
        loss = losses.CachedSpladeLoss(model, ranking, mini_batch_size=mini_batch, **options)
    else:
        loss = losses.SpladeLoss(model, ranking, **options)
    parameters = [part for part in model.parameters() if part.requires_grad]
    optimizer, device = torch.optim.AdamW(parameters, lr=LEARNING_RATE, fused=True), encoder.head.weight.device
    model.train()

    def step() -> None:
        features = [{"input_ids": ids, "attention_mask": mask} for ids, mask in (queries, documents)]
        with fast_precision(device):
            found = loss(features, None)
            whole = sum(found.values()) if isinstance(found, dict) else found
        if whole.requires_grad:
            whole.backward()
        nn.utils.clip_grad_norm_(parameters, CLIP)
        optimizer.step()
        optimizer.zero_grad()

    return step

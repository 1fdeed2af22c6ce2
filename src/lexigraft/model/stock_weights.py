"""A model as modules that sentence-transformers itself has, and back: their weights, and what of a model they hold.

Where the backbone has a masked-language-model head, our head takes the place of its decoder. Where it has none, the
head is a Dense module behind it. A plain head's rows are the subwords'. Terms of their own vocabulary come after the
subwords: the rows of those are 0 and their bias is so low that none of them ever weighs anything.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from lexigraft.core.errors import InputError
from lexigraft.core.pretrained import model_of_config
from lexigraft.inference.meta import PLAIN
from lexigraft.model.backbone import transformers_library
from lexigraft.model.encoder import HEAD_WEIGHT, SparseEncoder
from lexigraft.model.exported import REMEDY

NEVER = -1e4  # the bias of what is no term
HEAD_BIAS, BODY = "head.bias", "body.model."
DENSE_WEIGHT, DENSE_BIAS = "linear.weight", "linear.bias"


def n_pieces(encoder: SparseEncoder) -> int:
    """How many rows stand before those of the terms: none where subwords are the terms."""
    return 0 if encoder.meta.head == PLAIN else len(encoder.backbone.subword_weight)


def decoder_of(encoder: SparseEncoder) -> tuple[Tensor, Tensor]:
    """(rows, biases): those of subwords that are no terms, then those of the terms."""
    rows, bias, before = encoder.head.weight.detach(), encoder.head.bias.detach(), n_pieces(encoder)
    weight = torch.cat((rows.new_zeros(before, rows.shape[1]), rows))
    return weight.contiguous(), torch.cat((bias.new_full((before,), NEVER), bias)).contiguous()


@torch.no_grad()
def masked_lm_of(encoder: SparseEncoder) -> Any:
    """A masked language model of `transformers` whose decoder is our head; for a backbone that has such a head."""
    hf, (weight, bias), body = transformers_library(), decoder_of(encoder), encoder.body.model
    own: Any = body.config
    config = type(own).from_dict(own.to_dict())
    config.vocab_size, config.tie_word_embeddings = len(weight), encoder.meta.tied
    if hasattr(config, "decoder_bias"):
        config.decoder_bias = True  # ours always has one
    model: Any = model_of_config(hf.AutoModelForMaskedLM, config)
    state = dict(model.state_dict())
    for name, value in body.state_dict().items():
        state[name] = _longer(value, state[name].shape)
    model.load_state_dict(state)
    decoder = model.get_output_embeddings()
    if not encoder.meta.tied:
        decoder.weight.copy_(weight)
    _set_bias(model, decoder, bias)
    return model.eval()


def _longer(value: Tensor, shape: torch.Size) -> Tensor:
    """Rows of 0 for terms, which are never read."""
    if value.shape == shape:
        return value
    return torch.cat((value, value.new_zeros(shape[0] - len(value), *shape[1:])))


def _set_bias(model: Any, decoder: Any, bias: Tensor) -> None:
    holder = next(part for part in model.modules() if any(child is decoder for child in part.children()))
    places = [one for one in (decoder.bias, getattr(holder, "bias", None)) if isinstance(one, torch.nn.Parameter)]
    if not places and bool(bias.any()):
        raise InputError(
            "the masked language model of this backbone has no bias, and the head has one; take --form full"
        )
    for one in places:
        one.copy_(bias)


def from_stock(
    layout: Mapping[str, Any], weights: Mapping[str, Tensor], dense: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """The weights of a model of ours, of those that a stock form has. `layout`: {"pieces", "head", "bias", "tied",
    "dense", "body", "cut"}, where its head lies, what of its network is ours, and which matrices were made longer."""
    try:
        before, own = int(layout["pieces"]), [str(name) for name in layout["body"]]
        lengths = {str(name): int(length) for name, length in layout["cut"].items()}
        source = dense if layout["dense"] else weights
        head = {HEAD_BIAS: source[layout["bias"]][before:].clone()}
        if not layout["tied"]:
            head[HEAD_WEIGHT] = source[layout["head"]][before:].clone()
        body = {BODY + name: weights[name][: lengths.get(name)].clone() for name in own}
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(f"the weights of this export do not fit its description ({error!r}); {REMEDY}") from error
    return {**head, **body}

"""What families of backbones do differently, in one place: how many positions they have, where their layers are, how
they are cut, and what is left of a head that was taken off."""

from typing import Any

from torch import Tensor, nn

WITH_POOLER = ("bert", "roberta", "albert")  # their bare models bring a layer for the first token that nobody asks


def n_positions(model: Any) -> int | None:
    """How many subwords a text may have, special ones included; None where nothing limits it.

    RoBERTa counts positions from the padding's id, so two of its 514 are never used.
    """
    most: int | None = getattr(model.config, "max_position_embeddings", None)
    if most is None or most < 0:
        return None
    for name, part in model.named_modules():
        if name.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None:
            return most - int(part.padding_idx) - 1
    return most


def layers_of(model: Any) -> list[nn.Module]:
    """The layers from below: the one list of as many modules as the configuration names.

    None where layers share their weights, as in ALBERT: no layer can then be kept as it is while others train.
    """
    n_layers = model.config.num_hidden_layers
    if getattr(model.config, "num_hidden_groups", n_layers) < n_layers:
        return []
    lists = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    return next((list(part) for part in lists if len(part) == n_layers), [])


def cut_layers(config: Any, layers: int) -> None:
    """Keep the first `layers`; where the kinds of layers alternate, as in ModernBERT, their list is cut as well."""
    kinds = getattr(config, "layer_types", None)
    config.num_hidden_layers = layers
    if kinds is not None:
        config.layer_types = kinds[:layers]


def without_pooler(config: Any) -> dict[str, bool]:
    """The arguments with which a bare model is made without its pooler."""
    return {"add_pooling_layer": False} if config.model_type in WITH_POOLER else {}


def take_decoder(model: Any, replacement: nn.Module) -> tuple[nn.Parameter, Tensor | None]:
    """(weight, bias or None) of the decoder to subwords, in whose place `replacement` then stands.

    Some heads hold the bias a second time beside the decoder; a parameter that nothing uses any more is removed.
    """
    decoder = model.get_output_embeddings()
    holder = next(part for part in model.modules() if any(child is decoder for child in part.children()))
    weight, bias = decoder.weight, decoder.bias
    model.set_output_embeddings(replacement)
    if isinstance(getattr(holder, "bias", None), nn.Parameter):
        holder.bias = None
    return weight, bias

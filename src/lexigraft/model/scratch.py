"""An encoder from scratch, of a chosen size, for a tokenizer of its own: it knows nothing until it is trained (H5, V2).

Its tokenizer is learned from the texts or taken from a folder as it is. With a plain head those pieces are the output
vocabulary: a corpus's own.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from lexigraft.core.settings import BackboneSettings
from lexigraft.model.backbone import find_tokenizer, transformers_library
from lexigraft.vocab.subwords import from_transformers
from lexigraft.vocab.tokenizer_files import copy_tokenizer, without_punctuation, write_tokenizer
from lexigraft.vocab.wordpiece import train_wordpiece

LAYERS = 3
USUAL = BackboneSettings()


def make_backbone(
    texts: Iterable[str], layers: int, seed: int, folder: Path, settings: BackboneSettings = USUAL
) -> None:
    """Learn a WordPiece tokenizer from `texts`, or take that of `settings`, draw an encoder of `layers` layers (0:
    three) for it, and write both into `folder`."""
    if settings.tokenizer:
        opened = find_tokenizer(Path(settings.tokenizer))
        if not settings.punctuation:
            opened = without_punctuation(opened)
        copy_tokenizer(opened, Path(settings.tokenizer), folder)
        # The copy is what will be read: it has all that a masked language model needs, or is refused now.
        from_transformers(find_tokenizer(folder), settings.tokenizer)
    else:
        write_tokenizer(train_wordpiece(texts, settings.pieces, settings.min_count), folder)
    tokenizer = find_tokenizer(folder)
    torch.manual_seed(seed)
    model = FAMILIES[settings.family](tokenizer, layers or LAYERS, settings)
    with torch.no_grad():
        model.get_input_embeddings().weight.mul_(settings.spread / USUAL.spread)
    model.save_pretrained(folder)


def _sizes(tokenizer: Any, layers: int, settings: BackboneSettings) -> dict[str, Any]:
    return {
        "vocab_size": max(tokenizer.get_vocab().values()) + 1, "hidden_size": settings.width,
        "num_hidden_layers": layers, "num_attention_heads": settings.heads, "intermediate_size": 4 * settings.width,
        "pad_token_id": tokenizer.pad_token_id,
    }  # fmt: skip


def _bert(tokenizer: Any, layers: int, settings: BackboneSettings) -> Any:
    hf = transformers_library()
    sizes = _sizes(tokenizer, layers, settings)
    return hf.BertForMaskedLM(hf.BertConfig(**sizes, max_position_embeddings=settings.positions))


def _roberta(tokenizer: Any, layers: int, settings: BackboneSettings) -> Any:
    hf = transformers_library()
    # Position 0 of a text has the number after the padding's.
    positions = settings.positions + int(tokenizer.pad_token_id) + 1
    sizes = _sizes(tokenizer, layers, settings)
    ends = {"bos_token_id": tokenizer.cls_token_id, "eos_token_id": tokenizer.sep_token_id}
    return hf.RobertaForMaskedLM(
        hf.RobertaConfig(**sizes, **ends, max_position_embeddings=positions, type_vocab_size=1)
    )


def _modernbert(tokenizer: Any, layers: int, settings: BackboneSettings) -> Any:
    hf = transformers_library()
    sizes = _sizes(tokenizer, layers, settings)
    begin, end = tokenizer.cls_token_id, tokenizer.sep_token_id
    ends = {"cls_token_id": begin, "sep_token_id": end, "bos_token_id": begin, "eos_token_id": end}
    return hf.ModernBertForMaskedLM(
        hf.ModernBertConfig(
            **sizes, **ends, max_position_embeddings=settings.positions, layer_types=["full_attention"] * layers
        )
    )


FAMILIES = {"bert": _bert, "roberta": _roberta, "modernbert": _modernbert}

"""An encoder from scratch, of a chosen size, for a tokenizer of its own: it knows nothing until it is trained (H5, V2).

Its tokenizer is learned from the texts or taken from a folder as it is. With a plain head those pieces are the output
vocabulary: a corpus's own.
"""

from collections.abc import Iterable
from pathlib import Path

import torch

from lexigraft.core.settings import BackboneSettings
from lexigraft.model.backbone import find_tokenizer, transformers_library
from lexigraft.vocab.subwords import from_transformers
from lexigraft.vocab.tokenizer_files import copy_tokenizer, write_tokenizer
from lexigraft.vocab.wordpiece import train_wordpiece

LAYERS = 3
USUAL = BackboneSettings()


def make_backbone(
    texts: Iterable[str], layers: int, seed: int, folder: Path, settings: BackboneSettings = USUAL
) -> None:
    """Learn a WordPiece tokenizer from `texts`, or take that of `settings`, draw a BERT of `layers` layers (0: three)
    for it, and write both into `folder`."""
    if settings.tokenizer:
        copy_tokenizer(find_tokenizer(Path(settings.tokenizer)), Path(settings.tokenizer), folder)
        # The copy is what will be read: it has all that a masked language model needs, or is refused now.
        from_transformers(find_tokenizer(folder), settings.tokenizer)
    else:
        write_tokenizer(train_wordpiece(texts, settings.pieces, settings.min_count), folder)
    hf, tokenizer = transformers_library(), find_tokenizer(folder)
    config = hf.BertConfig(
        vocab_size=max(tokenizer.get_vocab().values()) + 1, hidden_size=settings.width,
        num_hidden_layers=layers or LAYERS, num_attention_heads=settings.heads, intermediate_size=4 * settings.width,
        max_position_embeddings=settings.positions, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    torch.manual_seed(seed)
    hf.BertForMaskedLM(config).save_pretrained(folder)

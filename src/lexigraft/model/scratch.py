"""A small encoder from scratch: for who has no pretrained one at hand. It knows nothing until it is trained."""

from collections.abc import Iterable
from pathlib import Path

import torch

from lexigraft.model.backbone import transformers_library
from lexigraft.vocab.tokenizer_files import write_tokenizer
from lexigraft.vocab.wordpiece import PAD, train_wordpiece

SUBWORDS, WIDTH, HEADS, LAYERS = 8000, 256, 4, 3


def make_backbone(texts: Iterable[str], layers: int, seed: int, folder: Path) -> None:
    """Learn a WordPiece tokenizer from `texts`, draw a BERT of `layers` layers for it, and write both into `folder`."""
    hf = transformers_library()
    made = train_wordpiece(texts, SUBWORDS)
    write_tokenizer(made, folder)
    config = hf.BertConfig(
        vocab_size=made.tokenizer.get_vocab_size(), hidden_size=WIDTH, num_hidden_layers=layers or LAYERS,
        num_attention_heads=HEADS, intermediate_size=4 * WIDTH, pad_token_id=made.tokenizer.token_to_id(PAD),
    )  # fmt: skip
    torch.manual_seed(seed)
    hf.BertForMaskedLM(config).save_pretrained(folder)

"""A backbone with its masked-language-model head, to be trained as one (T2, H1); one without a head gets its family's.

The head that is added has a transform drawn as its family draws it and a decoder tied to the word embeddings. Saved, it
is a folder of `transformers` like any other backbone's.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lexigraft.core.errors import InputError
from lexigraft.core.pretrained import open_weights
from lexigraft.core.types import Vocabulary
from lexigraft.model.backbone import Body, PassThrough, find_backbone, transformers_library
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.raw_reader import SubwordReader, subword_terms
from lexigraft.vocab.subwords import SubwordTokenizer, from_transformers

OWN, ADDED = "own", "added"


class MaskedLM(nn.Module):
    """Token ids and mask to hidden states [batch, length, width] after the transform; `weight` and `bias` are the
    decoder's rows and biases of subwords. `head` says whether the backbone had one or it was added."""

    def __init__(self, model: Any, hf_tokenizer: Any, tokenizer: SubwordTokenizer, head: str) -> None:
        super().__init__()
        self.head, self.tokenizer, self._hf_tokenizer = head, tokenizer, hf_tokenizer
        self.decoder = model.get_output_embeddings()
        model.set_output_embeddings(PassThrough())
        self.body = Body(model, has_mlm_head=True)

    @property
    def weight(self) -> Tensor:
        weight: Tensor = self.decoder.weight
        return weight

    @property
    def bias(self) -> Tensor:
        bias: Tensor | None = self.decoder.bias
        return torch.zeros(len(self.weight), device=self.weight.device) if bias is None else bias

    @property
    def is_tied(self) -> bool:
        """Whether the decoder's rows are the word embeddings."""
        model: Any = self.body.model
        return model.get_input_embeddings().weight is self.decoder.weight

    def forward(self, subwords: Tensor, mask: Tensor) -> Tensor:
        hidden: Tensor = self.body(subwords, mask)
        return hidden

    def reader(self, raw: bool, name: str) -> AlignedReader | SubwordReader:
        """Reads texts as words, as grafted heads do, or `raw`, as plain heads do; `name` is for messages."""
        if not raw:
            return AlignedReader(self.tokenizer, Vocabulary([]))  # which terms subwords belong to does not matter here
        terms = subword_terms(self._hf_tokenizer.get_vocab(), len(self.weight), name)
        special = frozenset(self._hf_tokenizer.all_special_ids)
        return SubwordReader(self._hf_tokenizer.backend_tokenizer, self.tokenizer, terms, special)

    def subwords(self) -> Vocabulary:
        """One term for each row of the decoder, in the order of their ids."""
        return subword_terms(self._hf_tokenizer.get_vocab(), len(self.weight), str(self._hf_tokenizer.name_or_path))

    @property
    def special_ids(self) -> frozenset[int]:
        """The subwords that stand for no text, wherever they come from."""
        return frozenset(self._hf_tokenizer.all_special_ids)

    def save(self, folder: Path) -> None:
        """Write configuration, weights and tokenizer as `transformers` reads them."""
        model: Any = self.body.model
        model.set_output_embeddings(self.decoder)
        model.save_pretrained(folder)
        model.set_output_embeddings(PassThrough())
        self._hf_tokenizer.save_pretrained(folder)


def load_masked_lm(name: str, layers: int, seed: int) -> MaskedLM:
    """The masked language model called `name`; one without a head gets one, drawn by `seed`. `name` and `layers` are as
    `load_backbone` takes them."""
    hf, (source, config, tokenizer, has_head) = transformers_library(), find_backbone(name, layers)
    head = OWN if has_head else ADDED
    if head == ADDED:
        config.tie_word_embeddings = True
    torch.manual_seed(seed)
    try:
        model, found = open_weights(
            hf.AutoModelForMaskedLM, source, config=config, dtype=torch.float32, output_loading_info=True
        )
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{name!r}: transformers knows no masked language model of its family") from error
    if lost := [key for key in found["missing_keys"] if key.startswith(f"{model.base_model_prefix}.")]:
        raise InputError(f"{name!r}: the encoder's weights do not fit its family's masked language model: {lost[:3]}")
    made = MaskedLM(model, tokenizer, from_transformers(tokenizer, name), head)
    if head == ADDED and not made.is_tied:
        raise InputError(f"{name!r}: the head of its family cannot be tied to its word embeddings")
    return made

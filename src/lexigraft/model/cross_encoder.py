"""A cross-encoder (F1): reads a query and a document together and gives one score. The teacher of distillation.

It is a model of `transformers` for one label, made of any backbone or taken as somebody trained it, and saved as a
folder that `transformers` and the CrossEncoder of sentence-transformers open.
"""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.core.pretrained import open_weights
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.stored_record import as_expected
from lexigraft.model.backbone import find_backbone, transformers_library
from lexigraft.model.families import n_positions
from lexigraft.model.text_pairs import PairInputs, pair_template

LENGTHS_FILE = "teacher.json"
RAW_SCORES = "torch.nn.modules.linear.Identity"  # what sentence-transformers does to our scores: nothing


class Lengths(NamedTuple):
    """How many subwords of a query and of a document are read, special ones not counted."""

    query: int
    document: int


class CrossEncoder(nn.Module):
    """Pairs to scores [pairs]."""

    def __init__(self, name: str, model: Any, tokenizer: Any, lengths: Lengths) -> None:
        super().__init__()
        self.name, self.model, self.tokenizer, self.lengths = name, model, tokenizer, lengths
        self.template = pair_template(tokenizer, name)
        for part in model.modules():
            if isinstance(part, nn.Linear) and part.out_features == 1:
                part.forward = partial(_in_full, part)  # type: ignore[method-assign]
        self.has_types = getattr(model.config, "type_vocab_size", 0) > max(self.template.types) > 0
        most, needed = n_positions(model), sum(lengths) + self.template.n_special
        if most is not None and needed > most:
            raise InputError(
                f"{name!r} reads at most {most} subwords, {self.template.n_special} of them special; a query length of "
                f"{lengths.query} and a document length of {lengths.document} are {needed} together: lower one of them"
            )

    @property
    def pad_id(self) -> int:
        return int(self.tokenizer.pad_token_id)

    def forward(self, inputs: PairInputs) -> Tensor:
        types = {"token_type_ids": inputs.types} if self.has_types else {}
        scores: Tensor = self.model(input_ids=inputs.subwords, attention_mask=inputs.mask, **types).logits
        return scores.squeeze(1).float()

    def save(self, folder: Path) -> None:
        """Write model and tokenizer as `transformers` reads them, and how much of a text is read."""
        self.model.config.sentence_transformers = {"activation_fn": RAW_SCORES}
        self.model.save_pretrained(folder)
        wanted = ["input_ids", "attention_mask", *(["token_type_ids"] if self.has_types else [])]
        # Who reads pairs with it elsewhere gets the types that it knows, and whole texts.
        self.tokenizer.init_kwargs["model_input_names"] = self.tokenizer.model_input_names = wanted
        self.tokenizer.backend_tokenizer.no_truncation()
        self.tokenizer.backend_tokenizer.no_padding()
        self.tokenizer.save_pretrained(folder)
        facts = {"query_length": self.lengths.query, "document_length": self.lengths.document}
        write_json(folder / LENGTHS_FILE, facts)


def _in_full(layer: nn.Linear, hidden: Tensor) -> Tensor:
    """The last layer in float32, whatever the layers before it use: in 16 bits, scores near 10 would lie .06 apart,
    and tie."""
    with torch.autocast(hidden.device.type, enabled=False):
        bias = None if layer.bias is None else layer.bias.float()
        return nn.functional.linear(hidden.float(), layer.weight.float(), bias)


def load_cross_encoder(name: str, lengths: Lengths, layers: int = 0, seed: int = 0) -> CrossEncoder:
    """The cross-encoder called `name`; a backbone becomes one by a head for one score, drawn by `seed`. `name` and
    `layers` are as `load_backbone` takes them."""
    hf, (source, config, tokenizer, _) = transformers_library(), find_backbone(name, layers)
    is_ready = any("SequenceClassification" in kind for kind in config.architectures or ())
    if is_ready and config.num_labels != 1:
        raise InputError(
            f"{name!r} gives {config.num_labels} labels, and a teacher one score; take a cross-encoder of one label, "
            "or the backbone it was made of"
        )
    config.num_labels = 1
    torch.manual_seed(seed)
    model, found = open_weights(
        hf.AutoModelForSequenceClassification, source, config=config, dtype=torch.float32, output_loading_info=True
    )
    encoder = f"{model.base_model_prefix}."
    lost = [key for key in found["missing_keys"] if is_ready or (key.startswith(encoder) and ".pooler" not in key)]
    if lost:
        raise InputError(f"{name!r}: its weights do not fit its family's model for one score: {sorted(lost)[:3]}")
    return CrossEncoder(name, model, tokenizer, lengths)


def open_cross_encoder(name: str, lengths: Lengths | None = None) -> CrossEncoder:
    """A cross-encoder to score with: a folder that `save` wrote, or a model trained elsewhere, by folder or hub name.
    `lengths` stand in for those that `save` wrote; a model from elsewhere has none."""
    _, config, _, _ = find_backbone(name)
    if not any("SequenceClassification" in kind for kind in config.architectures or ()):
        raise InputError(f"{name!r} is no cross-encoder: it gives no score; train one of it: lexigraft teacher train")
    own = saved_lengths(Path(name))
    if (chosen := lengths or own) is None:
        raise InputError(
            f"{name!r} does not say how much of a text it reads; give --query-length and --document-length"
        )
    return load_cross_encoder(name, chosen)


def saved_lengths(folder: Path) -> Lengths | None:
    """The lengths that `save` wrote; None for a model from elsewhere."""
    file = folder / LENGTHS_FILE
    if not file.is_file():
        return None
    facts = read_sealed(file)
    with as_expected(file):
        return Lengths(int(facts["query_length"]), int(facts["document_length"]))

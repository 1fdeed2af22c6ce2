"""The sparse encoder: backbone and head joined; saved as one folder that needs nothing else to be opened again.

model.safetensors    all weights
backbone/            the backbone's configuration and tokenizer, as `transformers` writes them
terms.*              the output vocabulary
encoder.json         where it came from, its head, and the fingerprint of its vocabulary
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from lexigraft.core.arrays import StringTable, write_strings
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.errors import ArtifactError
from lexigraft.core.types import Vocabulary
from lexigraft.model.backbone import Backbone, empty_backbone
from lexigraft.model.head import SparseHead
from lexigraft.model.pool import max_over_tokens, saturate
from lexigraft.vocab.subwords import SubwordTokenizer

KIND, FORMAT_VERSION = "model", 1


@dataclass(frozen=True)
class EncoderMeta:
    """`mlm_head`: "own" where the backbone brought one, "tied" where it was tied to the word embeddings."""

    backbone: str
    mlm_head: str
    head: str
    n_terms: int
    vocab_fingerprint: str


class SparseEncoder(nn.Module):
    """Token ids to term weights [batch, vocabulary], by MAX pooling."""

    def __init__(self, backbone: Backbone, head: SparseHead, vocabulary: Vocabulary, head_kind: str) -> None:
        super().__init__()
        self.body = backbone.body
        self.head = head
        self.backbone = backbone
        self.vocabulary = vocabulary
        mlm_head = "own" if backbone.body.has_mlm_head else "tied"
        self.meta = EncoderMeta(backbone.name, mlm_head, head_kind, len(vocabulary), vocabulary.fingerprint)

    @property
    def tokenizer(self) -> SubwordTokenizer:
        return self.backbone.tokenizer

    def logits(self, subwords: Tensor, mask: Tensor) -> Tensor:
        """The largest logit of each term over the text, at least float32 [batch, vocabulary]."""
        return max_over_tokens(self.body(subwords, mask), mask, self.head.weight, self.head.bias)

    def forward(self, subwords: Tensor, mask: Tensor) -> Tensor:
        return saturate(self.logits(subwords, mask))


def save_encoder(encoder: SparseEncoder, folder: Path) -> None:
    """Write the files of a model into `folder`."""
    state = {key: value.detach().cpu().contiguous() for key, value in encoder.state_dict().items()}
    save_file(state, folder / "model.safetensors")
    (folder / "backbone").mkdir(exist_ok=True)
    encoder.body.model.config.save_pretrained(folder / "backbone")  # type: ignore[union-attr, operator]
    encoder.backbone.hf_tokenizer.save_pretrained(folder / "backbone")
    write_strings(folder, "terms", encoder.vocabulary.terms)
    write_json(folder / "encoder.json", asdict(encoder.meta))


def open_encoder(path: Path) -> SparseEncoder:
    """Open a model artifact, ready to encode (in evaluation mode)."""
    open_artifact(path, KIND, FORMAT_VERSION)
    meta = EncoderMeta(**json.loads((path / "encoder.json").read_text(encoding="utf-8")))
    vocabulary = Vocabulary(list(StringTable(path, "terms")))
    backbone = empty_backbone(path / "backbone", meta.backbone, meta.mlm_head == "own")
    head = SparseHead(torch.zeros(meta.n_terms, backbone.width), torch.zeros(meta.n_terms))
    encoder = SparseEncoder(backbone, head, vocabulary, meta.head)
    if encoder.meta != meta:
        raise ArtifactError(f"{path}: the vocabulary does not match encoder.json; build the model again")
    encoder.load_state_dict(load_file(path / "model.safetensors"))
    return encoder.eval()

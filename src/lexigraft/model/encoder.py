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
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from lexigraft.core.arrays import StringTable, write_strings
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.errors import ArtifactError
from lexigraft.core.types import Vocabulary
from lexigraft.model.backbone import Backbone, empty_backbone
from lexigraft.model.head import Bags, SparseHead, add_own_words
from lexigraft.model.pool import max_over_tokens, saturate
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.stems import NO_STEMMER
from lexigraft.vocab.stopwords import NO_STOPWORDS
from lexigraft.vocab.subwords import SubwordTokenizer

KIND, FORMAT_VERSION = "model", 2


@dataclass(frozen=True)
class EncoderMeta:
    """`mlm_head`: "own" where the backbone brought one, "tied" where it was tied to the word embeddings. How words
    become terms is part of a model: `stemmer`, `stopwords`, and the `mean_words` of a document, by which own
    words are weighed. A fine-tuned one also says how many subwords it reads of a text, and how many terms it was
    trained to keep of its vectors (0: all): what it never ranked by is not part of them."""

    backbone: str
    mlm_head: str
    head: str
    own_words: bool
    n_terms: int
    vocab_fingerprint: str
    stemmer: str
    stopwords: str
    mean_words: float
    query_length: int = 0
    document_length: int = 0
    query_terms: int = 0
    document_terms: int = 0


class SparseEncoder(nn.Module):
    """Token ids to term weights [batch, vocabulary], by MAX pooling."""

    def __init__(
        self,
        backbone: Backbone,
        head: SparseHead,
        vocabulary: Vocabulary,
        head_kind: str,
        stemmer: str = NO_STEMMER,
        stopwords: str = NO_STOPWORDS,
        mean_words: float = 1.0,
    ) -> None:
        super().__init__()
        self.body = backbone.body
        self.head = head
        self.backbone = backbone
        self.vocabulary = vocabulary
        mlm_head = "own" if backbone.body.has_mlm_head else "tied"
        words = head.own is not None, len(vocabulary), vocabulary.fingerprint, stemmer, stopwords, mean_words
        self.meta = EncoderMeta(backbone.name, mlm_head, head_kind, *words)

    @property
    def tokenizer(self) -> SubwordTokenizer:
        return self.backbone.tokenizer

    def reader(self) -> AlignedReader:
        """Reads texts as this model was trained to read them."""
        return AlignedReader(self.tokenizer, self.vocabulary, self.meta.stemmer, self.meta.stopwords)

    def logits(self, subwords: Tensor, mask: Tensor, pooled: Tensor | None = None, bags: Bags | None = None) -> Tensor:
        """The largest logit of each term over the pooled tokens (None: all that are not padding), own words added, at
        least float32 [batch, vocabulary]."""
        hidden = self.body(subwords, mask)
        best = max_over_tokens(hidden, mask if pooled is None else pooled, self.head.weight, self.head.bias)
        return best if bags is None or self.head.own is None else add_own_words(best, self.head.own, bags)

    def forward(self, subwords: Tensor, mask: Tensor, pooled: Tensor | None = None, bags: Bags | None = None) -> Tensor:
        return saturate(self.logits(subwords, mask, pooled, bags))


def save_encoder(encoder: SparseEncoder, folder: Path) -> None:
    """Write the files of a model into `folder`."""
    state = {key: value.detach().cpu().contiguous() for key, value in encoder.state_dict().items()}
    try:
        save_file(state, folder / "model.safetensors")
    except SafetensorError as error:
        raise ArtifactError(f"the model in {folder} could not be written: {error}; is the disk full?") from error
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
    zeros = torch.zeros(meta.n_terms)
    head = SparseHead(torch.zeros(meta.n_terms, backbone.width), zeros, zeros if meta.own_words else None)
    encoder = SparseEncoder(backbone, head, vocabulary, meta.head, meta.stemmer, meta.stopwords, meta.mean_words)
    if encoder.meta.vocab_fingerprint != meta.vocab_fingerprint:
        raise ArtifactError(f"{path}: the vocabulary does not match encoder.json; build the model again")
    encoder.meta = meta
    encoder.load_state_dict(load_file(path / "model.safetensors"))
    return encoder.eval()

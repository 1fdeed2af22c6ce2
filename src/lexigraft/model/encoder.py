"""The sparse encoder: backbone and head joined; saved as one folder that needs nothing else to be opened again.

model.safetensors    all weights
backbone/            the backbone's configuration and tokenizer, as `transformers` writes them
terms.*              the output vocabulary
encoder.json         where it came from, its head, and the fingerprint of its vocabulary
table_*.npy          where queries are looked up: what each term stands for (`vocab.lookup`)
"""

from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from lexigraft.core.arrays import StringTable, write_strings
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.errors import ArtifactError
from lexigraft.core.pinned import known_as, of_one_version
from lexigraft.core.types import Vocabulary
from lexigraft.core.word_rule import FORMER_RULE, WordRule
from lexigraft.inference.meta import (
    ALL_TOKENS,
    BY_MODEL,
    BY_TABLE,
    CLS,
    MODEL_FORMAT,
    MODEL_KIND,
    OF_SUBWORDS,
    SUM,
    UNICOIL,
    EncoderMeta,
    read_meta,
)
from lexigraft.model.backbone import Backbone, empty_backbone
from lexigraft.model.damaged_folders import naming_what_is_damaged
from lexigraft.model.head import Bags, SparseHead, add_own_token, add_own_words, weigh
from lexigraft.model.impact import ImpactHead, weigh_terms
from lexigraft.model.pool import max_over_tokens
from lexigraft.model.pool_sum import sum_over_tokens
from lexigraft.model.query_table import QueryTable
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.lookup import TableRows, read_table, write_table
from lexigraft.vocab.reader import TextReader
from lexigraft.vocab.stems import NO_STEMMER
from lexigraft.vocab.stopwords import NO_STOPWORDS
from lexigraft.vocab.subwords import SubwordTokenizer

KIND, FORMAT_VERSION = MODEL_KIND, MODEL_FORMAT
HEAD_WEIGHT = "head.weight"
WEIGHTS = "model.safetensors"


class SparseEncoder(nn.Module):
    """Token ids to term weights [batch, vocabulary]."""

    def __init__(
        self,
        backbone: Backbone,
        head: SparseHead | ImpactHead,
        vocabulary: Vocabulary,
        head_kind: str,
        stemmer: str = NO_STEMMER,
        stopwords: str = NO_STOPWORDS,
        mean_words: float = 1.0,
        rule: WordRule = FORMER_RULE,
    ) -> None:
        super().__init__()
        self.head = head  # first, so that a tied parameter is known by the head's name
        self.body = backbone.body
        self.backbone = backbone
        self.vocabulary = vocabulary
        self.table: QueryTable | None = None
        mlm_head = "own" if backbone.body.has_mlm_head else "tied"
        words = head.own is not None, len(vocabulary), vocabulary.fingerprint, stemmer, stopwords, mean_words
        tied = head.weight is backbone.word_embeddings
        self.meta = EncoderMeta(backbone.name, mlm_head, head_kind, *words, tied=tied, **rule.entry)

    @property
    def tokenizer(self) -> SubwordTokenizer:
        return self.backbone.tokenizer

    def reader(self) -> TextReader:
        """Reads texts as this model was trained to read them."""
        if self.meta.head in OF_SUBWORDS:
            return self.backbone.subword_reader()
        return AlignedReader(self.tokenizer, self.vocabulary, self.meta.stemmer, self.meta.stopwords, self.meta.rule)

    def logits(self, subwords: Tensor, mask: Tensor, pooled: Tensor | None = None, bags: Bags | None = None) -> Tensor:
        """The largest logit of each term over the pooled tokens (None: all that are not padding), or where the pooling
        is cls its logit at the first token; own words added, at least float32 [batch, vocabulary].

        A text without a pooled token has -inf everywhere. Sums have no logits, nor have impacts.
        """
        assert isinstance(self.head, SparseHead), "a head of terms"
        best = self._largest(subwords, mask, pooled)
        return best if bags is None or self.head.own is None else add_own_words(best, self.head.own, bags)

    def _largest(self, subwords: Tensor, mask: Tensor, pooled: Tensor | None) -> Tensor:
        """`logits` without own words."""
        return max_over_tokens(*self.pooled_states(subwords, mask, pooled), self.head.weight, self.head.bias)

    def pooled_states(self, subwords: Tensor, mask: Tensor, pooled: Tensor | None) -> tuple[Tensor, Tensor]:
        """Hidden states [batch, length, width] in the type that products have here, and which of them are pooled."""
        hidden, pooled = self.body(subwords, mask), self.pooled_tokens(mask, pooled)
        if torch.is_autocast_enabled(hidden.device.type):  # a layer norm hands on float32; products take half the bits
            hidden = hidden.to(torch.get_autocast_dtype(hidden.device.type))
        if self.meta.pooling == CLS:
            return hidden[:, :1], pooled.bool().any(1, keepdim=True)
        return hidden, pooled

    def forward(self, subwords: Tensor, mask: Tensor, pooled: Tensor | None = None, bags: Bags | None = None) -> Tensor:
        """Term weights; the arguments are those of `logits`."""
        if isinstance(self.head, ImpactHead):
            impacts, is_there = self.head(self.body(subwords, mask)), self.head.terms_at(subwords, mask)
            return weigh_terms(impacts, subwords, is_there, len(self.vocabulary))
        activation = self.meta.activation
        if self.meta.pooling != SUM:
            return weigh(self._largest(subwords, mask, pooled), self.head.own, bags, activation)
        hidden, pooled = self.body(subwords, mask), self.pooled_tokens(mask, pooled)
        total = sum_over_tokens(hidden, pooled, self.head.weight, self.head.bias, activation)
        return total if bags is None or self.head.own is None else add_own_token(total, self.head.own, bags, activation)

    def queries(self, subwords: Tensor, mask: Tensor, pooled: Tensor, bags: Bags) -> Tensor:
        """Term weights of queries [batch, vocabulary]; without a model where a query is its own terms (SPLADE-doc)."""
        if self.meta.queries == BY_MODEL:
            vectors: Tensor = self(subwords, mask, pooled, bags)
            return vectors
        if self.table is not None:
            looked_up: Tensor = self.table(bags, len(subwords))
            return looked_up
        empty = torch.zeros(len(subwords), len(self.vocabulary), device=subwords.device)
        return empty.index_put((bags.rows, bags.terms), bags.weights)

    def set_table(self, rows: TableRows) -> None:
        """Queries are looked up in this table from now on."""
        self.table = QueryTable(rows).to(self.head.weight.device)

    def pooled_tokens(self, mask: Tensor, pooled: Tensor | None) -> Tensor:
        """Which tokens are pooled, of those that are not padding and those that a reader would pool."""
        return mask if pooled is None or self.meta.pooled == ALL_TOKENS else pooled


def save_encoder(encoder: SparseEncoder, folder: Path) -> None:
    """Write the files of a model into `folder`."""
    state = {
        key: value.detach().cpu().contiguous()
        for key, value in encoder.state_dict().items()
        if not key.startswith("table.")
    }
    if encoder.table is not None:
        write_table(folder, encoder.table.rows())
    if encoder.meta.tied:
        del state[HEAD_WEIGHT]  # stored once, as the word embeddings
    try:
        save_file(state, folder / WEIGHTS)
    except SafetensorError as error:
        raise ArtifactError(f"the model in {folder} could not be written: {error}; is the disk full?") from error
    (folder / "backbone").mkdir(exist_ok=True)
    encoder.body.model.config.save_pretrained(folder / "backbone")  # type: ignore[union-attr, operator]
    encoder.backbone.hf_tokenizer.save_pretrained(folder / "backbone")
    write_strings(folder, "terms", encoder.vocabulary.terms)
    write_json(folder / "encoder.json", asdict(encoder.meta))


@of_one_version
@naming_what_is_damaged
def open_encoder(path: Path) -> SparseEncoder:
    """Open a model artifact, ready to encode (in evaluation mode)."""
    open_artifact(path, KIND, FORMAT_VERSION)
    return read_encoder(path)


def read_encoder(path: Path) -> SparseEncoder:
    """The model whose files are in the folder `path`, which need be no whole artifact yet."""
    if not (path / WEIGHTS).is_file():
        raise ArtifactError(
            f"the model at {known_as(path)} was brought in as a graph (from an export to ONNX Runtime) and has no "
            "weights for torch: it encodes, is searched and explained, and is not trained further or exported otherwise"
        )
    meta = read_meta(path)
    vocabulary = Vocabulary(list(StringTable(path, "terms")))
    backbone = empty_backbone(path / "backbone", meta.backbone, meta.mlm_head == "own")
    head = _empty_head(meta, backbone)
    encoder = SparseEncoder(
        backbone, head, vocabulary, meta.head, meta.stemmer, meta.stopwords, meta.mean_words, meta.rule
    )
    if encoder.meta.vocab_fingerprint != meta.vocab_fingerprint:
        raise ArtifactError(f"{path}: the vocabulary does not match encoder.json; build the model again")
    encoder.meta = meta
    weights = load_file(path / WEIGHTS)
    if meta.tied:
        weights[HEAD_WEIGHT] = next(
            weights[name] for name, value in encoder.state_dict(keep_vars=True).items()
            if name != HEAD_WEIGHT and value is encoder.head.weight
        )  # fmt: skip
    encoder.load_state_dict(weights)
    if meta.queries == BY_TABLE:
        encoder.set_table(read_table(path, len(vocabulary)))
    return encoder.eval()


def _empty_head(meta: EncoderMeta, backbone: Backbone) -> SparseHead | ImpactHead:
    """A head of the right kind, its weights still to be filled in."""
    if meta.head == UNICOIL:
        return ImpactHead(torch.zeros(1, backbone.width), torch.zeros(1), backbone.is_term())
    zeros = torch.zeros(meta.n_terms)
    head = SparseHead(torch.zeros(meta.n_terms, backbone.width), zeros, zeros if meta.own_words else None)
    if meta.tied:
        head.tie(backbone.word_embeddings)
    return head

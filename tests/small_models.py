"""Tiny models of every head, which know nothing and say much, as artifacts on disk."""

from dataclasses import replace
from pathlib import Path

import torch
import transformers

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.types import Vocabulary
from lexigraft.core.word_rule import FORMER_RULE
from lexigraft.inference.meta import PLAIN, UNICOIL
from lexigraft.model.backbone import load_backbone
from lexigraft.model.encoder import FORMAT_VERSION, KIND, SparseEncoder, save_encoder
from lexigraft.model.head import SparseHead
from lexigraft.model.impact import ImpactHead
from lexigraft.model.plain import plain_head
from tests.families import STEMS, write_backbone

QUERY_LENGTH, DOCUMENT_LENGTH = 9, 14
TERMS = Vocabulary([*STEMS, "the", "of", "kurmel", "fodgix", "don't", *(f"{stem}a" for stem in STEMS)])


def grafted(folder, own=True, rule=FORMER_RULE, stemmer="none") -> SparseEncoder:
    """A head over words."""
    backbone = load_backbone(str(folder))
    draw = torch.Generator().manual_seed(5)
    rows = torch.empty(len(TERMS), backbone.width).normal_(0, 0.5, generator=draw)
    bias = torch.empty(len(TERMS)).normal_(0, 0.5, generator=draw)
    amounts = torch.empty(len(TERMS)).uniform_(0, 2, generator=draw) if own else None
    return SparseEncoder(backbone, SparseHead(rows, bias, amounts), TERMS, "grafted", stemmer, "english", 4.0, rule)


def plain(folder) -> SparseEncoder:
    """The backbone's own head over its subwords."""
    backbone = load_backbone(str(folder))
    return SparseEncoder(backbone, plain_head(backbone), backbone.subwords(), PLAIN)


def unicoil(folder) -> SparseEncoder:
    """A weight for each subword that is there."""
    backbone = load_backbone(str(folder))
    head = ImpactHead(torch.ones(1, backbone.width), torch.ones(1), backbone.is_term())
    return SparseEncoder(backbone, head, backbone.subwords(), UNICOIL)


def saved(encoder, path, **meta) -> Path:
    """The model at `path`, fine-tuned as far as it says."""
    lengths = {"query_length": QUERY_LENGTH, "document_length": DOCUMENT_LENGTH}
    encoder.meta = replace(encoder.meta, **{**lengths, **meta})
    with write_artifact(path, Manifest(KIND, FORMAT_VERSION, {"finetune": {"steps": 2}})) as draft:
        save_encoder(encoder, draft)
    return path


def headless(folder) -> Path:
    """BERT without a masked-language-model head, as embedding models are published."""
    write_backbone("bert", folder, loud=20.0)
    transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False).save_pretrained(folder)
    return folder

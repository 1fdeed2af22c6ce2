"""What a model says of itself, in its `encoder.json`: whoever uses one without torch knows it by this."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lexigraft.core.encoder_description import wrong_in_rule
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.stored_record import record_of
from lexigraft.core.word_rule import WordRule, rule_in

MODEL_KIND, MODEL_FORMAT = "model", 2  # of the artifact that a model is
PLAIN, UNICOIL = "plain", "unicoil"
OF_SUBWORDS = (PLAIN, UNICOIL)  # heads whose terms are the backbone's own subwords
BY_MODEL, BY_WORDS, BY_TABLE = "model", "words", "table"
WITHOUT_MODEL = (BY_WORDS, BY_TABLE)  # queries that are their own words: no model is needed to search
MAX, SUM, CLS = "max", "sum", "cls"
ALL_TOKENS = "all"
LOG1P, LOG1P_TWICE = "log1p", "log1p-twice"
FACTS = "encoder.json"
REMEDY = "build the model again"


@dataclass(frozen=True)
class EncoderMeta:
    """`mlm_head`: "own" where the backbone brought one, "tied" where it was tied to the word embeddings. How words
    become terms is part of a model: `stemmer`, `stopwords`, and the `mean_words` of a document, by which own
    words are weighed. A fine-tuned one also says how many subwords it reads of a text, and how many terms it was
    trained to keep of its vectors (0: all): what it never ranked by is not part of them. `pooling` is max, sum or cls;
    `pooled` says over which tokens, words or all. `tied`: the head is the word embeddings. Prompts, which only models
    made elsewhere have, stand before every text. `queries`: written by the model, or their distinct terms, with a
    weight of 1 each, for which no model is needed (SPLADE-doc). `expansion_length`: subwords read of what was added to
    a document, 0 where the model reads none. `words` is the entry of the word rule; empty, the former one."""

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
    pooling: str = MAX
    pooled: str = "words"
    activation: str = LOG1P
    tied: bool = False
    query_prompt: str = ""
    document_prompt: str = ""
    queries: str = BY_MODEL
    expansion_length: int = 0
    words: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rule(self) -> WordRule:
        """How texts are cut into words."""
        return rule_in({"words": self.words})


def read_meta(path: Path) -> EncoderMeta:
    """What the model at `path` says of itself."""
    meta = record_of(path / FACTS, EncoderMeta, read_sealed(path / FACTS, REMEDY), remedy=REMEDY)
    if wrong := wrong_in_rule(meta.words):
        raise ArtifactError(f"{path / FACTS} says {wrong}; {REMEDY}")
    return meta


def require_finetuned(meta: EncoderMeta) -> None:
    """Raise where a model only names masked terms so far, and ranks nothing."""
    if not meta.query_length:
        raise InputError("this model was pre-trained and not fine-tuned: it writes no vectors yet; fine-tune it first")

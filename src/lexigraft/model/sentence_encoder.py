"""Whether a backbone is a sentence encoder whose texts are means over tokens: what sentence-transformers writes beside
the weights says so."""

from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.model.backbone import embedded_folder
from lexigraft.model.foreign import read_json

MEAN = "pooling_mode_mean_tokens"
PARTS = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])


def why_no_sentence_encoder(backbone: str) -> str:
    """Why the mean over the tokens of `backbone` ("embedded", a folder or a hub name) is no sentence vector as it
    comes; empty where it is one."""
    source = _source(backbone)
    parts = _said(source, "modules.json")
    if parts is None:
        return "it shows no modules.json, by which sentence-transformers says of which parts an encoder is made"
    kinds = [str(part.get("type", "")).rpartition(".")[2] for part in parts]
    if kinds not in PARTS or parts[0].get("path"):
        return f"it is made of {', '.join(kinds)}, and a Transformer and its Pooling are all that is read here"
    pooling = _said(source, str(Path(parts[1].get("path", "")) / "config.json")) or {}
    others = [name for name, value in pooling.items() if name.startswith("pooling_mode_") and value and name != MEAN]
    if not pooling.get(MEAN) or others:
        return "it does not pool by the mean over all tokens"
    return ""


def own_length(backbone: str) -> int:
    """How many subwords of a text such an encoder reads, as its files say; 0 where they do not."""
    said = _said(_source(backbone), "sentence_bert_config.json") or {}
    return int(said.get("max_seq_length") or 0)


def _source(backbone: str) -> str:
    return str(embedded_folder()) if backbone == "embedded" else backbone


def _said(source: str, file: str) -> Any:
    """What a file of the model says, or None: of one at a hub that cannot be asked now, nothing is known."""
    try:
        return read_json(source, file)
    except InputError:
        return None

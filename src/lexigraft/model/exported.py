"""Exports of models, read back (`lexigraft.export` writes them): as data, and never the programs that lie with them.

lexigraft.json       which form it is, what the model says of itself, its card
terms.json           the vocabulary
backbone/            the backbone's configuration and tokenizer, as a model of ours keeps them
table.safetensors    where queries are looked up, if they are
model.safetensors    form "full": the weights as a model of ours keeps them; form "stock": those of `stock_weights`

Of form "onnx" the weights are in its graph, whose files are those of an inference form.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from lexigraft.core.arrays import write_strings
from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.core.plain_files import read_plain_file
from lexigraft.core.sealed_json import write_sealed
from lexigraft.core.stored_record import record_of
from lexigraft.core.types import Vocabulary
from lexigraft.inference.meta import BY_TABLE, EncoderMeta, require_finetuned
from lexigraft.inference.meta import FACTS as ENCODER
from lexigraft.model.exported_checks import require_own_file, wrong_in_card, wrong_in_meta, wrong_in_terms
from lexigraft.vocab.lookup import TableRows, read_table, write_table

FACTS, TERMS, TABLE, BACKBONE, WEIGHTS = (
    "lexigraft.json",
    "terms.json",
    "table.safetensors",
    "backbone",
    "model.safetensors",
)
CARD = "card.json"  # in a model of ours that was an export: what that had on its card
FULL, STOCK, ONNX = "full", "stock", "onnx"
FORMAT = 1
LOCAL = "local"  # a backbone that has no name elsewhere
OF_TOKENIZER = (".json", ".txt", ".model")  # files of `backbone`: none of these is a program
REMEDY = "export the model again"


class ExportedModel(NamedTuple):
    """What an export says; `layout` is that of a stock form's weights."""

    folder: Path
    form: str
    meta: EncoderMeta
    terms: list[str]
    card: Mapping[str, Any]
    layout: Mapping[str, Any]


def is_exported(source: str) -> bool:
    """Whether a folder holds an export of ours."""
    return (Path(source) / FACTS).is_file()


def write_facts(
    folder: Path,
    form: str,
    meta: EncoderMeta,
    terms: list[str],
    card: Mapping[str, Any],
    layout: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """What every form has, into `folder`."""
    shown = replace(meta, backbone=public_name(meta.backbone))
    said = {"format": FORMAT, "form": form, "encoder": asdict(shown), "card": dict(card), "layout": dict(layout)}
    write_json(folder / FACTS, said)
    write_json(folder / TERMS, terms)


def public_name(backbone: str) -> str:
    """What a backbone may be called outside of this machine, where a folder means nothing and says more of its owner
    than it should."""
    is_on_a_hub = backbone.count("/") == 1 and not backbone.startswith((".", "/", "~")) and not Path(backbone).exists()
    return backbone if is_on_a_hub or backbone == "embedded" else LOCAL


def copy_backbone(source: Path, target: Path) -> None:
    """The data files of a backbone's folder."""
    (target / BACKBONE).mkdir()
    for file in sorted((source / BACKBONE).iterdir()):
        if file.suffix in OF_TOKENIZER:
            require_own_file(source, file, REMEDY)
            shutil.copyfile(file, target / BACKBONE / file.name)


def copy_table(model: Path, target: Path, n_terms: int) -> None:
    """The table of a model of ours, as an export keeps it."""
    rows = {name: np.ascontiguousarray(value) for name, value in read_table(model, n_terms)._asdict().items()}
    save_file(rows, target / TABLE)


def read_exported(source: str) -> ExportedModel:
    """What the export at `source` says; raises where it says nothing that fits together."""
    folder = Path(source)
    found = _json(folder / FACTS)
    form = found.get("form")
    if found.get("format") != FORMAT or form not in (FULL, STOCK, ONNX):
        raise InputError(
            f"{folder / FACTS} has format {found.get('format')!r} of form {form!r}, which is not known; {REMEDY}"
        )
    parts = {name: found.get(name, {}) for name in ("encoder", "card", "layout")}
    if not all(isinstance(part, dict) for part in parts.values()):
        raise InputError(f"{folder / FACTS} does not say what the model is; {REMEDY}")
    meta = record_of(folder / FACTS, EncoderMeta, parts["encoder"], remedy=REMEDY)
    require_finetuned(meta)
    if wrong := wrong_in_meta(meta) or wrong_in_card(parts["card"]):
        raise InputError(f"{folder / FACTS} says {wrong}; {REMEDY}")
    terms = _json(folder / TERMS, list)
    if wrong := wrong_in_terms(terms):
        raise InputError(f"{folder / TERMS} has {wrong}; {REMEDY}")
    if len(terms) != meta.n_terms:
        raise InputError(f"{folder / TERMS} has not the {meta.n_terms} terms that {FACTS} says; {REMEDY}")
    if Vocabulary(terms).fingerprint != meta.vocab_fingerprint:
        raise InputError(f"{folder / TERMS} holds other terms than {FACTS} says; {REMEDY}")
    return ExportedModel(folder, form, meta, terms, parts["card"], parts["layout"])


def write_as_model(found: ExportedModel, folder: Path) -> None:
    """The files of a model of ours but for its weights, into `folder`."""
    write_json(folder / ENCODER, asdict(found.meta))
    write_strings(folder, "terms", found.terms)
    copy_backbone(found.folder, folder)
    write_sealed(folder / CARD, found.card)
    if found.meta.queries == BY_TABLE:
        write_table(folder, _table(found))


def _table(found: ExportedModel) -> TableRows:
    require_own_file(found.folder, found.folder / TABLE, REMEDY)
    try:
        return TableRows(**load_file(found.folder / TABLE))
    except (SafetensorError, OSError, TypeError) as error:
        raise InputError(f"{found.folder / TABLE} holds no table of queries ({error}); {REMEDY}") from error


def _json(path: Path, kind: type = dict) -> Any:
    try:
        found = json.loads(read_plain_file(path))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read ({error}); {REMEDY}") from error
    if not isinstance(found, kind):
        raise InputError(f"{path} does not hold what it should; {REMEDY}")
    return found

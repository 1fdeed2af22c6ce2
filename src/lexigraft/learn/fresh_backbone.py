"""An encoder from scratch, untrained, as one artifact: a folder that `model.backbone` and `model mlm` take."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest, hash_file
from lexigraft.core.config import settings_config
from lexigraft.core.plain_files import read_plain_file
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.learn.vocabulary import texts_of
from lexigraft.model import scratch
from lexigraft.model.backbone import find_tokenizer
from lexigraft.stages.collect import source_description
from lexigraft.stages.ensure import keep_or_make
from lexigraft.stages.standalone import require_free_for
from lexigraft.stages.vocabularies import judged_collection

KIND, FORMAT_VERSION = "backbone", 1
DECIDING = (
    "tokenizer.json", "vocab.txt", "tokenizer_config.json", "vocab.json", "merges.txt", "added_tokens.json",
    "special_tokens_map.json", "tokenizer.model", "spiece.model", "config.json",
)  # fmt: skip

log = logging.getLogger(__name__)


def size_config(settings: Settings) -> dict[str, Any]:
    """What a fresh encoder is like, as a manifest records it: its layers, and what else is not the usual. A tokenizer
    counts by its files, and with one nothing counts that only learning one needs."""
    usual = settings_config(scratch.USUAL)
    found = settings_config(settings.backbone)
    tokenizer = found.pop("tokenizer")
    if tokenizer:
        found |= {"pieces": usual["pieces"], "min_count": usual["min_count"]}
    unusual = {name: value for name, value in found.items() if value != usual[name]}
    return {"layers": settings.model.layers, **unusual, **tokenizer_hashes(tokenizer)}


def tokenizer_hashes(folder: str) -> dict[str, Any]:
    """The hashes of a tokenizer's files; nothing where there is to be none. Raises where it cannot be opened."""
    if not folder:
        return {}
    find_tokenizer(Path(folder))
    files = (Path(folder) / name for name in DECIDING)
    return {"tokenizer": {file.name: hash_file(file) for file in files if file.is_file()}}


def make_fresh_backbone(
    source: str | None, out: Path, settings: Settings, progress: Progress = SILENT
) -> dict[str, Any]:
    """Draw an encoder of the settings `backbone`, `model.layers` and `run.seed` at `out`, replacing one there, for a
    tokenizer learned from `source`, or that of `backbone.tokenizer`; returns what there is to say of it."""
    require_free_for(out, KIND)
    config, seed = size_config(settings), settings.run.seed
    if source is not None:
        config["texts"] = source_description(source, settings.data)

    def make(folder: Path) -> None:
        with _texts(source, settings, progress) as texts:
            scratch.make_backbone(texts, settings.model.layers, seed, folder, settings.backbone)

    if keep_or_make(out, Manifest(KIND, FORMAT_VERSION, config, seed=seed), make).was_there:
        log.info("fresh: done before")
    made = json.loads(read_plain_file(out / "config.json"))
    return {
        "pieces": made["vocab_size"], "layers": made["num_hidden_layers"], "width": made["hidden_size"],
        "heads": made["num_attention_heads"], "positions": made["max_position_embeddings"],
    }  # fmt: skip


@contextmanager
def _texts(source: str | None, settings: Settings, progress: Progress) -> Iterator[Iterator[str]]:
    """All that may be learned from: documents and the queries that train; nothing where there is no source."""
    if source is None:
        yield iter(())
        return
    with judged_collection(source, settings.data, progress) as collection:
        yield progress.track(texts_of(collection), "counting words")

"""`lexigraft encode --shards`: from a collection to vectors, by shards that lie beside them until they are joined.

.VECTORS.shards/texts      the texts, in the batches that they are encoded in
.VECTORS.shards/vectors    the vectors of each shard
"""

import os
import shutil
from pathlib import Path

from lexigraft.core.artifact import Manifest
from lexigraft.core.progress import SILENT, Progress
from lexigraft.inference.meta import read_meta
from lexigraft.shards import texts as shard_texts
from lexigraft.shards.encode import EncodeShards, join_vectors
from lexigraft.shards.running import Where, make_shards
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.encode_model import as_read
from lexigraft.stages.ensure import keep_or_make
from lexigraft.stages.standalone import Encoding, Write
from lexigraft.vectors.encode import document_batches
from lexigraft.vectors.open_network import ensure_form


def encode_by_shards(where: Where) -> Write:
    """What `stages.standalone.encode` writes vectors by, for work that is done in shards."""

    def write(encoding: Encoding, folder: Path, progress: Progress = SILENT) -> None:
        work_folder = folder_of_shards(encoding.out)
        texts = _write_texts(encoding, work_folder / "texts", progress)
        ensure_form(encoding.model)  # once, before anybody else needs it
        work = EncodeShards(
            texts, work_folder / "vectors", where.shards, encoding.model, encoding.recipe.parents["model"],
            encoding.settings.data.in_passages, encoding.settings.model.bits, where.threads,
        )  # fmt: skip
        shards = make_shards(work, where, progress)
        join_vectors(shards, folder, os.path.relpath(encoding.model, encoding.out), progress)
        shutil.rmtree(work_folder)

    return write


def folder_of_shards(out: Path) -> Path:
    """Where the shards of what will lie at `out` are made, on the same disk: other machines must see it, too."""
    return out.with_name(f".{out.name}.shards")


def _write_texts(encoding: Encoding, path: Path, progress: Progress) -> Path:
    """Write out what is encoded, unless that is done."""
    data, recipe = encoding.settings.data, encoding.recipe
    # All that decides the texts; a model that reads no expansions leaves them as they are.
    expansion_length = read_meta(encoding.model).expansion_length
    parents = {name: value for name, value in recipe.parents.items() if name == "expansions"}
    config = {**recipe.config, "expansion_length": expansion_length}
    wanted = Manifest(shard_texts.KIND, shard_texts.FORMAT_VERSION, config, parents)

    def make(folder: Path) -> None:
        searched = searched_documents(encoding.collection, data, progress)
        with as_read(
            searched, read_meta(encoding.model), encoding.expansions, data.in_passages, encoding.model
        ) as documents:
            shard_texts.write_texts(document_batches(documents), folder)

    keep_or_make(path, wanted, make)
    return path

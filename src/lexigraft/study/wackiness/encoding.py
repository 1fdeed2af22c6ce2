"""A collection as a trained model sees it: its vectors and their index, kept in the folder of a system."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import read_manifest
from lexigraft.core.settings import DataSettings, IndexSettings
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.stages.encode_model import bits_config, encode_with_trained_model
from lexigraft.study.wackiness.place import Workplace
from lexigraft.vectors import store as vectors_store
from lexigraft.vectors.open_network import USUAL_BITS
from lexigraft.vectors.store import open_vectors

FROM_MODEL: Mapping[str, Any] = {"encoder": "model"}


def encode_and_index(
    place: Workplace,
    within: str,
    collection: Collection,
    data: DataSettings,
    model: Path,
    fingerprint: str,
    settings: IndexSettings,
    config: Mapping[str, Any] = FROM_MODEL,
    bits: int = USUAL_BITS,
) -> tuple[Path, Path]:
    """(index, vectors) of the documents of `collection`, encoded by the model at `model`, whose manifest has the
    `fingerprint`; both lie in the folder `within` of the workplace, which may be "" for the workplace itself. `config`:
    what, if it changes, has the documents encoded anew. `bits`: of the model's matrices, on a CPU."""

    def encode(folder: Path) -> None:
        final = (place.folder / within / "vectors").resolve()
        encode_with_trained_model(collection, data, model, folder, final, place.progress, bits=bits)

    before = f"{within}/" if within else ""
    vectors = place.ensure(
        f"{before}vectors", vectors_store.KIND, vectors_store.FORMAT_VERSION, {**config, **bits_config(bits)},
        {"corpus": collection.digest(CORPUS), "model": fingerprint}, encode,
    )  # fmt: skip
    manifest = read_manifest(vectors)
    assert manifest is not None, "just made"
    index = place.ensure(
        f"{before}index", index_store.KIND, index_store.FORMAT_VERSION,
        {"keep": 0, "bits": settings.bits, "reorder": settings.reorder}, {"vectors": manifest.fingerprint},
        lambda folder: build_index(open_vectors(vectors), folder, 0, settings, place.progress),
    )  # fmt: skip
    return index, vectors

"""An index alone as a system: queries by the encoder that it knows, documents as it kept them."""

from pathlib import Path

from lexigraft.comparison.open_systems import OpenSystem
from lexigraft.core.artifact import read_manifest
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.progress import SILENT
from lexigraft.core.settings import DataSettings
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.index.as_vectors import write_index_as_vectors
from lexigraft.index.inverted import Index
from lexigraft.index.live.state import is_live
from lexigraft.index.store import open_index
from lexigraft.search.encoded_index import EncodedIndex
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.standalone import seen_from
from lexigraft.study.wackiness.place import Workplace
from lexigraft.vectors import store as vectors_store


def open_plain(path: Path) -> Index:
    """The index at `path`; raises where it is live or of passages, or where the encoder of its queries is not there."""
    if is_live(path):
        raise InputError(
            f"{path} is a live index, which may change while it is measured; build a plain one with: lexigraft index "
            "--data DIR, or --vectors VECTORS"
        )
    opened = EncodedIndex(path)
    if opened.index.meta.passages:
        raise SettingError(
            f"{path} is an index of passages, and does not say how documents were cut; give the model that made it "
            "instead (--model), or an index of whole documents"
        )
    _ = opened.encoder  # says itself what is missing
    return opened.index


def open_alone(path: Path, collection: Collection, place: Workplace) -> OpenSystem:
    """The index at `path` over the collection that it was made of, its vectors read back into the workplace."""
    index, manifest, data = open_index(path), read_manifest(path), DataSettings()
    assert manifest is not None, "just opened"
    final = place.folder / "vectors"

    def write(folder: Path) -> None:
        encoder = seen_from(final, index.meta.query_encoder, path)
        write_index_as_vectors(index, _ordinals(path, index, collection, data), encoder, folder)

    vectors = place.ensure(
        "vectors", vectors_store.KIND, vectors_store.FORMAT_VERSION, {"encoder": "index"},
        {"index": manifest.fingerprint, "corpus": collection.digest(CORPUS)}, write,
    )  # fmt: skip
    return OpenSystem(place.name, "index", collection, data, path, vectors)


def _ordinals(path: Path, index: Index, collection: Collection, data: DataSettings) -> list[int]:
    """The rows of the index in the order of the collection's documents, which must be the same ones."""
    row_of = {identifier: row for row, identifier in enumerate(index.doc_ids)}
    found = []
    for document in searched_documents(collection, data, SILENT):
        row = row_of.get(document.doc_id)
        if row is None:
            raise InputError(
                f"{path} has no document {document.doc_id!r} of {collection.name}; give the collection that it was "
                "made of as --data"
            )
        found.append(row)
    if len(found) != index.n_documents:
        raise InputError(
            f"{path} has {index.n_documents:,} documents and {collection.name} {len(found):,}; give the collection "
            "that it was made of as --data"
        )
    return found

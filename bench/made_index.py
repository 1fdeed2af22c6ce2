"""An index of made documents, as large as one likes: ids, titles, a number as metadata, and weights from 1 to 255.

    python -m bench.made_index FOLDER --documents 1000000

FOLDER/index and FOLDER/metadata are written, and kept where they are there already. The documents are those of
bench/collections.py, kind (a): 40 terms a document of 100,000, by a shifted Zipf law. They go to the disk in blocks of
10,000, so that memory holds their ids and titles and never their terms.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import collections
from lexigraft.core.arrays import ArrayWriter, open_array
from lexigraft.core.artifact import Manifest, read_manifest, write_artifact
from lexigraft.core.types import SparseMatrix, Vocabulary
from lexigraft.index import metadata as metadata_store
from lexigraft.index import store
from lexigraft.index.build import build_index
from lexigraft.index.inverted import Index
from lexigraft.index.metadata import Metadata, open_metadata
from lexigraft.index.metadata_columns import write_metadata
from lexigraft.vectors.store import DocumentVectors

KIND = "a"
NUMBER = "year"
FIRST_YEAR, YEARS = 1926, 100
Query = tuple[NDArray[np.int32], NDArray[np.float32]]


def made_index(folder: Path, n_documents: int) -> tuple[Index, Metadata]:
    """The index of so many documents in `folder` with its metadata; both are made where they are not there."""
    index, metadata = folder / "index", folder / "metadata"
    wanted = Manifest(store.KIND, store.FORMAT_VERSION, {"made": KIND, "documents": n_documents})
    found = read_manifest(index)
    if found is None or not found.same_recipe(wanted):
        with tempfile.TemporaryDirectory(dir=_made(folder)) as scratch, write_artifact(index, wanted) as draft:
            build_index(_vectors(Path(scratch), n_documents), draft, scale=1.0)  # the index holds these very integers
    opened = store.open_index(index)
    described = Manifest(metadata_store.KIND, metadata_store.FORMAT_VERSION, {}, {"index": opened.fingerprint})
    found = read_manifest(metadata)
    if found is None or not found.same_recipe(described):
        write_metadata(metadata, described, opened, _records(n_documents))
    return opened, open_metadata(metadata, opened)


def made_queries(n_queries: int) -> list[Query]:
    """Queries of 10 terms; the same whatever the number of documents, from 10,000 on."""
    asked = collections.make(KIND, collections.ROWS_PER_CHUNK, n_queries).queries
    rows = (collections.row_of(asked, row) for row in range(n_queries))
    return [(terms, weights.astype(np.float32)) for terms, weights in rows]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _vectors(scratch: Path, n_documents: int) -> DocumentVectors:
    lengths = [np.zeros(1, np.int64)]
    with (
        ArrayWriter(scratch / "term_ids.npy", np.int32) as term_ids,
        ArrayWriter(scratch / "weights.npy", np.float32) as weights,
    ):
        for block in collections.document_blocks(KIND, n_documents):
            lengths.append(np.diff(block.indptr).astype(np.int64))
            term_ids.append(block.indices)
            weights.append(block.data)
    n_terms = collections.KINDS[KIND].n_terms
    vocabulary = Vocabulary([f"{term:07d}" for term in range(n_terms)])
    matrix = SparseMatrix(
        row_ids=[_name(number) for number in range(n_documents)],
        indptr=np.cumsum(np.concatenate(lengths)),
        term_ids=open_array(scratch / "term_ids.npy", np.int32),
        weights=open_array(scratch / "weights.npy", np.float32),
        n_terms=n_terms,
        vocab_fingerprint=vocabulary.fingerprint,
    )
    titles = [f"The title of made document {number:,}" for number in range(n_documents)]
    return DocumentVectors(matrix, titles, vocabulary, {"kind": "none"}, "")


def _name(number: int) -> str:
    return f"d{number:09d}"


def _records(n_documents: int) -> Iterator[tuple[str, dict[str, int]]]:
    return ((_name(number), {NUMBER: FIRST_YEAR + number * 7919 % YEARS}) for number in range(n_documents))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=1_000_000)
    options = parser.parse_args()
    index, _ = made_index(options.folder, options.documents)
    print(f"{options.folder}: {index.n_documents:,} documents, {index.meta.n_postings:,} postings")


if __name__ == "__main__":
    main()

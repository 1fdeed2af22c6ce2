"""Text to learned sparse vectors, streamed: the model's counterpart of `lexical`."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lexigraft.core.arrays import ArrayWriter, StringTableWriter, write_strings
from lexigraft.core.errors import InputError
from lexigraft.core.types import Document, Vocabulary, require_same_vocabulary
from lexigraft.model.encoder import SparseEncoder, open_encoder
from lexigraft.vectors.prune import prune_rows
from lexigraft.vectors.store import VectorsMeta, shown_title, write_meta
from lexigraft.vocab.aligned import AlignedReader, pad, take

BATCH = 64
READ_AHEAD = 4096  # so many texts are sorted by length at a time, so that batches hold little padding
SMALLEST_WEIGHT = 1e-4

Row = tuple[NDArray[np.int32], NDArray[np.float32]]


class TextEncoder:
    """An open model with its reader: texts to rows of (term ids ascending, weights).

    `keep` is the top-k mask the model was trained with (0: none): what it never ranked by is not part of its vectors.
    """

    def __init__(self, encoder: SparseEncoder, length: int, keep: int) -> None:
        self.encoder = encoder
        self._length, self._keep = length, keep
        self._reader = AlignedReader(encoder.tokenizer, encoder.vocabulary)

    @torch.inference_mode()
    def encode(self, texts: list[str]) -> list[Row]:
        """One row a text, in order; computed in order of length."""
        aligned = self._reader.read(texts, self._length)
        device = next(self.encoder.parameters()).device
        rows: list[Row] = [(np.zeros(0, np.int32), np.zeros(0, np.float32))] * len(texts)
        order = np.argsort(np.diff(aligned.indptr), kind="stable")
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            batch = take(aligned, places)
            subwords, mask = pad(batch.indptr, batch.subwords, self.encoder.tokenizer.special.pad)
            inputs = torch.from_numpy(subwords).to(device), torch.from_numpy(mask).to(device)
            weights = self.encoder(*inputs).float().cpu().numpy()
            for place, row in zip(places.tolist(), weights, strict=True):
                terms = np.flatnonzero(row > SMALLEST_WEIGHT).astype(np.int32)
                rows[place] = prune_rows(np.array([0, len(terms)], np.int64), terms, row[terms], self._keep)[1:]
        return rows


def encode_with_model(
    documents: Iterable[Document],
    encoder: SparseEncoder,
    length: int,
    keep: int,
    query_encoder: Mapping[str, Any],
    folder: Path,
) -> VectorsMeta:
    """Write the vectors of a stream of documents, with their ids, titles and vocabulary, into `folder`."""
    text_encoder, n_rows = TextEncoder(encoder, length, keep), 0
    with (
        StringTableWriter(folder, "row_ids") as row_ids,
        StringTableWriter(folder, "titles") as titles,
        ArrayWriter(folder / "indptr.npy", np.int64) as indptr,
        ArrayWriter(folder / "term_ids.npy", np.int32) as term_ids,
        ArrayWriter(folder / "weights.npy", np.float32) as weights,
    ):
        indptr.append(np.zeros(1, np.int64))
        for batch in _groups(documents):
            row_ids.extend(document.doc_id for document in batch)
            titles.extend(shown_title(document) for document in batch)
            for terms, values in text_encoder.encode([document.contents for document in batch]):
                term_ids.append(terms)
                weights.append(values)
                indptr.append(np.array([term_ids.length]))
            n_rows += len(batch)
    if not n_rows:
        raise InputError("the collection has no documents; its corpus file is empty")
    vocabulary = encoder.vocabulary
    write_strings(folder, "terms", vocabulary.terms)
    meta = VectorsMeta(n_rows, len(vocabulary), vocabulary.fingerprint, query_encoder)
    write_meta(folder, meta)
    return meta


def _groups(documents: Iterable[Document]) -> Iterator[list[Document]]:
    stream = iter(documents)
    while group := list(islice(stream, READ_AHEAD)):
        yield group


class ModelQueryEncoder:
    """Query text to (term ids ascending, weights)."""

    def __init__(self, encoder: SparseEncoder, length: int, keep: int) -> None:
        self._texts = TextEncoder(encoder, length, keep)

    def encode(self, text: str) -> Row:
        return self._texts.encode([text])[0]

    def encode_all(self, texts: list[str]) -> list[Row]:
        return self._texts.encode(texts)


def open_model_query_encoder(path: Path, length: int, keep: int, vocabulary: Vocabulary) -> ModelQueryEncoder:
    """The model at `path`, which must have the index's vocabulary."""
    encoder = open_encoder(path)
    require_same_vocabulary(f"the model at {path}", encoder.meta.vocab_fingerprint, "the index", vocabulary.fingerprint)
    return ModelQueryEncoder(encoder, length, keep)

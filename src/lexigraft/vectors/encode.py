"""Text to learned sparse vectors, streamed: the model's counterpart of `lexical`."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from lexigraft.core.arrays import ArrayWriter, StringTableWriter, write_strings
from lexigraft.core.errors import InputError
from lexigraft.core.types import Document, TracedText, Vocabulary, require_same_vocabulary
from lexigraft.model.backbone import default_device
from lexigraft.model.encoder import SparseEncoder, open_encoder
from lexigraft.model.inputs import ReadTexts, inputs_of, read_documents, read_queries
from lexigraft.model.precision import fast_precision
from lexigraft.model.traced_text import trace_text
from lexigraft.vectors.encoding_facts import EncodingFacts
from lexigraft.vectors.same_model import require_same_model
from lexigraft.vectors.store import VectorsMeta, shown_title, write_meta
from lexigraft.vocab.bags import TermBags
from lexigraft.vocab.batching import batches
from lexigraft.vocab.expansions import split_expansion

CPU_BATCH, GPU_BATCH = 64, 512
READ_AHEAD = 4096  # so many texts at most are sorted by length at a time, so that batches hold little padding
SMALLEST_WEIGHT = 1e-4

Role = Literal["query", "document"]
Row = tuple[NDArray[np.int32], NDArray[np.float32]]


class TextEncoder:
    """An open model with its reader: texts to rows of (term ids ascending, weights)."""

    def __init__(self, encoder: SparseEncoder, role: Role) -> None:
        meta = encoder.meta
        if not meta.query_length:
            raise InputError(
                "this model was pre-trained and not fine-tuned: it writes no vectors yet; fine-tune it first"
            )
        self.encoder, self.reader = encoder, encoder.reader()
        self._role = role
        self._weigh = encoder.queries if role == "query" else encoder
        self._length = meta.query_length if role == "query" else meta.document_length
        self._prompt = meta.query_prompt if role == "query" else meta.document_prompt
        self._keep = meta.query_terms if role == "query" else meta.document_terms

    @torch.inference_mode()
    def encode(self, texts: list[str], facts: EncodingFacts | None = None) -> list[Row]:
        """One row a text, in order; computed in order of length. `facts` counts what of it was left out."""
        read = self._read(texts)
        if facts is not None and read.extent is not None:
            facts.add_reading(*read.extent)
        device, pad_id = next(self.encoder.parameters()).device, self.encoder.tokenizer.special.pad
        rows: list[Row] = [(np.zeros(0, np.int32), np.zeros(0, np.float32))] * len(texts)
        order = np.argsort(np.diff(read.aligned.indptr), kind="stable")
        at_once = CPU_BATCH if device.type == "cpu" else GPU_BATCH
        for start in range(0, len(order), at_once):
            places = order[start : start + at_once]
            with fast_precision(device):
                weights = self._weigh(*inputs_of(read, places, pad_id, device)).float()
            if facts is not None:
                facts.terms_before += int((weights > SMALLEST_WEIGHT).sum())
            for place, row in zip(places.tolist(), _rows(weights, self._keep), strict=True):
                rows[place] = row
        return rows

    def trace(self, text: str, terms: NDArray[np.int32]) -> TracedText:
        """What in the text, after its prompt, produced each of `terms`."""
        return trace_text(self.encoder, self.reader, self._prompt + text, self._read([text]), terms)

    def _read(self, texts: list[str]) -> ReadTexts:
        if self._prompt:
            texts = [self._prompt + text for text in texts]
        if self._role == "query":
            return read_queries(self.reader, texts, self._length)
        return read_documents(self.encoder, self.reader, texts, self._length)


def _rows(weights: torch.Tensor, keep: int) -> Iterator[Row]:
    """The `keep` heaviest terms (0: all) of each row of a dense matrix."""
    if keep == 0 or keep >= weights.shape[1]:
        rows, columns = (weights > SMALLEST_WEIGHT).nonzero(as_tuple=True)  # there, so that only these leave a GPU
        found = columns.int().cpu().numpy(), weights[rows, columns].cpu().numpy()
        ends = np.cumsum(np.bincount(rows.cpu().numpy(), minlength=len(weights)))
        for start, end in zip((0, *ends[:-1]), ends, strict=True):
            yield found[0][start:end], found[1][start:end]
        return
    values, terms = (part.cpu().numpy() for part in weights.topk(keep, dim=1, sorted=False))
    for row, columns in zip(values, terms, strict=True):
        real = row > SMALLEST_WEIGHT
        order = np.argsort(columns[real])
        yield columns[real][order].astype(np.int32), row[real][order]


def encode_with_model(
    documents: Iterable[Document],
    encoder: SparseEncoder,
    query_encoder: Mapping[str, Any],
    folder: Path,
    passages: bool = False,
) -> VectorsMeta:
    """Write the vectors of a stream of documents, with their ids, titles and vocabulary, into `folder`."""
    text_encoder, n_rows = TextEncoder(encoder, "document"), 0
    facts = EncodingFacts(encoder.meta.document_length, encoder.meta.document_terms)
    with (
        StringTableWriter(folder, "row_ids") as row_ids,
        StringTableWriter(folder, "titles") as titles,
        ArrayWriter(folder / "indptr.npy", np.int64) as indptr,
        ArrayWriter(folder / "term_ids.npy", np.int32) as term_ids,
        ArrayWriter(folder / "weights.npy", np.float32) as weights,
    ):
        indptr.append(np.zeros(1, np.int64))
        for batch in batches(documents, lambda document: len(document.text), READ_AHEAD):
            row_ids.extend(document.doc_id for document in batch)
            titles.extend(shown_title(_shown(document, encoder)) for document in batch)
            for terms, values in text_encoder.encode([document.contents for document in batch], facts):
                term_ids.append(terms)
                weights.append(values)
                indptr.append(np.array([term_ids.length]))
            n_rows += len(batch)
    if not n_rows:
        raise InputError("the collection has no documents; its corpus file is empty")
    vocabulary = encoder.vocabulary
    write_strings(folder, "terms", vocabulary.terms)
    meta = VectorsMeta(n_rows, len(vocabulary), vocabulary.fingerprint, query_encoder, passages, facts.as_json())
    write_meta(folder, meta)
    return meta


def _shown(document: Document, encoder: SparseEncoder) -> Document:
    """A document without its expansion: what a person sees is what somebody wrote."""
    return document._replace(text=split_expansion(document.text)[0]) if encoder.meta.expansion_length else document


class ModelQueryEncoder:
    """Query text to (term ids ascending, weights)."""

    def __init__(self, encoder: SparseEncoder) -> None:
        self._texts = TextEncoder(encoder, "query")

    def encode(self, text: str) -> Row:
        return self._texts.encode([text])[0]

    def encode_all(self, texts: list[str]) -> list[Row]:
        return self._texts.encode(texts)

    def encode_counted(self, texts: list[str]) -> tuple[list[Row], EncodingFacts]:
        """`encode_all`, and how many terms the queries had before the model cut them."""
        meta = self._texts.encoder.meta
        facts = EncodingFacts(meta.query_length, meta.query_terms)
        return self._texts.encode(texts, facts), facts

    @property
    def reads_expansions(self) -> bool:
        """Whether documents reach the model with what was added to them."""
        return self._texts.encoder.meta.expansion_length > 0

    def own_terms(self, text: str) -> NDArray[np.int32]:
        return self._texts.reader.read_bags([text]).terms

    def trace_query(self, text: str, terms: NDArray[np.int32]) -> TracedText:
        return self._texts.trace(text, terms)

    def trace_document(self, text: str, terms: NDArray[np.int32]) -> TracedText:
        return TextEncoder(self._texts.encoder, "document").trace(text, terms)

    def own_bags(self, texts: list[str]) -> TermBags:
        """The terms of whole texts, counted, as the model reads them."""
        return self._texts.reader.read_bags(texts)


def open_model_query_encoder(path: Path, vocabulary: Vocabulary, fingerprint: str) -> ModelQueryEncoder:
    """The model at `path`, which must have the index's vocabulary and be the very one that wrote its documents."""
    encoder = open_encoder(path).to(default_device())
    require_same_vocabulary(f"the model at {path}", encoder.meta.vocab_fingerprint, "the index", vocabulary.fingerprint)
    require_same_model(path, fingerprint)
    return ModelQueryEncoder(encoder)

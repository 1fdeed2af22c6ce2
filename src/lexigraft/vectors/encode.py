"""Text to learned sparse vectors, streamed: the model's counterpart of `lexical`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from lexigraft.core.arrays import write_strings
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Document
from lexigraft.inference.network import Network, Rows
from lexigraft.inference.reading import ReadTexts
from lexigraft.vectors.encoding_facts import EncodingFacts
from lexigraft.vectors.read_ahead import read_ahead
from lexigraft.vectors.rows_writer import DocumentRowsWriter
from lexigraft.vectors.store import VectorsMeta, shown_title, write_meta
from lexigraft.vectors.text_encoder import TextEncoder
from lexigraft.vocab.batching import batches
from lexigraft.vocab.expansions import split_expansion

READ_AHEAD = 1024  # so many texts at most are sorted by length at a time: many of one length are encoded together


def encode_with_model(
    documents: Iterable[Document],
    network: Network,
    query_encoder: Mapping[str, Any],
    folder: Path,
    passages: bool = False,
    progress: Progress = SILENT,
    total: int | None = None,
) -> VectorsMeta:
    """Write the vectors of a stream of documents, with their ids, titles and vocabulary, into `folder`. `total`: how
    many there are, where it is known."""
    return encode_batches(document_batches(documents), network, query_encoder, folder, passages, progress, total)


def document_batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Documents as they are encoded together. What is cut between two batches, and joined again, is the same to the
    bit: no text has met others on its way than it would have met in one piece."""
    return batches(documents, lambda document: len(document.text), READ_AHEAD)


def encode_batches(
    texts: Iterable[Sequence[Document]],
    network: Network,
    query_encoder: Mapping[str, Any],
    folder: Path,
    passages: bool = False,
    progress: Progress = SILENT,
    total: int | None = None,
    of_batches: list[EncodingFacts] | None = None,
) -> VectorsMeta:
    """The same of documents that come in their batches. `of_batches` gets what was left out of each of them: whoever
    joins vectors adds these up in the order in which one process would have."""
    text_encoder, n_rows = TextEncoder(network, are_queries=False), 0
    facts = EncodingFacts(text_encoder.length, text_encoder.most_terms)
    reads_expansions = network.meta.expansion_length > 0
    with DocumentRowsWriter(folder) as rows:

        def written() -> Iterator[int]:
            """Write all of them, some at a time, and tell how many when they are done: not when they are read. A GPU
            has the next ones before it is asked for these."""
            read_batches = read_ahead(texts, attrgetter("contents"), text_encoder.read, network.n_readers)
            begun: list[Callable[[], int]] = []
            for batch, read in read_batches:
                begun.append(begin(batch, read))
                if len(begun) > 1:
                    yield from range(begun.pop(0)())
            for last in begun:
                yield from range(last())

        def begin(batch: Sequence[Document], read: ReadTexts) -> Callable[[], int]:
            found = EncodingFacts(text_encoder.length, text_encoder.most_terms)
            return partial(write, batch, text_encoder.begin_rows(read, found), found)

        def write(batch: Sequence[Document], encoded: Callable[[], Rows], found: EncodingFacts) -> int:
            titles = (shown_title(_shown(document, reads_expansions)) for document in batch)
            rows.append_names((document.doc_id for document in batch), titles)
            indptr, terms, weights = encoded()
            facts.add(found)
            if of_batches is not None:
                of_batches.append(found)
            rows.append_rows(indptr[1:], terms, weights)
            return len(batch)

        for _ in progress.track(written(), "encoding documents", total):
            n_rows += 1
    if not n_rows:
        raise InputError("the collection has no documents; its corpus file is empty")
    vocabulary = network.reader.vocabulary
    write_strings(folder, "terms", vocabulary.terms)
    meta = VectorsMeta(n_rows, len(vocabulary), vocabulary.fingerprint, query_encoder, passages, facts.as_json())
    write_meta(folder, meta)
    return meta


def _shown(document: Document, reads_expansions: bool) -> Document:
    """A document without its expansion: what a person sees is what somebody wrote."""
    return document._replace(text=split_expansion(document.text)[0]) if reads_expansions else document

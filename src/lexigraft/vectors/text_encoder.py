"""Texts to rows of weighted terms by a trained model, in whichever form it was opened."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import TracedText
from lexigraft.inference.meta import EncoderMeta, require_finetuned
from lexigraft.inference.network import Network, Rows
from lexigraft.inference.reading import ReadTexts, read_documents, read_queries
from lexigraft.inference.traced_text import trace_text
from lexigraft.vectors.encoding_facts import EncodingFacts
from lexigraft.vectors.prune import prune_rows
from lexigraft.vocab.reader import TextReader

Row = tuple[NDArray[np.int32], NDArray[np.float32]]


@dataclass(frozen=True)
class Reading:
    """How an open model reads texts of one kind, each after its prompt; without the model, so that it can be sent to
    another process."""

    reader: TextReader
    meta: EncoderMeta
    are_queries: bool

    def __call__(self, texts: list[str]) -> ReadTexts:
        prompt = self.meta.query_prompt if self.are_queries else self.meta.document_prompt
        if prompt:
            texts = [prompt + text for text in texts]
        if self.are_queries:
            return read_queries(self.reader, texts, self.meta.query_length)
        return read_documents(self.meta, self.reader, texts, self.meta.document_length)


class TextEncoder:
    """An open model that writes texts of one kind, queries or documents: as (term ids ascending, weights)."""

    def __init__(self, network: Network, are_queries: bool) -> None:
        meta = network.meta
        require_finetuned(meta)
        self.network, self._are_queries = network, are_queries
        self.length = meta.query_length if are_queries else meta.document_length
        self.most_terms = meta.query_terms if are_queries else meta.document_terms
        self._prompt = meta.query_prompt if are_queries else meta.document_prompt

    def encode(self, texts: list[str], facts: EncodingFacts | None = None) -> list[Row]:
        """One row a text, in order. `facts` counts what of it was left out."""
        indptr, terms, weights = self.encode_rows(texts, facts)
        spans = zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)
        return [(terms[start:end], weights[start:end]) for start, end in spans]

    def encode_rows(self, texts: list[str], facts: EncodingFacts | None = None) -> Rows:
        """`encode`, with all rows in one piece."""
        return self.begin_rows(self.read(texts), facts)()

    def begin_rows(self, read: ReadTexts, facts: EncodingFacts | None = None) -> Callable[[], Rows]:
        """`encode_rows` of texts that were read before, begun: what is returned waits for a GPU."""
        begun = self.network.begin(read, self._are_queries)

        def rows() -> Rows:
            whole = begun()
            if facts is not None:
                facts.terms_before += len(whole.terms)
                if read.extent is not None:
                    facts.add_reading(*read.extent)
            return Rows(*prune_rows(*whole, self.most_terms))

        return rows

    def trace(self, text: str, terms: NDArray[np.int32]) -> TracedText:
        """What in the text, after its prompt, produced each of `terms`."""
        return trace_text(self.network, self._prompt + text, self.read([text]), terms)

    @property
    def read(self) -> Reading:
        """Makes of texts what the network takes."""
        return Reading(self.network.reader, self.network.meta, self._are_queries)

"""Queries that a model writes."""

from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import TracedText, Vocabulary, require_same_vocabulary
from lexigraft.inference.meta import read_meta
from lexigraft.inference.network import Network
from lexigraft.vectors.encoding_facts import EncodingFacts
from lexigraft.vectors.open_network import USUAL_BITS, open_network
from lexigraft.vectors.same_model import require_same_model
from lexigraft.vectors.text_encoder import Row, TextEncoder
from lexigraft.vocab.bags import TermBags


class ModelQueryEncoder:
    """Query text to (term ids ascending, weights)."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._queries = TextEncoder(network, are_queries=True)

    @cached_property
    def _documents(self) -> TextEncoder:
        return TextEncoder(self.network, are_queries=False)

    def encode(self, text: str) -> Row:
        return self._queries.encode([text])[0]

    def encode_all(self, texts: list[str]) -> list[Row]:
        return self._queries.encode(texts)

    def encode_counted(self, texts: list[str]) -> tuple[list[Row], EncodingFacts]:
        """`encode_all`, and how many terms the queries had before the model cut them."""
        facts = EncodingFacts(self._queries.length, self._queries.most_terms)
        return self._queries.encode(texts, facts), facts

    def encode_documents(self, texts: list[str]) -> list[Row]:
        return self._documents.encode(texts)

    @property
    def reads_expansions(self) -> bool:
        """Whether documents reach the model with what was added to them."""
        return self.network.meta.expansion_length > 0

    def own_terms(self, text: str) -> NDArray[np.int32]:
        return self.network.reader.distinct_terms(text)

    def trace_query(self, text: str, terms: NDArray[np.int32]) -> TracedText:
        return self._queries.trace(text, terms)

    def trace_document(self, text: str, terms: NDArray[np.int32]) -> TracedText:
        return self._documents.trace(text, terms)

    def own_bags(self, texts: list[str]) -> TermBags:
        """The terms of whole texts, counted, as the model reads them."""
        return self.network.reader.read_bags(texts)


def open_model_queries(
    path: Path, vocabulary: Vocabulary, fingerprint: str, bits: int = USUAL_BITS, on_gpu: bool = False
) -> ModelQueryEncoder:
    """The model at `path`, which must have the index's vocabulary and be the very one that wrote its documents;
    `on_gpu`: on a GPU where there is one, for many texts."""
    of_model = read_meta(path).vocab_fingerprint
    require_same_vocabulary(f"the model at {path}", of_model, "the index", vocabulary.fingerprint)
    require_same_model(path, fingerprint)
    return ModelQueryEncoder(open_network(path, bits, vocabulary, on_gpu, fingerprint=fingerprint))

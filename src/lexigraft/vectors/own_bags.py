"""The terms that texts hold themselves, counted as the encoder of an index reads them: what is not expansion."""

from typing import Protocol, runtime_checkable

from lexigraft.core.errors import InputError
from lexigraft.vectors.query_encoder import QueryEncoder
from lexigraft.vocab.bags import TermBags


@runtime_checkable
class ReadsBags(Protocol):
    def own_bags(self, texts: list[str]) -> TermBags:
        """The terms of whole texts, counted."""
        ...


def bag_reader(encoder: QueryEncoder) -> ReadsBags:
    """`encoder` where it can count the terms of texts; raises where it cannot."""
    if not isinstance(encoder, ReadsBags):
        raise InputError(
            f"{type(encoder).__name__} does not say which terms a text holds, so its expansion is not known; measure a "
            "system of BM25 or of a model"
        )
    return encoder

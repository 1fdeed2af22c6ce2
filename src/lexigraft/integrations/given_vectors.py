"""Vectors that documents bring, {term: weight} each, written as an encoder of ours would have written them."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from lexigraft.core.arrays import write_strings
from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import InputError
from lexigraft.core.progress import Progress
from lexigraft.core.settings import Settings
from lexigraft.core.types import Document, Vocabulary
from lexigraft.index.build import build_index
from lexigraft.index.inverted import IndexMeta
from lexigraft.integrations.found import GIVEN
from lexigraft.stages.standalone import Inverting, find_finetuned
from lexigraft.vectors.rows_writer import DocumentRowsWriter
from lexigraft.vectors.store import FORMAT_VERSION, KIND, VectorsMeta, shown_title, write_meta

BITS = 16  # 8 would hold small weights, but a search of them rounds the weights of queries above 255


class GivenVectors:
    """A context in which documents are added; at its end they are vectors at `path`.

    Without a model, their terms are the vocabulary, in the order in which they come. Whole numbers up to 65,535 are
    kept as they are, so that scores are those of any engine that adds up integers.
    """

    def __init__(self, path: Path, model: Path | None, index: Path) -> None:
        self._path, self._model, self._index = path, model, index
        self._ids: dict[str, int] = {}
        self._largest, self._are_whole = 0.0, True
        self.have_texts = False

    def __enter__(self) -> Self:
        self._described, self._known = _queries_of(self._model, self._path)
        self._ids = {} if self._known is None else dict(self._known.id_of)
        self._writing = write_artifact(self._path, Manifest(KIND, FORMAT_VERSION, {"source": "given vectors"}))
        self._folder = self._writing.__enter__()
        self._rows = DocumentRowsWriter(self._folder)
        return self

    def add(self, doc_id: str, title: str, text: str, weights: Any) -> None:
        """A document with the weights of its terms."""
        found = sorted((self._id_of(term, doc_id), weight) for term, weight in _weights_of(weights, doc_id))
        values = np.array([weight for _, weight in found], np.float32)
        self._rows.append_rows(np.array([len(found)]), np.array([term for term, _ in found], np.int32), values)
        self._rows.append_names([doc_id], [shown_title(Document(doc_id, title, text))])
        self._largest = max(self._largest, float(values.max(initial=0)))
        self._are_whole = self._are_whole and bool((values == np.round(values)).all())
        self.have_texts = self.have_texts or bool(text)

    def _id_of(self, term: str, doc_id: str) -> int:
        if self._known is None:
            return self._ids.setdefault(term, len(self._ids))
        if term not in self._ids:
            raise InputError(f"document {doc_id!r} has the term {term!r}, which {self._model} does not know")
        return self._ids[term]

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        self._rows.__exit__(kind, *error)
        if kind is None:
            vocabulary = self._known or Vocabulary(list(self._ids))
            write_strings(self._folder, "terms", vocabulary.terms)
            described = self._rows.n_rows, len(vocabulary), vocabulary.fingerprint, self._described
            write_meta(self._folder, VectorsMeta(*described))
        self._writing.__exit__(kind, *error)

    def settings(self, settings: Settings) -> Settings:
        """With the bits of an impact, where nobody says how many."""
        if settings.index.bits != "auto":
            return settings
        return replace(settings, index=replace(settings.index, bits=BITS))

    def invert(self, inverting: Inverting, folder: Path, progress: Progress) -> IndexMeta:
        """The index, in which whole numbers that fit are what they were."""
        settings = inverting.settings.index
        fits = self._are_whole and self._largest < 2 ** int(settings.bits)
        scale = 1.0 if fits and self._largest else None
        return build_index(inverting.vectors, folder, inverting.keep, settings, progress, scale)


def _queries_of(model: Path | None, final: Path) -> tuple[dict[str, Any], Vocabulary | None]:
    """How queries for given vectors are written, and the vocabulary that is then fixed."""
    if model is None:
        return {"kind": GIVEN}, None
    from lexigraft.stages.encode_model import query_encoder_of
    from lexigraft.vectors.open_network import USUAL_BITS, open_network

    folder, fingerprint = find_finetuned(model)
    network = open_network(folder, fingerprint=fingerprint)
    described = query_encoder_of(network, folder.resolve(), fingerprint, final.resolve(), USUAL_BITS)
    return described, network.reader.vocabulary


def _weights_of(weights: Any, doc_id: str) -> list[tuple[str, float]]:
    """What weighs something; raises for what is no weight."""
    if not isinstance(weights, Mapping):
        raise InputError(f"document {doc_id!r} has {weights!r:.100} as toks; give {{term: weight}}")
    for term, weight in weights.items():
        is_number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
        if not isinstance(term, str) or not term or not is_number or not 0 <= weight < math.inf:
            raise InputError(f"document {doc_id!r} gives term {term!r} the weight {weight!r}; give a number from 0 on")
    return [(term, float(weight)) for term, weight in weights.items() if np.float32(weight) > 0]

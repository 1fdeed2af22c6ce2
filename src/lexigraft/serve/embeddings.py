"""Sparse vectors as text-embeddings-inference serves them, for clients that were written for it."""

from collections.abc import Mapping
from typing import Any

from lexigraft import __version__
from lexigraft.serve.asking import Json
from lexigraft.serve.catalogue import Catalogue
from lexigraft.serve.encoding import embed_sparse
from lexigraft.serve.limits import Limits
from lexigraft.serve.refused import RefusedError
from lexigraft.serve.term_system import TermSystem


def embedded(catalogue: Catalogue, read: Mapping[str, Any], usual: str) -> list[list[Json]]:
    """One vector a text, by the system that embeds; `prompt_name` says whether they are queries or documents."""
    texts = [read["inputs"]] if isinstance(read["inputs"], str) else read["inputs"]
    return embed_sparse(embedding_system(catalogue), texts, read.get("prompt_name", usual))


def embedding_system(catalogue: Catalogue) -> TermSystem:
    """The recommended system, or where that has no terms the first that has."""
    usual = catalogue.system(None)
    if isinstance(usual, TermSystem):
        return usual
    of_terms = [one.system for one in catalogue.opened.values() if isinstance(one.system, TermSystem)]
    if not of_terms:
        raise RefusedError(422, "no system here has terms")
    return of_terms[0]


def info(catalogue: Catalogue, limits: Limits) -> Json:
    """What a client asks for before it begins."""
    system = embedding_system(catalogue)
    return {
        "model_id": system.offer.name,
        "model_sha": system.state.fingerprint or None,
        "model_dtype": "float32",
        "model_type": {"embedding": {"pooling": "splade"}},
        "max_concurrent_requests": limits.waiting,
        "max_input_length": limits.text_characters,
        "max_batch_tokens": limits.texts * limits.text_characters,
        "max_batch_requests": None,
        "max_client_batch_size": limits.texts,
        "auto_truncate": True,
        "tokenization_workers": 1,
        "version": __version__,
        "sha": None,
        "docker_label": None,
    }

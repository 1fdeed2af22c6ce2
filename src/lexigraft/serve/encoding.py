"""/encode and /embed_sparse: texts as weighted terms."""

from lexigraft.core.errors import LexigraftError
from lexigraft.retrieve.opened import Row
from lexigraft.serve.asking import Json
from lexigraft.serve.refused import RefusedError, refused_by
from lexigraft.serve.requests import DOCUMENT
from lexigraft.serve.term_system import TermSystem
from lexigraft.vectors.query_encoder import DocumentEncoder


def rows_of(system: TermSystem, texts: list[str], kind: str) -> list[Row]:
    """The whole vectors of texts as queries or as documents."""
    state = system.state
    try:
        if kind != DOCUMENT:
            return state.encode_all(texts)
        with state.encoders.one() as encoder:
            if not isinstance(encoder, DocumentEncoder):
                said = f"{system.offer.name} weighs a document only among all others; ask for it as a query"
                raise RefusedError(422, said)
            return encoder.encode_documents(texts)
    except LexigraftError as error:
        raise refused_by(error) from error


def encode(system: TermSystem, texts: list[str], kind: str) -> Json:
    """Every text as terms, heaviest first."""
    names = system.vocabulary.terms
    vectors = []
    for terms, weights in rows_of(system, texts, kind):
        named = [(names[term], weight) for term, weight in zip(terms.tolist(), weights.tolist(), strict=True)]
        named.sort(key=lambda one: (-one[1], one[0]))
        vectors.append([{"term": term, "weight": weight} for term, weight in named])
    return {"system": system.offer.name, "vectors": vectors}


def embed_sparse(system: TermSystem, texts: list[str], kind: str) -> list[list[Json]]:
    """Every text as numbers of terms with their weights, as text-embeddings-inference answers."""
    return [
        [{"index": term, "value": weight} for term, weight in zip(terms.tolist(), weights.tolist(), strict=True)]
        for terms, weights in rows_of(system, texts, kind)
    ]

"""Opens the encoder that fits an index: what turns a query's text into a vector of the index's vocabulary."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.encoder_description import BM25_KINDS, wrong_in
from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.core.made_here import MADE_ELSEWHERE
from lexigraft.core.stored_record import shortened
from lexigraft.core.types import Query, SparseMatrix, Vocabulary
from lexigraft.vectors.encoding_facts import EncodingFacts
from lexigraft.vectors.open_network import USUAL_BITS
from lexigraft.vectors.term_queries import KIND as TERMS
from lexigraft.vectors.term_queries import TermQueries

META = "meta.json"  # of an index and of vectors: what they say of themselves, and of their encoder
LIVE_BM25 = "bm25 live"  # the kind whose documents hold no IDF, so that documents can be added to an index of it

Row = tuple[NDArray[np.int32], NDArray[np.float32]]


class QueryEncoder(Protocol):
    def encode(self, text: str) -> Row:
        """(term ids ascending, weights > 0) of a query."""
        ...

    def encode_all(self, texts: list[str]) -> list[Row]:
        """The rows of many queries, in order, computed in batches."""
        ...

    def own_terms(self, text: str) -> NDArray[np.int32]:
        """The terms that the text itself holds; all others were added."""
        ...


@runtime_checkable
class CountingEncoder(Protocol):
    """An encoder that may cut what it writes, and counts it."""

    def encode_counted(self, texts: list[str]) -> tuple[list[Row], EncodingFacts]:
        """The rows of many queries, in order, and what they had before they were cut."""
        ...


@runtime_checkable
class DocumentEncoder(Protocol):
    """An encoder that writes documents, too: a model's. BM25 weighs a document only among the others."""

    def encode_documents(self, texts: list[str]) -> list[Row]:
        """The rows of documents, in order, as those of an index were written."""
        ...


class Frequencies(NamedTuple):
    """How many documents live, and how many of them hold each term: what IDF is computed from."""

    n_documents: int
    document_frequency: NDArray[np.int64]


def open_query_encoder(
    description: Mapping[str, Any],
    vocabulary: Vocabulary,
    index_folder: Path,
    frequencies: Frequencies | None = None,
    on_gpu: bool = False,
    said_in: str = META,
) -> QueryEncoder:
    """The encoder that `description`, stored with the document vectors, names; paths in it start at `index_folder`.
    `on_gpu`: a model is opened on a GPU where there is one, for many queries. `said_in`: the file of `index_folder`
    that has the description, for errors.

    A live index of BM25 leaves the IDF to its queries, which need the `frequencies` of the state that is searched:
    `index.live.queries.open_live_encoder` gives both."""
    file, settings = index_folder / said_in, dict(description)
    if wrong := wrong_in(settings):  # who reads one from a file has asked; this is for descriptions from elsewhere
        raise ArtifactError(f"{file} describes no encoder of queries ({wrong}): {MADE_ELSEWHERE}")
    kind = settings.pop("kind")
    if kind in BM25_KINDS:
        return _open_lexical(file, description, vocabulary, frequencies if kind == LIVE_BM25 else None)
    if kind == TERMS:
        return TermQueries(vocabulary)
    if kind == "model":
        path = (index_folder / settings["model"]).resolve()
        if not path.is_dir():
            raise ArtifactError(
                f"the index at {index_folder} was made by the model at {path}, which is not there; put the model back "
                "there, or continue the run that the index is of"
            )
        if settings.get("queries") in ("words", "table"):
            from lexigraft.vectors.word_queries import open_word_queries

            return open_word_queries(path, vocabulary, settings)
        from lexigraft.vectors.model_queries import open_model_queries

        bits = int(settings.get("bits", USUAL_BITS))
        return open_model_queries(path, vocabulary, settings.get("fingerprint", ""), bits, on_gpu)
    raise ArtifactError(
        f"this index was made by an encoder of kind {shortened(kind)} ({file}), which this version of Lexigraft does "
        "not know; make the index again, or use the version that made it"
    )


def _open_lexical(
    file: Path, description: Mapping[str, Any], vocabulary: Vocabulary, frequencies: Frequencies | None
) -> QueryEncoder:
    """The encoder of BM25 that the file at `file` describes."""
    from lexigraft.vectors.analysis import reading_in
    from lexigraft.vectors.lexical import LexicalQueryEncoder, LiveLexicalQueries
    from lexigraft.vocab.stems import stemmer

    if description["kind"] == LIVE_BM25 and frequencies is None:
        raise ArtifactError(
            f"the index at {file.parent} is of a live index of BM25, whose queries need the document frequencies "
            "of all its segments; open the live index instead"
        )
    lexical, rule = reading_in(description)
    try:
        stemmer(lexical.stemmer, "lexical.stemmer")  # which of them there are is known to the package alone
    except SettingError as error:
        raise ArtifactError(f"{file} describes no encoder of queries ({error}): {MADE_ELSEWHERE}") from error
    if frequencies is None:
        return LexicalQueryEncoder(lexical, vocabulary, rule)
    return LiveLexicalQueries(lexical, vocabulary, *frequencies, rule)


def encode_queries(queries: Sequence[Query], encoder: QueryEncoder, vocabulary: Vocabulary) -> SparseMatrix:
    """One row a query, in order; a query without a known term is an empty row."""
    return _matrix(queries, encoder.encode_all([query.text for query in queries]), vocabulary)


def encode_counted(
    queries: Sequence[Query], encoder: QueryEncoder, vocabulary: Vocabulary
) -> tuple[SparseMatrix, EncodingFacts | None]:
    """`encode_queries`, and of a model how many terms the queries had before it cut them."""
    if not isinstance(encoder, CountingEncoder):
        return encode_queries(queries, encoder, vocabulary), None
    rows, facts = encoder.encode_counted([query.text for query in queries])
    return _matrix(queries, rows, vocabulary), facts


def _matrix(queries: Sequence[Query], rows: Sequence[Row], vocabulary: Vocabulary) -> SparseMatrix:
    return SparseMatrix(
        row_ids=[query.query_id for query in queries],
        indptr=np.cumsum([0, *(len(term_ids) for term_ids, _ in rows)], dtype=np.int64),
        term_ids=np.concatenate([np.zeros(0, np.int32), *(term_ids for term_ids, _ in rows)]),
        weights=np.concatenate([np.zeros(0, np.float32), *(weights for _, weights in rows)]),
        n_terms=len(vocabulary),
        vocab_fingerprint=vocabulary.fingerprint,
    )

"""What a run looks at before it chooses: how long texts are, and what validation queries ask for."""

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import Qrel
from lexigraft.data.collection import Collection
from lexigraft.learn.training_data import sample
from lexigraft.own_settings.cut_bm25 import Question, mrr_at_10, read_documents
from lexigraft.vocab.batching import batches
from lexigraft.vocab.reader import TextReader

DOCUMENTS_SEARCHED = 100_000  # at most, those that are wanted besides
TEXTS_MEASURED = 2_000
NO_LENGTH = 8  # of the part of a text that is kept where only its length is asked for


def sample_texts(collection: Collection) -> list[str]:
    """Some documents, the same ones at every call."""
    chosen = set(sample((document.doc_id for document in collection.documents()), TEXTS_MEASURED))
    return [document.contents for document in collection.documents() if document.doc_id in chosen]


def subwords_of(reader: TextReader, texts: list[str]) -> NDArray[np.int64]:
    """How many subwords each text has, special ones not counted."""
    found = [reader.read_measured(some, NO_LENGTH)[2] for some in batches(texts, len)]
    return np.concatenate([np.zeros(0, np.int64), *found])


def read_seconds(reader: TextReader, texts: list[str]) -> float:
    """Seconds that it takes to go through the words of a document."""
    began = time.perf_counter()
    subwords_of(reader, texts)
    return (time.perf_counter() - began) / max(1, len(texts))


class Curve(NamedTuple):
    """MRR@10 by document length, over so many queries; so many documents were searched, where there are more a part."""

    mrr: dict[int, float]
    queries: int
    documents: int


def reading_curve(
    collection: Collection, judged: list[Qrel], reader: TextReader, lengths: list[int], settings: LexicalSettings
) -> Curve:
    """What BM25 makes of documents cut to each of `lengths`, on the queries of the positive judgements `judged`."""
    wanted: dict[str, list[str]] = {}
    for qrel in judged:
        wanted.setdefault(qrel.query_id, []).append(qrel.doc_id)
    query_text = {query.query_id: query.text for query in collection.queries() if query.query_id in wanted}
    bags = reader.read_bags(list(query_text.values()))
    terms = [bags.terms[bags.indptr[row] : bags.indptr[row + 1]].astype(np.int64) for row in range(len(query_text))]
    names = sample((document.doc_id for document in collection.documents()), DOCUMENTS_SEARCHED)
    searched = {*names, *(doc_id for some in wanted.values() for doc_id in some)}
    row_of: dict[str, int] = {}

    def texts() -> Iterator[str]:
        for document in collection.documents():
            if document.doc_id in searched:
                row_of[document.doc_id] = len(row_of)
                yield document.contents

    documents = read_documents(reader, texts(), np.unique(np.concatenate([np.zeros(0, np.int64), *terms])), lengths)
    questions = []
    for query_id, own in zip(query_text, terms, strict=True):
        rows = [row_of[doc_id] for doc_id in wanted[query_id] if doc_id in row_of]
        questions.append(Question(own, np.array(rows, np.int64)))
    mrr = {length: round(mrr_at_10(documents, length, questions, settings), 4) for length in lengths}
    return Curve(mrr, len(questions), len(row_of))

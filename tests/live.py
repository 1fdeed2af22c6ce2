"""Live indexes that tests make, and what they must answer, worked out slowly."""

import numpy as np

from lexigraft.core.types import document_of, passage_id
from lexigraft.index.live.opening import create_live, open_writer
from lexigraft.index.live.state import read_state
from lexigraft.index.metadata import metadata_of_live
from lexigraft.index.metadata_columns import GivenMetadata
from lexigraft.vectors.quantize import quantize_documents
from lexigraft.vectors.store import DocumentVectors
from tests.conftest import sparse_matrix, vocabulary_of

ENCODER = {"kind": "none"}
LIVE_FOLDER = {".lock", "live.json", "segments", "metadata", "deleted"}  # nothing else may stay in one


def vectors_of(documents, n_terms, passages=False, query_encoder=ENCODER):
    """`documents`: {doc_id: its row {term: weight}, or its passages' rows}."""
    rows = {}
    for doc_id, of_document in documents.items():
        if passages:
            rows.update((passage_id(doc_id, number), row) for number, row in enumerate(of_document))
        else:
            rows[doc_id] = of_document
    matrix = sparse_matrix(list(rows.values()), n_terms, list(rows))
    titles = [f"title of {row_id}" for row_id in rows]
    return DocumentVectors(matrix, titles, vocabulary_of(n_terms), query_encoder, "", passages)


def live_of(folder, batches, n_terms, **options):
    """A live index with one segment a batch of documents."""
    with create_live(folder) as writer:
        writer.append(vectors_of(batches[0], n_terms, **options))
    with open_writer(folder) as writer:
        for batch in batches[1:]:
            writer.append(vectors_of(batch, n_terms, **options))
    return folder


class SlowSegment:
    """Impacts of living documents in plain dictionaries."""

    def __init__(self, documents, scale):
        self.documents, self.scale = documents, scale
        self.has_weights = any(row for rows in documents.values() for row in rows)  # also those that are deleted later

    @classmethod
    def quantised(cls, documents, scale):
        """`documents`: {doc_id: list of rows of weights}."""
        impacts = {
            doc_id: [
                {t: int(quantize_documents(np.array([w], np.float32), scale)[0]) for t, w in row.items()}
                for row in rows
            ]
            for doc_id, rows in documents.items()
        }
        return cls(impacts, scale)

    def weights(self):
        return {
            doc_id: [{t: np.float32(i) * np.float32(self.scale) for t, i in row.items()} for row in rows]
            for doc_id, rows in self.documents.items()
        }


def slow_scale(segments, documents):
    """The smallest scale that weights have already under which no new one is cut, else one of their own."""
    largest = float(
        max((np.float32(w) for rows in documents.values() for row in rows for w in row.values()), default=0)
    )
    for scale in sorted(segment.scale for segment in segments if segment.has_weights):
        if largest / scale < 255.5:
            return scale
    return largest / 255 if largest else 1.0


def slow_ranking(segments, query, k):
    """[(doc_id, score)] by brute force: whole-number queries, the best passage of each document."""
    scores = []
    for segment in segments:
        for doc_id, rows in segment.documents.items():
            best = max(sum(int(w) * row.get(t, 0) for t, w in query.items()) for row in rows)
            if best:
                scores.append((-(best * segment.scale), doc_id))
    return [(doc_id, -negative) for negative, doc_id in sorted(scores)[:k]]


def given_metadata(records):
    """{doc_id: {key: value}}, as the writer asks for it."""
    return GivenMetadata().add_all(records.items()).table


def shown_metadata(live):
    """What a reader is shown of every living document that has something: {doc_id: {key: value}}."""
    metadata, found = metadata_of_live(live), {}
    for segment in live.segments:
        rows = range(segment.index.n_documents) if segment.allowed is None else np.flatnonzero(segment.allowed).tolist()
        for row in rows if metadata is not None else ():
            (doc_id,) = segment.index.names(np.array([row], np.int32))
            if values := metadata.of_row(segment.index, row):
                assert found.setdefault(doc_id, values) == values  # all passages say the same
    return found


def named_by_state(folder):
    """What lies in the folders of a live index, by the one of its state: {folder: names}."""
    segments = read_state(folder).segments
    return {
        "segments": {one.name for one in segments},
        "metadata": {one.metadata.name for one in segments if one.metadata is not None},
        "deleted": {one.deleted.name for one in segments if one.deleted is not None},
    }


def living_ids(live):
    """The ids of all documents that a reader sees, each once."""
    found = []
    for segment in live.segments:
        allowed = segment.allowed if segment.allowed is not None else [1] * segment.index.n_documents
        ids = [doc_id for doc_id, kept in zip(segment.index.doc_ids, allowed, strict=True) if kept]
        found += {document_of(i) for i in ids} if segment.index.meta.passages else ids
    assert len(found) == len(set(found))
    return set(found)

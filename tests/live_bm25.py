"""Live indexes of BM25 that tests make, and what they must answer, worked out slowly from the texts."""

import math
from collections import Counter

import numpy as np

from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import Document, document_of, passage_id
from lexigraft.index.live.opening import create_live, open_writer
from lexigraft.vectors.quantize import document_scale, quantize_documents, quantize_query

PLAIN = LexicalSettings(stopwords="none", stemmer="none")  # every word is a term


def texts_of(documents, passages=False):
    """`documents`: {doc_id: its text, or its passages' texts}."""
    if not passages:
        return [Document(doc_id, "", text) for doc_id, text in documents.items()]
    return [
        Document(passage_id(doc_id, number), "", text)
        for doc_id, texts in documents.items()
        for number, text in enumerate(texts)
    ]


def live_bm25_of(folder, batches, **options):
    """A live index of BM25 with one segment a batch of documents."""
    with create_live(folder) as writer:
        writer.append_texts(texts_of(batches[0]), PLAIN, **options)
    with open_writer(folder) as writer:
        for batch in batches[1:]:
            writer.append_texts(texts_of(batch), PLAIN, **options)
    return folder


def segment_files(folder, kind="segments"):
    """{name of segment: {path within it: bytes}} of a live index; or of their metadata."""
    return {
        segment.name: {
            path.relative_to(segment).as_posix(): path.read_bytes() for path in segment.rglob("*") if path.is_file()
        }
        for segment in sorted((folder / kind).iterdir())
    }


class SlowBM25:
    """The living rows by segment, {name: {row_id: words}}, and the average length that weighs them."""

    def __init__(self, settings, passages, bits=16):
        self.settings, self.passages, self.bits, self.scale = settings, passages, bits, document_scale(1.0, bits)
        self.segments, self.mean_length = {}, None

    def rows(self):
        return [(row_id, words) for rows in self.segments.values() for row_id, words in rows.items()]

    def document(self, row_id):
        return document_of(row_id) if self.passages else row_id

    def documents(self):
        return {self.document(row_id) for row_id, _ in self.rows()}

    def own_mean_length(self):
        lengths = [len(words) for _, words in self.rows()]
        return max(sum(lengths) / len(lengths), 1.0)

    def add(self, name, documents):
        self.delete({self.document(document.doc_id) for document in documents})
        self.segments[name] = {document.doc_id: document.text.split() for document in documents}
        self.mean_length = self.mean_length or self.own_mean_length()

    def delete(self, doc_ids):
        for rows in self.segments.values():
            for row_id in [row_id for row_id in rows if self.document(row_id) in doc_ids]:
                del rows[row_id]

    def merge(self, names, into):
        everything = list(names) == list(self.segments)
        merged = {row_id: words for name in names for row_id, words in self.segments[name].items()}
        segments = {}
        for name, rows in self.segments.items():
            if name == names[0] and into is not None:
                segments[into] = merged
            if name not in names:
                segments[name] = rows
        self.segments = segments
        if everything and merged:
            self.mean_length = self.own_mean_length()

    def query(self, text):
        """{term: weight}: counts times the IDF among what lives now, without words that nothing living holds."""
        rows = [set(words) for _, words in self.rows()]
        found = {}
        for term, count in Counter(text.split()).items():
            frequency = sum(term in row for row in rows)
            if frequency:
                idf = math.log1p((len(rows) - frequency + 0.5) / (frequency + 0.5))
                found[term] = np.float32(count) * np.float32(idf)
        return found

    def impact(self, term, words):
        tf = words.count(term)
        if not tf:
            return 0
        k1, b = self.settings.k1, self.settings.b
        weight = tf / (tf + k1 * (1 - b + b * len(words) / self.mean_length))
        return int(quantize_documents(np.array([weight], np.float32), self.scale, self.bits)[0])

    def ranking(self, text, k):
        query = self.query(text)
        integers, query_scale = quantize_query(np.array(list(query.values()), np.float32), self.bits)
        asked, unit, best = dict(zip(query, integers.tolist(), strict=True)), query_scale * self.scale, {}
        for row_id, words in self.rows():
            score = sum(integer * self.impact(term, words) for term, integer in asked.items())
            if score:
                doc_id = self.document(row_id)
                best[doc_id] = max(best.get(doc_id, 0), score)
        ranked = sorted((-(score * unit), doc_id) for doc_id, score in best.items())
        return [(doc_id, -negative) for negative, doc_id in ranked[:k]]

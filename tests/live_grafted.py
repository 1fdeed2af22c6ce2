"""Grafted live indexes that tests make, and what their rows must be, worked out from all documents at once."""

import numpy as np

from lexigraft.core.types import SparseMatrix
from lexigraft.grafted.neighbours import Neighbours
from lexigraft.grafted.regression import fit
from lexigraft.grafted.rows import Graft
from lexigraft.grafted.shares import Shares, usual_lift
from lexigraft.index.live.graft_facts import GIVEN, LiveGraft
from lexigraft.index.live.opening import open_writer
from lexigraft.retrieve.live_grafting import given_vectors
from lexigraft.vectors.lexical import inverse_document_frequency
from tests.live_bm25 import PLAIN, live_bm25_of, texts_of

WIDTH = 4
FACTS = LiveGraft(0.5, 0.4, 3, None, 128, GIVEN)
WORDS = [f"w{number}" for number in range(40)]


def documents_of(n, seed=0, first=0):
    """{id: text} of some words each, and as many vectors."""
    random = np.random.default_rng(seed)
    texts = {f"d{first + at}": " ".join(random.choice(WORDS, random.integers(3, 40))) for at in range(n)}
    return texts, {doc_id: random.standard_normal(WIDTH) for doc_id in texts}


def rows_of(vectors, doc_ids):
    return np.array([vectors[doc_id] for doc_id in doc_ids], np.float32)


def grafted_live(folder, texts, vectors, facts=FACTS, **options):
    """A live index of BM25 of these texts in one segment, grafted by their vectors."""
    live_bm25_of(folder, [texts], **options)
    graft(folder, rows_of(vectors, texts), facts, **options)
    return folder


def graft(folder, vectors, facts=FACTS, **options):
    """By vectors that chance made: that no order of documents is theirs is not asked."""

    def embed(rows):
        return given_vectors(vectors)(rows)._replace(by_place=False)

    with open_writer(folder) as writer:
        return writer.graft(facts, embed, **options)


def add(folder, texts, vectors, **options):
    with open_writer(folder) as writer:
        embed = given_vectors(rows_of(vectors, texts))
        return writer.append_texts(texts_of(texts), PLAIN, embed=embed, **options)


class SlowGraft:
    """The weights that documents must have: of `new`, among `old` ones that live, by the regression of `fitted`."""

    def __init__(self, vectors, facts=FACTS, settings=PLAIN):
        self.vectors, self.facts, self.settings = vectors, facts, settings

    def saturated(self, texts, mean_length):
        terms = {term: number for number, term in enumerate(dict.fromkeys(" ".join(texts.values()).split()))}
        k1, b = self.settings.k1, self.settings.b
        rows = np.zeros((len(texts), len(terms)), np.float32)
        for row, text in enumerate(texts.values()):
            for word in text.split():
                rows[row, terms[word]] += 1
            tf = rows[row]
            rows[row] = tf / (tf + k1 * (1 - b + b * len(text.split()) / mean_length))
        return rows, list(terms)

    def unit(self, doc_ids):
        found = rows_of(self.vectors, doc_ids)
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float16)

    def nearest(self, doc_ids):
        unit = self.unit(doc_ids).astype(np.float64)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        cosines, k = unit @ unit.T, min(self.facts.neighbours, len(doc_ids) - 1)
        np.fill_diagonal(cosines, -2)
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
        return Neighbours(order.astype(np.int32), np.take_along_axis(cosines, order, axis=1).astype(np.float32))

    def weights(self, living, wanted, mean_length, threshold=0.0, fitted=None):
        """{document: {term: weight}} of those `wanted` among all `living` texts, where `fitted` are those that the
        regression was made of (None: all)."""
        rows, terms = self.saturated(living, mean_length)
        idf = inverse_document_frequency(len(living), (rows > 0).sum(axis=0)).astype(np.float32)
        vectors, place = self.unit(living), {doc_id: row for row, doc_id in enumerate(living)}
        if fitted is None:
            regression = fit(vectors, sparse(rows))
        else:
            old, old_terms = self.saturated(fitted, mean_length)
            made = fit(self.unit(fitted), sparse(old))
            names = [old_terms[term] for term in made.terms]
            kept = [at for at, name in enumerate(names) if name in terms]
            numbers = np.array([terms.index(names[at]) for at in kept], np.int32)
            order = np.argsort(numbers)
            regression = made._replace(terms=numbers[order], rows=made.rows[np.array(kept)[order]])
        told = regression._replace(rows=regression.rows * idf[regression.terms][:, None])
        n_words = [len(set(text.split())) for text in (fitted or living).values()]
        lifted = usual_lift(np.concatenate(([0], np.cumsum(n_words))))
        shares = Shares(self.facts.borrowed, self.facts.told, lifted)
        weighed, nearest = sparse(rows * idf), self.nearest(living)
        graft = Graft(weighed, vectors, nearest, told, shares)
        asked = np.array([place[doc_id] for doc_id in wanted])
        found = np.concatenate([block.toarray() for block in graft.rows(asked, threshold)]) / idf
        return {
            doc_id: {terms[term]: float(row[term]) for term in np.flatnonzero(row)}
            for doc_id, row in zip(wanted, found, strict=True)
        }


def sparse(rows):
    row_of, terms = np.nonzero(rows)
    indptr = np.concatenate(([0], np.cumsum((rows > 0).sum(axis=1)))).astype(np.int64)
    names = [str(row) for row in range(len(rows))]
    return SparseMatrix(names, indptr, terms.astype(np.int32), rows[row_of, terms], rows.shape[1], "")


def stored_weights(live):
    """{document: {term: weight}} of the living documents of a live index."""
    found = {}
    for segment in live.segments:
        index = segment.index
        for term, name in enumerate(index.vocabulary.terms):
            for row, impact in zip(*(part.tolist() for part in index.postings(term)), strict=True):
                if segment.allowed is None or segment.allowed[row]:
                    found.setdefault(index.doc_ids[row], {})[name] = impact * index.meta.scale
    return found

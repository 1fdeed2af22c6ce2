"""Conditions, overlap, two steps, passages and changes of a live index together answer as plain dictionaries do."""

import tempfile
from fractions import Fraction
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.settings import IndexSettings
from lexigraft.data.readers.metadata import _plain as as_read
from lexigraft.index.live.opening import create_live, open_writer
from lexigraft.index.live.reader import LiveIndex, open_live
from lexigraft.index.metadata import metadata_of_live
from lexigraft.search.conditions import parse_condition
from lexigraft.search.filters import filter_masks
from lexigraft.search.live import LiveSearcher
from lexigraft.search.overlap import OverlapSearcher
from lexigraft.search.searcher import METHODS, Searcher
from lexigraft.search.two_step import TwoStepSearcher
from tests.conditions import DATES, TAGS, TREES, VENUES, as_text, fulfils
from tests.live import SlowSegment, given_metadata, slow_scale, vectors_of
from tests.property.test_two_step import built

QUICK = next((path for path in ("/dev/shm",) if Path(path).is_dir()), None)
N_TERMS = 6
ROW = st.dictionaries(st.integers(0, N_TERMS - 1), st.integers(1, 60).map(lambda tenths: tenths / 10), max_size=4)
NAMES = [f"d{number}" for number in range(16)]
IDS = st.sampled_from(NAMES)
BATCH = st.dictionaries(IDS, st.lists(ROW, min_size=1, max_size=3), min_size=1, max_size=8)
LOUDER = st.sampled_from([1.0, 1.0, 3.0, 20.0])  # now and then weights that need a scale of their own
CHANGES = st.lists(
    st.tuples(st.just("add"), BATCH, LOUDER)
    | st.tuples(st.just("delete"), st.sets(IDS, min_size=1, max_size=6), st.none())
    | st.tuples(st.just("merge"), st.none(), st.none()),
    max_size=7,
)
QUERIES = st.dictionaries(st.integers(0, N_TERMS - 1), st.integers(1, 4).map(float), min_size=1)
DAYS = [date for date in DATES if "-" in date]  # a year alone is a date only beside others
CONDITIONS = st.lists(TREES, max_size=2)


def record_of(name, version):
    """What is known of a document as it is added this time: of every fifth nothing; of the others everything, so that
    every key is there."""
    number = NAMES.index(name) + version
    if not number % 5:
        return {}
    return {
        "year": number % 4, "venue": VENUES[number % len(VENUES)], "published": DAYS[number % len(DAYS)],
        "tags": TAGS[: number % 4], "codes": [[1], [2, 2.5], [1, 2]][number % 3],
    }  # fmt: skip


class SlowIndex:
    """A live index, the vectors that were added to it, and what it holds in plain dictionaries."""

    def __init__(self, folder, passages, documents):
        self.path, self.passages = folder / "live", passages
        self.segments, self.stores, self.added, self.records = [], [], {}, {}
        self.change("add", documents, 1.0)

    def change(self, what, which, factor):
        with open_writer(self.path) if self.segments else create_live(self.path) as writer:
            if what == "merge":
                self.merge(writer.merge(everything=True))
            elif what == "delete":
                writer.delete(which, "ok")
                self.forget(which)
            else:
                rows = {d: [{t: w * factor for t, w in row.items()} for row in rows] for d, rows in which.items()}
                rows = rows if self.passages else {d: of_document[:1] for d, of_document in rows.items()}
                given = rows if self.passages else {d: of_document[0] for d, of_document in rows.items()}
                self.stores.append(vectors_of(given, N_TERMS, self.passages))
                self.records.update((doc_id, record_of(doc_id, len(self.stores))) for doc_id in rows)
                known = {doc_id: as_read(self.records[doc_id]) for doc_id in rows}
                writer.append(self.stores[-1], replacing=True, metadata=given_metadata(known))
                self.forget(rows)
                self.segments.append(SlowSegment.quantised(rows, slow_scale(self.segments, rows)))
                self.added.update(rows)

    def forget(self, doc_ids):
        for segment in self.segments:
            segment.documents = {d: rows for d, rows in segment.documents.items() if d not in doc_ids}

    def merge(self, done):
        survivors = [segment for segment in self.segments if segment.documents]
        if done and survivors:
            scale = max((s.scale for s in survivors if s.has_weights), default=survivors[0].scale)
            weights = {doc_id: rows for segment in survivors for doc_id, rows in segment.weights().items()}
            self.segments = [SlowSegment.quantised(weights, scale)]
        elif done:
            self.segments = self.segments[:1]

    def fulfils(self, doc_id, conditions):
        return all(fulfils(self.records[doc_id], tree) for tree in conditions)

    def ranking(self, query, k, share, two_step, qk, by_vectors, conditions, words):
        """[(doc_id, score)], best first, by looking at every row of every document."""
        heaviest = sorted(query, key=lambda term: (-query[term], term))[: qk or None]
        asked = {
            t
            for t in (heaviest if words is None else words)
            for segment in self.segments
            for row in all_rows(segment)
            if t in row
        }
        needed = max(1, ceil(share * len(asked))) if share else 0
        first, second = [], {}
        for segment in self.segments:
            for doc_id, rows in segment.documents.items():
                if not self.fulfils(doc_id, conditions):
                    continue
                holding = [row for row in rows if len(asked & row.keys()) >= needed]
                best = max((sum(int(query[t]) * row.get(t, 0) for t in heaviest) for row in holding), default=0)
                if best:
                    first.append((-(best * segment.scale), doc_id))
                if by_vectors:
                    second[doc_id] = max(exact(query, row) for row in self.added[doc_id])
                else:
                    second[doc_id] = max(sum(int(query[t]) * row.get(t, 0) for t in query) for row in rows)
                    second[doc_id] = second[doc_id] * segment.scale
        if not two_step:
            return [(doc_id, -negative) for negative, doc_id in sorted(first)[:k]]
        ranked = sorted((-second[doc_id], doc_id) for _, doc_id in sorted(first)[:two_step])
        return [(doc_id, -negative) for negative, doc_id in ranked[:k]]


def all_rows(segment):
    return [row for rows in segment.documents.values() for row in rows]


def exact(query, row):
    total = 0.0
    for term in sorted(row):
        total += float(np.float32(row[term])) * query.get(term, 0.0)
    return total


def vector(query):
    terms = sorted(query)
    return np.array(terms, np.int32), np.array([query[term] for term in terms], np.float32)


SEARCHES = st.fixed_dictionaries(
    {
        "query": QUERIES,
        "k": st.integers(1, 20),
        "tenths": st.sampled_from([0, 0, 3, 5, 10]),
        "conditions": CONDITIONS,
        "words": st.none() | st.sets(st.integers(0, N_TERMS - 1)),
        "two_step": st.sampled_from([0, 0, 1, 3, 20]),
        "qk": st.integers(0, 3),
        "method": st.sampled_from(METHODS),
        "by": st.sampled_from(["vectors", "full", "itself"]),
    }
)


@pytest.mark.integration  # it takes long
@settings(max_examples=40)
@given(st.booleans(), BATCH, CHANGES, st.lists(SEARCHES, min_size=6, max_size=6))
def test_everything_at_once_equals_brute_force(passages, documents, changes, searches):
    with tempfile.TemporaryDirectory(dir=QUICK) as folder:
        slow = SlowIndex(Path(folder), passages, documents)
        for change in changes:
            slow.change(*change)
        live = open_live(slow.path, checksums=False)
        assert [segment.index.meta.scale for segment in live.segments] == [s.scale for s in slow.segments]
        metadata = metadata_of_live(live)
        known = any(slow.records[doc_id] for segment in slow.segments for doc_id in segment.documents)
        assert (metadata is not None) == known
        for search in searches:
            require_equal_to_brute_force(slow, live, metadata, **search)


def require_equal_to_brute_force(slow, live, metadata, query, k, tenths, conditions, words, two_step, qk, method, by):
    conditions = conditions if metadata else []
    masks = filter_masks(metadata, [parse_condition(as_text(tree)) for tree in conditions]) if metadata else None
    counted = None if words is None else np.array(sorted(words), np.int32)
    k = min(k, two_step or k)
    vectors, full = slow.stores if by == "vectors" else (), live if by == "full" else None
    searcher = LiveSearcher(live, method, tenths / 10, two_step, qk, vectors, full)
    found = searcher.search_places(*vector(query), k, masks, counted)
    expected = slow.ranking(query, k, Fraction(tenths, 10), two_step, qk, by == "vectors", conditions, words)
    assert [(place.doc_id, place.score) for place in found] == expected
    for place in found:
        assert live.segments[place.number] is place.segment
        assert place.segment.index.names(np.array([place.ordinal])) == [place.doc_id]
        assert place.title.startswith(f"title of {place.doc_id}")


@settings(max_examples=40)
@given(
    st.booleans(), BATCH, QUERIES, st.integers(1, 12), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 3),
    st.booleans(), st.sampled_from([8, 16]), st.data(),
)  # fmt: skip
def test_a_plain_index_answers_as_the_searchers_of_one_index_do(
    passages, documents, query, k, share, qk, reorder, bits, data
):
    query = {term: weight + data.draw(st.sampled_from([0.0, 0.3])) for term, weight in query.items()}
    with tempfile.TemporaryDirectory(dir=QUICK) as folder:
        rows = documents if passages else {doc_id: of_document[0] for doc_id, of_document in documents.items()}
        vectors = vectors_of(rows, N_TERMS, passages)
        index = built(vectors, Path(folder) / "i", settings=IndexSettings(reorder=reorder, bits=bits))
        plain = LiveIndex.of_index(index)
        flags = data.draw(st.lists(st.integers(0, 1), min_size=index.n_documents, max_size=index.n_documents))
        mask = np.array(flags, np.uint8) if data.draw(st.booleans()) else None
        masks = None if mask is None else [mask]
        one = OverlapSearcher(Searcher(index), share) if share else Searcher(index)
        ordinals, scores = one.search_ordinals(*vector(query), k, mask)
        assert places(LiveSearcher(plain, overlap=share), query, k, masks) == [*zip(ordinals, scores, strict=True)]
        two = TwoStepSearcher(one, vectors, k + 1, qk)
        ordinals, scores = two.search_ordinals(*vector(query), k, mask)
        searcher = LiveSearcher(plain, overlap=share, two_step=k + 1, qk=qk, vectors=[vectors])
        assert places(searcher, query, k, masks) == [*zip(ordinals, scores, strict=True)]


def places(searcher, query, k, masks):
    return [(place.ordinal, place.score) for place in searcher.search_places(*vector(query), k, masks)]


@settings(max_examples=40)
@given(st.booleans(), BATCH, QUERIES, st.integers(1, 12), st.integers(1, 3), st.booleans())
def test_a_pruned_index_is_ranked_by_the_full_one(passages, documents, query, k, dk, reorder):
    """The first pass over documents cut to `dk` terms, the second by the rows of an index of all their terms."""
    with tempfile.TemporaryDirectory(dir=QUICK) as folder:
        rows = documents if passages else {doc_id: of_document[0] for doc_id, of_document in documents.items()}
        vectors = vectors_of(rows, N_TERMS, passages)
        pruned = LiveIndex.of_index(built(vectors, Path(folder) / "p", dk))
        full = LiveIndex.of_index(built(vectors, Path(folder) / "f", settings=IndexSettings(reorder=reorder)))
        everything = {place.doc_id: place.score for place in LiveSearcher(full).search_places(*vector(query), 99)}
        candidates = LiveSearcher(pruned).search(*vector(query), k + 2).doc_ids
        expected = sorted((-everything[doc_id], doc_id) for doc_id in candidates)[:k]
        found = LiveSearcher(pruned, two_step=k + 2, full=full).search(*vector(query), k)
        assert [(-score, doc_id) for doc_id, score in zip(found.doc_ids, found.scores, strict=True)] == expected

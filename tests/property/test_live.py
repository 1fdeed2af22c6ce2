"""Whatever is added, replaced, deleted and merged, a live index answers as plain dictionaries do."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lexigraft.core.errors import InputError
from lexigraft.index.live.opening import create_live, open_writer
from lexigraft.index.live.reader import Segment, open_live
from lexigraft.index.rows import iterate_rows
from lexigraft.search.live import LiveSearcher
from lexigraft.search.searcher import METHODS
from tests.conftest import index_of, sparse_matrix
from tests.live import (
    LIVE_FOLDER,
    SlowSegment,
    given_metadata,
    living_ids,
    named_by_state,
    shown_metadata,
    slow_ranking,
    slow_scale,
    vectors_of,
)

QUICK = next((path for path in ("/dev/shm",) if Path(path).is_dir()), None)  # every step waits for the disk otherwise
N_TERMS = 5
ROW = st.dictionaries(st.integers(0, N_TERMS - 1), st.integers(1, 60).map(lambda tenths: tenths / 10), max_size=4)
IDS = st.sampled_from([f"d{number}" for number in range(14)])
DOCUMENTS = st.dictionaries(IDS, st.lists(ROW, min_size=1, max_size=3), min_size=1, max_size=6)
LOUDER = st.sampled_from([1.0, 1.0, 1.0, 3.0, 20.0])  # now and then weights that need a scale of their own
QUERY = st.dictionaries(st.integers(0, N_TERMS - 1), st.integers(1, 4).map(float), min_size=1)


def louder(documents, factor):
    return {doc_id: [{t: w * factor for t, w in row.items()} for row in rows] for doc_id, rows in documents.items()}


class LiveMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=QUICK))
        self.path = self.folder / "live"
        self.slow, self.records = {}, {}  # by segment's name, in order; what is known of each document

    def teardown(self):
        shutil.rmtree(self.folder)

    @property
    def living(self):
        return {doc_id for segment in self.slow.values() for doc_id in segment.documents}

    def vectors(self, documents):
        rows = documents if self.passages else {doc_id: rows[0] for doc_id, rows in documents.items()}
        return vectors_of(rows, N_TERMS, self.passages)

    def added_with(self, writer, documents, **options):
        """Documents are added with metadata that tell this time from all others, but for every third."""
        self.n_added = getattr(self, "n_added", 0) + 1
        records = {doc_id: {"time": self.n_added, "of": doc_id} for doc_id in documents if int(doc_id[1:]) % 3}
        added = writer.append(self.vectors(documents), metadata=given_metadata(records), **options)
        self.records = {
            **{doc_id: self.records[doc_id] for doc_id in self.records if doc_id not in documents},
            **records,
        }
        return added

    def note_added(self, name, documents):
        if not self.passages:
            documents = {doc_id: rows[:1] for doc_id, rows in documents.items()}
        self.forget(documents)
        present = [self.slow[segment] for segment in self.slow]
        self.slow[name] = SlowSegment.quantised(documents, slow_scale(present, documents))

    def forget(self, doc_ids):
        for segment in self.slow.values():
            segment.documents = {d: rows for d, rows in segment.documents.items() if d not in doc_ids}

    @initialize(passages=st.booleans(), documents=DOCUMENTS, empty=st.booleans())
    def begin(self, passages, documents, empty):
        self.passages = passages
        if empty:  # a first segment without any weight has a scale that means nothing
            documents = {doc_id: [{} for _ in rows] for doc_id, rows in documents.items()}
        with create_live(self.path) as writer:
            added = self.added_with(writer, documents)
        self.note_added(added.segment, documents)

    @rule(documents=DOCUMENTS, factor=LOUDER, replacing=st.booleans())
    def add(self, documents, factor, replacing):
        documents = louder(documents, factor)
        taken = documents.keys() & self.living
        with open_writer(self.path) as writer:
            if taken and not replacing:
                with pytest.raises(InputError, match=f"{len(taken)} of the {len(documents)} documents"):
                    writer.append(self.vectors(documents))
                return
            added = self.added_with(writer, documents, replacing=replacing)
        assert added.n_replaced == len(taken)
        self.note_added(added.segment, documents)

    @rule(doc_ids=st.sets(IDS, min_size=1, max_size=6), missing=st.sampled_from(["error", "ok"]))
    def delete(self, doc_ids, missing):
        absent = doc_ids - self.living
        with open_writer(self.path) as writer:
            if absent and missing == "error":
                with pytest.raises(InputError, match=f"{len(absent)} of {len(doc_ids)} ids are not in"):
                    writer.delete(doc_ids)
                return
            deleted = writer.delete(doc_ids, missing)
        assert (deleted.n_documents, deleted.n_missing) == (len(doc_ids - absent), len(absent))
        self.forget(doc_ids)

    @rule(everything=st.booleans())
    def merge(self, everything):
        with open_writer(self.path) as writer:
            for done in writer.merge(everything):
                self.note_merged(done)
            assert not writer.merge(everything)
            if everything:
                assert len(writer.state.segments) == 1

    def note_merged(self, done):
        chosen = [self.slow[name] for name in done.segments]
        survivors = [segment for segment in chosen if segment.documents]
        names = list(self.slow)
        first = names.index(done.segments[0])
        before, after = names[:first], names[first + len(chosen) :]
        merged = {}
        if survivors:
            scales = {segment.scale for segment in survivors if segment.has_weights}
            scale = max(scales, default=survivors[0].scale)
            weights = {doc_id: rows for segment in survivors for doc_id, rows in segment.weights().items()}
            merged = {done.into: SlowSegment.quantised(weights, scale)}
            errors = [
                abs(merged[done.into].documents[doc_id][n][t] * scale - w)
                for doc_id, rows in weights.items()
                for n, row in enumerate(rows)
                for t, w in row.items()
            ]
            same = len(scales) < 2
            assert done.scales == tuple(sorted(scales))
            assert done.largest_error == (0.0 if same else pytest.approx(max(errors, default=0.0), abs=1e-5))
        elif not before and not after:
            assert (done.into, done.n_rows) == (done.segments[0], 0)
            merged = {done.into: chosen[0]}
        self.slow = dict([*self._of(before), *merged.items(), *self._of(after)])

    def _of(self, names):
        return [(name, self.slow[name]) for name in names]

    @precondition(lambda self: self.slow)
    @rule(query=QUERY, k=st.integers(1, 20), checksums=st.booleans())
    def search(self, query, k, checksums):
        expected = slow_ranking(self.slow.values(), query, k)
        terms = sorted(query)
        vector = np.array(terms, np.int32), np.array([query[t] for t in terms], np.float32)
        live = open_live(self.path, checksums)
        for method in METHODS:
            found = LiveSearcher(live, method).search(*vector, k)
            assert list(zip(found.doc_ids, found.scores, strict=True)) == expected

    @invariant()
    def the_living_are_known(self):
        if self.slow:
            live = open_live(self.path, checksums=False)
            assert living_ids(live) == self.living
            assert shown_metadata(live) == {i: one for i, one in self.records.items() if i in self.living}
            assert [segment.index.meta.scale for segment in live.segments] == [s.scale for s in self.slow.values()]
            for doc_id in ("d0", "d7"):
                assert live.holds(doc_id) == (doc_id in self.living)

    @invariant()
    def nothing_is_left_over(self):
        if self.slow:
            assert sorted(path.name for path in (self.path / "segments").iterdir()) == sorted(self.slow)
            assert {path.name for path in self.path.iterdir()} == LIVE_FOLDER
            named = named_by_state(self.path)
            assert {name: {path.name for path in (self.path / name).iterdir()} for name in named} == named


TestLiveMachine = LiveMachine.TestCase
TestLiveMachine.settings = settings(max_examples=20, stateful_step_count=12)


@settings(max_examples=40)
@given(st.lists(ROW, min_size=1, max_size=20), st.data())
def test_rows_are_read_back_as_they_were(rows, data):
    with tempfile.TemporaryDirectory(dir=QUICK) as folder:
        index = index_of(sparse_matrix(rows, N_TERMS), Path(folder) / "i")
        start = data.draw(st.integers(0, len(rows)))
        end = data.draw(st.integers(start, len(rows)))
        found = iterate_rows(index, start, end)
        postings = {t: dict(zip(*(part.tolist() for part in index.postings(t)), strict=True)) for t in range(N_TERMS)}
        for row in range(start, end):
            expected = [(t, postings[t][row]) for t in range(N_TERMS) if row in postings[t]]
            span = slice(found.indptr[row - start], found.indptr[row - start + 1])
            assert list(zip(found.term_ids[span].tolist(), found.impacts[span].tolist(), strict=True)) == expected
        assert len(found.indptr) == end - start + 1


@settings(max_examples=40)
@given(st.lists(IDS, unique=True, min_size=1), st.sets(IDS), st.booleans(), st.randoms(use_true_random=False))
def test_both_ways_of_finding_many_documents_agree(present, wanted, passages, random):
    documents = {doc_id: [{}] * random.randint(1, 3) if passages else {} for doc_id in present}
    with tempfile.TemporaryDirectory(dir=QUICK) as folder:
        live = Path(folder) / "live"
        with create_live(live) as writer:
            writer.append(vectors_of(documents, 1, passages))
        index = open_live(live).segments[0].index
        allowed = np.array([random.randint(0, 1) for _ in range(index.n_documents)], np.uint8)
        segment = Segment(index, allowed)
        each = {doc_id: found for doc_id in wanted if (found := segment.rows_of(doc_id))}
        assert segment.rows_of_all(wanted) == each

"""Whatever is added, replaced, deleted and merged, a live index of BM25 answers as a slow BM25 over the texts does; and
once all is merged it is, byte for byte, the index that the surviving documents make at once."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lexigraft.core.errors import InputError
from lexigraft.core.settings import IndexSettings, LexicalSettings
from lexigraft.index.live.counts import count_terms
from lexigraft.index.live.opening import create_live, open_writer
from lexigraft.index.live.queries import open_live_encoder
from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import read_state
from lexigraft.search.live import LiveSearcher
from lexigraft.search.searcher import METHODS
from lexigraft.vectors.counted_texts import Renumbering, ascending_rows, count_in_order
from tests.live import LIVE_FOLDER, given_metadata, living_ids, shown_metadata
from tests.live_bm25 import SlowBM25, segment_files, texts_of

QUICK = next((path for path in ("/dev/shm",) if Path(path).is_dir()), None)  # every step waits for the disk otherwise
WORDS = [f"w{number}" for number in range(9)]
TEXT = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
IDS = st.sampled_from([f"d{number}" for number in range(12)])
DOCUMENTS = st.dictionaries(IDS, st.lists(TEXT, min_size=1, max_size=3), min_size=1, max_size=5)
QUERY = st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=5).map(" ".join)
READING = st.builds(
    LexicalSettings,
    k1=st.sampled_from([0.0, 0.9, 1.2, 3.0]),
    b=st.sampled_from([0.0, 0.4, 0.75, 1.0]),
    stopwords=st.just("none"),
    stemmer=st.just("none"),
)


class LiveBM25Machine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=QUICK))
        self.path = self.folder / "live"
        self.slow, self.records, self.n_added = None, {}, 0

    def teardown(self):
        shutil.rmtree(self.folder)

    def texts(self, documents):
        passages = self.slow.passages
        return texts_of(documents if passages else {name: texts[0] for name, texts in documents.items()}, passages)

    def append(self, writer, texts, records=None, **options):
        shared = {"passages": self.slow.passages, "settings": self.index_settings}
        metadata = given_metadata(self.records if records is None else records)
        return writer.append_texts(iter(texts), self.slow.settings, **shared, metadata=metadata, **options)

    def added_with(self, writer, texts, **options):
        """Documents are added with metadata that tell this time from all others, but for every third."""
        self.n_added += 1
        doc_ids = {self.slow.document(text.doc_id) for text in texts}
        records = {i: {"time": self.n_added, "of": (i, "all")} for i in doc_ids if not i.endswith(("2", "5"))}
        added = self.append(writer, texts, records, **options)
        self.records = {**{i: one for i, one in self.records.items() if i not in doc_ids}, **records}
        return added

    def known(self):
        """What is known of the living documents."""
        living = self.slow.documents()
        return {doc_id: record for doc_id, record in self.records.items() if doc_id in living}

    @initialize(
        passages=st.booleans(), reorder=st.booleans(), bits=st.sampled_from(("auto", 8)), reading=READING,
        documents=DOCUMENTS, word=TEXT,
    )  # fmt: skip
    def begin(self, passages, reorder, bits, reading, documents, word):
        self.slow = SlowBM25(reading, passages, 16 if bits == "auto" else bits)
        self.index_settings = IndexSettings(reorder=reorder, bits=bits)
        texts = self.texts(
            {**documents, "first": [f"w0 {word}".strip()]}
        )  # a collection without a word begins no index
        with create_live(self.path) as writer:
            added = self.added_with(writer, texts)
        self.slow.add(added.segment, texts)

    @rule(documents=DOCUMENTS, replacing=st.booleans())
    def add(self, documents, replacing):
        texts, taken = self.texts(documents), documents.keys() & self.slow.documents()
        with open_writer(self.path) as writer:
            if taken and not replacing:
                with pytest.raises(InputError, match=f"{len(taken)} of the {len(documents)} documents"):
                    self.append(writer, texts)
                return
            added = self.added_with(writer, texts, replacing=replacing)
        assert added.n_replaced == len(taken)
        self.slow.add(added.segment, texts)

    @rule(doc_ids=st.sets(st.one_of(IDS, st.just("first")), min_size=1, max_size=6))
    def delete(self, doc_ids):
        with open_writer(self.path) as writer:
            writer.delete(doc_ids, missing="ok")
        self.slow.delete(doc_ids)

    @rule()
    def merge_where_it_pays(self):
        self.merge(everything=False)

    def merge(self, everything):
        with open_writer(self.path) as writer:
            for done in writer.merge(everything, self.index_settings):
                self.slow.merge(done.segments, done.into)

    @rule(query=QUERY, k=st.integers(1, 15))
    def merge_all_and_compare_with_an_index_made_at_once(self, query, k):
        self.merge(everything=True)
        survivors = [self.original(row_id, words) for row_id, words in self.slow.rows()]
        if not any(document.text for document in survivors):
            return  # no index begins without a word
        at_once = self.folder / "at_once"
        with create_live(at_once) as writer:
            self.append(writer, survivors, self.known())
        (merged,), (made,) = segment_files(self.path).values(), segment_files(at_once).values()
        assert merged == made  # every byte of every file, the manifest's too
        assert [*segment_files(self.path, "metadata").values()] == [*segment_files(at_once, "metadata").values()]
        here, there = read_state(self.path), read_state(at_once)
        shared = ("vocab_fingerprint", "mean_length", "query_encoder", "keep", "passages", "n_living")
        assert [getattr(here, name) for name in shared] == [getattr(there, name) for name in shared]
        assert self.answers(self.path, query, k) == self.answers(at_once, query, k)
        shutil.rmtree(at_once)

    def original(self, row_id, words):
        return texts_of({row_id: " ".join(words)})[0]

    def answers(self, path, query, k):
        live = open_live(path)
        vector = open_live_encoder(live, path).encode(query)
        return [part.tolist() for part in vector], LiveSearcher(live).search(*vector, k)

    @rule(query=QUERY, k=st.integers(1, 15))
    def search(self, query, k):
        live = open_live(self.path)
        terms, weights = open_live_encoder(live, self.path).encode(query)
        assert (np.diff(terms) > 0).all()
        named = dict(zip([live.vocabulary.terms[term] for term in terms], weights, strict=True))
        expected = self.slow.query(query)
        assert named.keys() == expected.keys()
        assert named == pytest.approx(expected, rel=1e-6)
        assert list(live.vocabulary.id_of.values()) == list(range(len(live.vocabulary)))
        for method in METHODS:
            found = LiveSearcher(live, method).search(terms, weights, k)
            assert list(zip(found.doc_ids, found.scores, strict=True)) == self.slow.ranking(query, k)

    @invariant()
    def the_living_are_known(self):
        if self.slow is not None:
            live, state = open_live(self.path, checksums=False), read_state(self.path)
            assert living_ids(live) == self.slow.documents()
            assert shown_metadata(live) == self.known()
            assert state.mean_length == self.slow.mean_length
            assert {segment.index.meta.vocab_fingerprint for segment in live.segments} == {state.vocab_fingerprint}
            assert live.vocabulary.fingerprint == state.vocab_fingerprint
            assert sorted(path.name for path in (self.path / "segments").iterdir()) == sorted(self.slow.segments)
            assert {path.name for path in self.path.iterdir()} == LIVE_FOLDER

    @invariant()
    def texts_stay_with_their_documents(self):
        if self.slow is not None:
            found = {}
            for segment in open_live(self.path, checksums=False).segments:
                rows = range(segment.index.n_documents) if segment.allowed is None else np.flatnonzero(segment.allowed)
                found |= {segment.index.doc_ids[int(row)]: segment.index.texts.get(int(row)).text for row in rows}
            assert found == {row_id: " ".join(words) for row_id, words in self.slow.rows()}


TestLiveBM25Machine = LiveBM25Machine.TestCase
TestLiveBM25Machine.settings = settings(max_examples=25, stateful_step_count=10)

TOKENS = st.lists(st.lists(st.integers(0, 6), max_size=8), max_size=6)


@given(TOKENS)
def test_words_are_counted_in_the_order_of_their_first_appearance(rows):
    tokens = np.array([token for row in rows for token in row], np.int32)
    ends, ids, counts = count_in_order(tokens, np.cumsum([len(row) for row in rows], dtype=np.int64), 7)
    expected = [{token: row.count(token) for token in row} for row in rows]
    assert ends.tolist() == np.cumsum([len(row) for row in expected], dtype=np.int64).tolist()
    assert ids.tolist() == [token for row in expected for token in row]
    assert counts.tolist() == [count for row in expected for count in row.values()]


@given(TOKENS, st.data())
def test_the_terms_of_some_rows_are_counted(rows, data):
    rows = [list(dict.fromkeys(row)) for row in rows]
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), unique=True)) if rows else []
    indptr = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    term_ids = np.array([term for row in rows for term in row], np.int32)
    found = count_terms(indptr, term_ids, np.array(chosen, np.int64), 7)
    assert found.tolist() == [sum(term in rows[row] for row in chosen) for term in range(7)]


@given(TOKENS)
def test_terms_are_numbered_as_they_are_met(rows):
    renumbering, met = Renumbering(7), {}
    for row in rows:
        expected = [met.setdefault(token, len(met)) for token in row]
        assert renumbering.renumber(np.array(row, np.int32)).tolist() == expected
    assert renumbering.met().tolist() == list(met)


@given(st.lists(st.dictionaries(st.integers(0, 20), st.integers(1, 9), max_size=6), max_size=6))
def test_rows_are_put_in_the_order_of_their_terms(rows):
    indptr = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    term_ids = np.array([term for row in rows for term in row], np.int32)
    counts = np.array([count for row in rows for count in row.values()], np.int32)
    ids, tf, lengths = ascending_rows(indptr, term_ids, counts)
    expected = [item for row in rows for item in sorted(row.items())]
    assert list(zip(ids.tolist(), tf.tolist(), strict=True)) == expected
    assert lengths.tolist() == [sum(row.values()) for row in rows]

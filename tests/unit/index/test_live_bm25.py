import itertools
from dataclasses import replace

import numpy as np
import pytest

from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.settings import IndexSettings, LexicalSettings
from lexigraft.core.types import Document
from lexigraft.index.live.bm25 import plan_counted_merge
from lexigraft.index.live.opening import create_live, open_writer
from lexigraft.index.live.queries import open_live_encoder
from lexigraft.index.live.reader import LiveIndex, open_live
from lexigraft.index.live.state import DeletedFile, SegmentState, read_state
from lexigraft.index.store import open_index
from lexigraft.search.live import LiveSearcher
from lexigraft.vectors.query_encoder import open_query_encoder
from tests.live import vectors_of
from tests.live_bm25 import PLAIN, live_bm25_of, segment_files, texts_of


@pytest.fixture
def live(tmp_path):
    return live_bm25_of(tmp_path / "live", [{"a": "red fox", "b": "blue fox fox"}, {"c": "zebra fox", "d": "red"}])


def found(path, query, k=10):
    live = open_live(path)
    return LiveSearcher(live).search(*open_live_encoder(live, path).encode(query), k).doc_ids


def test_words_of_later_documents_are_found(live):
    assert found(live, "zebra") == ("c",)
    assert set(found(live, "fox red")) == {"a", "b", "c", "d"}
    assert [segment.index.n_terms for segment in open_live(live).segments] == [4, 4]
    alone = open_index(live / "segments/000001")
    assert list(alone.vocabulary.terms) == ["red", "fox", "blue"]


def test_a_word_of_deleted_documents_alone_is_no_word(live):
    with open_writer(live) as writer:
        writer.delete(["b"])
    index = open_live(live)
    encoder = open_live_encoder(index, live)
    terms, weights = encoder.encode("blue fox fox")
    assert [index.vocabulary.terms[term] for term in terms] == ["fox"]
    assert weights.tolist() == pytest.approx([2 * np.log1p((3 - 2 + 0.5) / 2.5)])  # two of three documents hold it
    assert [part.tolist() for part in encoder.encode("blue")] == [[], []]


def test_a_segment_alone_is_an_index(live):
    alone = LiveIndex.of_index(open_index(live / "segments/000002"))
    vector = open_live_encoder(alone, live / "segments/000002").encode("red zebra")
    assert set(LiveSearcher(alone).search(*vector, 5).doc_ids) == {"c", "d"}
    with pytest.raises(ArtifactError, match="queries need the document frequencies of all its segments"):
        open_query_encoder(alone.query_encoder, alone.vocabulary, live)


def test_a_merge_keeps_no_word_of_deleted_documents_and_weighs_anew(live):
    assert read_state(live).mean_length == 2.5
    with open_writer(live) as writer:
        writer.delete(["b", "a"])
        writer.merge(everything=True)
        assert not writer.merge(everything=True)
    assert read_state(live).mean_length == 1.5
    assert list(open_live(live).vocabulary.terms) == ["zebra", "fox", "red"]


def test_documents_in_an_order_of_their_own_are_merged_in_that_of_their_addition(tmp_path):
    texts = {f"d{n}": f"{('red', 'blue')[n % 2]} w{n % 5} w{n}" for n in range(40)}
    first, second = dict(itertools.islice(texts.items(), 25)), dict(itertools.islice(texts.items(), 25, None))
    settings = IndexSettings(reorder=True)
    live = live_bm25_of(tmp_path / "live", [first, second], settings=settings)
    with open_writer(live) as writer:
        writer.delete(["d3", "d30"])
        writer.merge(everything=True, settings=settings)
    left = {doc_id: text for doc_id, text in texts.items() if doc_id not in ("d3", "d30")}
    at_once = live_bm25_of(tmp_path / "at_once", [left], settings=settings)
    assert list(segment_files(live).values()) == list(segment_files(at_once).values())
    assert open_live(live).segments[0].index.meta.reordered


def test_what_does_not_fit_is_named(live, tmp_path):
    with open_writer(live) as writer:
        with pytest.raises(InputError, match=r"vectors have none; add texts"):
            writer.append(vectors_of({"z": {0: 1.0}}, 4))
        with pytest.raises(SettingError, match=r"lexical\.k1 = 3\.0 does not fit .* read with 1\.2; leave it out"):
            writer.append_texts(texts_of({"z": "red"}), replace(PLAIN, k1=3.0))
        with pytest.raises(SettingError, match="keep = 4 is not allowed in a live index of BM25"):
            writer.append_texts(texts_of({"z": "red"}), PLAIN, keep=4)
        with pytest.raises(SettingError, match=r"index\.bits = 8 does not fit .* have 16 bits; leave it out"):
            writer.append_texts(texts_of({"z": "red"}), PLAIN, settings=IndexSettings(bits=8))
        with pytest.raises(InputError, match="the rows to add are passages"):
            writer.append_texts(texts_of({"z": ["red"]}, passages=True), PLAIN, passages=True)
        with pytest.raises(InputError, match="there are no documents to add"):
            writer.append_texts([], PLAIN)
        with pytest.raises(InputError, match="appears twice"):
            writer.append_texts([Document("z", "", "red"), Document("z", "", "fox")], PLAIN)
        assert writer.state.n_living == 4
        writer.append_texts(texts_of({"z": "the red"}), LexicalSettings())  # the defaults count as not given
    assert found(live, "the") == ("z",)  # read as all others are: without stop-words
    other = tmp_path / "other"
    with create_live(other) as writer:
        with pytest.raises(InputError, match="no word was found in any of the 2 documents"):
            writer.append_texts(texts_of({"a": "", "b": "..."}), PLAIN)
        writer.append(vectors_of({"a": {0: 1.0}}, 2))
        with pytest.raises(InputError, match=r"is not a live index of BM25 .* encoder is 'none'; add vectors"):
            writer.append_texts(texts_of({"b": "red"}), PLAIN)


def test_damaged_counts_are_found(live):
    place = live / "segments/000001/counts/term_ids.npy"
    whole = place.read_bytes()
    place.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ArtifactError, match=r"term_ids\.npy does not match its checksum"):
        open_live(live)
    with open_writer(live) as writer, pytest.raises(ArtifactError, match=r"does not match its checksum"):
        writer.merge(everything=True)


def test_documents_without_a_word_may_be_all_that_is_left(live):
    with open_writer(live) as writer:
        writer.append_texts(texts_of({"e": "", "f": "..."}), PLAIN)
        writer.delete(["a", "b", "c", "d"])
        writer.merge(everything=True)
    index = open_live(live)
    assert (index.n_documents, len(index.vocabulary), read_state(live).mean_length) == (2, 0, 1.0)
    assert found(live, "red fox") == ()
    with open_writer(live) as writer:
        writer.append_texts(texts_of({"g": "red"}), PLAIN)
    assert found(live, "red fox") == ("g",)


def test_when_all_are_deleted_one_segment_stays(live):
    with open_writer(live) as writer:
        writer.delete(["a", "b", "c", "d"])
        (done,) = writer.merge(everything=True)
        assert (done.into, done.n_rows) == ("000001", 0)
        assert not writer.merge(everything=True)
        assert writer.state.vocab_fingerprint == open_live(live).vocab_fingerprint
        writer.append_texts(texts_of({"new": "grey mouse"}), PLAIN)
    assert found(live, "grey red") == ("new",)


def test_a_merge_that_leaves_one_segment_takes_all():
    whole, empty = SegmentState("1", 9, 9, 1.0, ""), SegmentState("2", 2, 2, 1.0, "", DeletedFile("", 2, ""))
    assert plan_counted_merge([whole, empty]) == (0, 2)
    assert plan_counted_merge([whole]) is None
    assert plan_counted_merge([replace(whole, n_rows=90), whole, empty]) == (2, 3)
    assert plan_counted_merge([replace(whole, n_rows=90), whole], everything=True) == (0, 2)


def test_an_index_keeps_the_bits_it_has(tmp_path):
    """One that began with 8, as all did, grows and merges with 8; a new one has 16."""
    live = live_bm25_of(tmp_path / "live", [{"a": "red fox"}], settings=IndexSettings(bits=8))
    with open_writer(live) as writer:
        writer.append_texts(texts_of({"b": "red dog"}), PLAIN)
        assert [segment.index.meta.bits for segment in open_live(live).segments] == [8, 8]
        writer.merge(everything=True)
    assert [segment.index.meta.bits for segment in open_live(live).segments] == [8]
    new = live_bm25_of(tmp_path / "new", [{"a": "red fox"}])
    assert open_live(new).segments[0].index.meta.bits == 16

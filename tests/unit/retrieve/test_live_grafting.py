"""`Retriever.graft` and what comes to a grafted index, by given vectors and by an encoder that tests can afford."""

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.settings import IndexSettings, Settings
from lexigraft.index.live.state import read_state
from lexigraft.retrieve import live_grafting
from lexigraft.retrieve.live_changes import begin_live_bm25, merge_segments, status
from lexigraft.retrieve.retriever import Retriever
from lexigraft.stages import grafted_cells
from tests.live_bm25 import texts_of

TEXTS = ["red fox", "red fox den", "grey stone", "grey stone wall", "grey wall", "blue fox"]
TOPICS = ("fox den burrow red".split(), "stone wall grey".split())


class TopicNetwork:
    """Counts words of two topics. Of text that it must not read it raises."""

    def __init__(self):
        self.meta, self.n_read, self.stops_after = SimpleNamespace(width=3, document_length=64), 0, np.inf

    def reading(self, length):
        self.length = length
        return self

    def embed_parts(self, texts, are_queries):
        for at, text in enumerate(texts):
            if self.n_read >= self.stops_after:
                raise KeyboardInterrupt
            self.n_read += 1
            counts = [sum(word in topic for word in text.split()) for topic in TOPICS]
            vector = np.array([*counts, 0.1], np.float32)
            yield np.array([at]), (vector / np.linalg.norm(vector))[None]


@pytest.fixture
def encoder(monkeypatch):
    """The network, and the fingerprint that it has."""
    made = SimpleNamespace(network=TopicNetwork(), fingerprint="f1")

    @contextmanager
    def sentence_encoder(backbone):
        assert backbone == "auto"
        yield Path("model"), SimpleNamespace(fingerprint=made.fingerprint)

    monkeypatch.setattr(live_grafting, "why_no_encoder", lambda backbone: "")
    monkeypatch.setattr(live_grafting, "sentence_encoder", sentence_encoder)
    monkeypatch.setattr(grafted_cells, "open_dense", lambda *args, **named: made.network)
    return made


def found(retriever, query):
    return [hit.doc_id for hit in retriever.search(query)]


def test_texts_are_found_by_words_of_their_neighbours(encoder, tmp_path):
    with Retriever.from_texts(TEXTS) as retriever:
        assert found(retriever, "den") == ["1"]
        retriever.graft(borrowed=0.5, told=0, cost=None, neighbours=2, length=32)
        assert encoder.network.length == 32
        assert set(found(retriever, "den")) == {"0", "1", "5"}
        assert found(retriever, "den")[0] == "1"
        assert retriever.add(["burrow"], ids=["new"]) == 1
        assert "new" in found(retriever, "fox")
        assert encoder.network.n_read == 7
        assert retriever.delete(["1"]) == 1
        assert found(retriever, "den") == []  # nobody says it any more, though some have borrowed it
        retriever.save(tmp_path / "saved")
        facts = status(retriever.place.index)["graft"]
        assert (facts["encoder"], facts["fingerprint"], facts["width"]) == ("auto", "f1", 3)
        live = retriever.place.index
        assert not (live / ".graft").exists()
    with Retriever.open(tmp_path / "saved") as saved:
        assert "new" in found(saved, "fox")
        merge_segments(saved.place.index, True, Settings())
        saved.add(["wall"], ids=["newer"])
        assert "newer" in found(saved, "stone")
        encoder.fingerprint = "f2"
        with pytest.raises(InputError, match=r"was grafted by another encoder than 'auto' .* graft it again"):
            saved.add(["stone"], ids=["newest"])
        with pytest.raises(InputError, match="leave out the vectors"):
            saved.add(["stone"], ids=["newest"], vectors=[[1.0, 0, 0]])


def test_given_vectors_go_the_same_way():
    vectors = np.eye(3)[[0, 0, 1, 1, 1, 0]]
    with Retriever.from_texts(TEXTS) as retriever:
        with pytest.raises(InputError, match="has 2 rows, and there are 6 documents"):
            retriever.graft(vectors[:2])
        with pytest.raises(SettingError, match=r"grafted\.borrowed = -1"):
            retriever.graft(vectors, borrowed=-1)
        with pytest.raises(SettingError, match=r"prune\.cost = 0"):
            retriever.graft(vectors, cost=0.0)
        assert found(retriever, "den") == ["1"]
        retriever.graft(vectors.tolist(), borrowed=1, cost=None)
        assert set(found(retriever, "den")) == {"0", "1", "5"}
        with pytest.raises(InputError, match="give those of the new documents, too"):
            retriever.add(["burrow"], ids=["new"])
        retriever.add(["burrow"], ids=["new"], vectors=[[1.0, 0, 0]])
        assert set(found(retriever, "den")) == {"0", "1", "5", "new"}
        retriever.graft(np.eye(3)[[0, 0, 1, 1, 1, 1, 1]], cost=None)  # anew, with others
        assert "5" not in found(retriever, "den")


def test_a_stopped_call_encodes_no_batch_twice(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr("lexigraft.dense.encode.READ_AHEAD", 2)
    live = tmp_path / "live"
    begin_live_bm25(live, texts_of({str(n): text for n, text in enumerate(TEXTS)}), Settings())
    encoder.network.stops_after = 5
    with pytest.raises(KeyboardInterrupt):
        live_grafting.graft_live(live, None, Settings())
    assert read_state(live).graft is None
    encoder.network.stops_after = np.inf
    live_grafting.graft_live(live, None, Settings())
    assert encoder.network.n_read == 5 + 2
    assert read_state(live).graft.encoder == "auto"
    assert not (live / ".graft").exists()


def test_what_is_missing_is_said_with_its_remedy(encoder, tmp_path, monkeypatch):
    settings = Settings(index=IndexSettings(texts="no"))
    begin_live_bm25(tmp_path / "live", texts_of({"a": "red fox"}), settings)
    with pytest.raises(InputError, match="the text of document 'a' was not kept"):
        live_grafting.graft_live(tmp_path / "live", None, Settings())
    monkeypatch.setattr(live_grafting, "why_no_encoder", lambda backbone: "there is no sentence encoder (do this)")
    with pytest.raises(InputError, match=r"there is no sentence encoder \(do this\); or give vectors"):
        live_grafting.graft_live(tmp_path / "live", None, Settings())


def test_vectors_in_another_order_are_refused(tmp_path):
    """As where a run reads them: nothing is grafted then, and BM25 goes on. Rows that say whose they are have none."""
    texts = [f"subject{number // 10} word{number // 10} other{number % 7} own{number}" for number in range(100)]
    vectors = np.eye(10)[np.arange(100) // 10] + 0.1 * np.random.default_rng(0).normal(size=(100, 10))
    with Retriever.from_texts(texts) as retriever:
        with pytest.raises(InputError, match="do not seem to be those of the documents in their rows"):
            retriever.graft(vectors=np.random.default_rng(1).permutation(vectors))
        assert len(retriever.search("own7")) == 1
        retriever.graft(vectors=vectors, cost=None)
        assert len(retriever.search("own7")) > 1
        order = np.random.default_rng(1).permutation(100)
        np.savez(tmp_path / "v.npz", ids=[str(one) for one in order], vectors=vectors[order])
        retriever.graft(vectors=tmp_path / "v.npz", cost=None)
        assert len(retriever.search("own7")) > 1

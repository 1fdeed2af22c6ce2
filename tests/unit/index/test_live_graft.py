"""Live indexes of BM25 whose documents have words beside their own."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.settings import IndexSettings
from lexigraft.grafted.neighbours import Neighbours
from lexigraft.index.live.copying import copy_live
from lexigraft.index.live.graft_neighbours import nearer
from lexigraft.index.live.opening import create_live, open_writer
from lexigraft.index.live.queries import open_live_encoder
from lexigraft.index.live.reader import LiveIndex, open_live
from lexigraft.index.live.state import read_state, write_state
from lexigraft.index.store import open_index
from lexigraft.search.live import LiveSearcher
from tests.fuzz.crafting import fit_checksums
from tests.live import vectors_of
from tests.live_bm25 import PLAIN, live_bm25_of, segment_files, texts_of
from tests.live_grafted import FACTS, SlowGraft, add, documents_of, graft, grafted_live, stored_weights


def is_near(found, expected):
    assert found.keys() == expected.keys()
    for doc_id, row in expected.items():
        assert found[doc_id] == pytest.approx(row, abs=1e-4), doc_id


def test_rows_are_own_words_and_those_that_neighbours_and_vectors_give(tmp_path):
    texts, vectors = documents_of(30)
    live = grafted_live(tmp_path / "live", texts, vectors)
    state, slow = read_state(live), SlowGraft(vectors)
    assert state.generation == 2
    assert state.graft.width == 4
    expected = slow.weights(texts, list(texts), state.mean_length, state.graft.threshold)
    is_near(stored_weights(open_live(live)), expected)


def test_an_addition_finds_its_neighbours_and_nothing_old_changes(tmp_path):
    texts, vectors = documents_of(30)
    new, of_new = documents_of(6, seed=1, first=30)
    vectors |= of_new
    live = grafted_live(tmp_path / "live", texts, vectors)
    before = segment_files(live)
    with open_writer(live) as writer:
        writer.delete(["d3", "d4"])
    add(live, new, vectors)
    assert {name: segment_files(live)[name] for name in before} == before
    state, left = read_state(live), {doc_id: text for doc_id, text in texts.items() if doc_id not in ("d3", "d4")}
    expected = SlowGraft(vectors).weights({**new, **left}, list(new), state.mean_length, state.graft.threshold, texts)
    found = stored_weights(open_live(live))
    is_near({doc_id: found[doc_id] for doc_id in new}, expected)


@pytest.mark.parametrize("settings", [IndexSettings(), IndexSettings(reorder=True), IndexSettings(bits=8)])
def test_a_full_merge_is_the_graft_of_the_documents_that_are_left(tmp_path, settings):
    random = np.random.default_rng(4)
    texts, vectors = documents_of(25)
    live = grafted_live(tmp_path / "live", texts, vectors, settings=settings)
    living = dict(texts)
    for step in range(5):
        new, of_new = documents_of(int(random.integers(1, 7)), seed=10 + step, first=25 + 6 * step)
        replaced = {doc_id: f"{text} again" for doc_id, text in new.items()} | {"d7": f"w1 w{step}"}
        vectors |= of_new | {"d7": of_new[next(iter(new))]}
        add(live, replaced, vectors, replacing=True, settings=settings)
        living = {doc_id: text for doc_id, text in living.items() if doc_id not in replaced} | replaced
        gone = random.choice(sorted(living), 3, replace=False).tolist()
        with open_writer(live) as writer:
            writer.delete(gone)
            if step % 2:
                writer.merge(settings=settings)
        living = {doc_id: text for doc_id, text in living.items() if doc_id not in gone}
    with open_writer(live) as writer:
        writer.merge(everything=True, settings=settings)
    fresh = grafted_live(tmp_path / "fresh", living, vectors, settings=settings)
    (merged,), (made,) = segment_files(live).values(), segment_files(fresh).values()
    assert merged == made  # every byte of every file
    here, there = read_state(live), read_state(fresh)
    assert (here.graft, here.mean_length, here.vocab_fingerprint) == (
        there.graft, there.mean_length, there.vocab_fingerprint
    )  # fmt: skip


def test_a_merge_of_some_finds_their_neighbours_again(tmp_path):
    texts, vectors = documents_of(40)
    live = grafted_live(tmp_path / "live", texts, vectors)
    newer = {}
    for step in range(3):
        new, of_new = documents_of(5, seed=20 + step, first=40 + 5 * step)
        vectors |= of_new
        newer |= new
        add(live, new, vectors)
    with open_writer(live) as writer:
        (done,) = writer.merge()
    assert done.segments == ("000003", "000004", "000005")
    state = read_state(live)
    slow = SlowGraft(vectors)
    expected = slow.weights({**newer, **texts}, list(newer), state.mean_length, state.graft.threshold, texts)
    found = stored_weights(open_live(live))
    is_near({doc_id: found[doc_id] for doc_id in newer}, expected)


def test_what_is_lent_does_not_make_a_word_more_frequent(tmp_path):
    texts, vectors = documents_of(30)
    texts["d0"] = "rare w1"
    plain = live_bm25_of(tmp_path / "plain", [texts])
    live = grafted_live(tmp_path / "live", texts, vectors)
    for left in (None, ["d1", "d2"]):
        if left:
            for folder in (plain, live):
                with open_writer(folder) as writer:
                    writer.delete(left)
        queries = [open_live_encoder(open_live(folder), folder) for folder in (plain, live)]
        vectors_of_query = [[part.tolist() for part in one.encode("rare w1 w2 w2")] for one in queries]
        assert vectors_of_query[0] == vectors_of_query[1]
    holders = sum("rare" in row for row in stored_weights(open_live(live)).values())
    assert holders > 1
    alone = LiveIndex.of_index(open_index(next(iter(sorted((live / "segments").iterdir())))))
    assert alone.frequencies.document_frequency.tolist()[:2] == [
        1,
        sum("w1" in text.split() for text in texts.values()),
    ]


def test_a_cost_is_kept_to(tmp_path):
    texts, vectors = documents_of(200)
    uncut = grafted_live(tmp_path / "uncut", texts, vectors)
    own = sum(len(set(text.split())) for text in texts.values())
    assert open_live(uncut).segments[0].index.meta.n_postings > 1.3 * own
    live = grafted_live(tmp_path / "live", texts, vectors, replace(FACTS, cost=1.0))
    index = open_live(live).segments[0].index
    frequency = index.document_frequency
    cost = float((index.lengths * frequency).sum() / (frequency * frequency).sum())
    assert 0.95 < cost <= 1
    assert read_state(live).graft.threshold > 0


def test_weights_above_one_fit_the_scale(tmp_path):
    others = " ".join(f"x{number}" for number in range(12))  # of fewer words no own ones are lifted
    texts = {f"d{number}": "fox " * 50 + f"{others} w{number % 3}" for number in range(9)}
    vectors = {doc_id: np.array([1, number % 3, 0, 0.1]) for number, doc_id in enumerate(texts)}
    live = grafted_live(tmp_path / "live", texts, vectors, replace(FACTS, borrowed=3.0, told=3.0))
    segment = read_state(live).segments[0]
    assert segment.scale == 7 / 65535
    weights = [weight for row in stored_weights(open_live(live)).values() for weight in row.values()]
    assert 1 < max(weights) <= 7


@pytest.mark.parametrize("n", [1, 2])
def test_few_documents(tmp_path, n):
    texts, vectors = documents_of(n)
    live = grafted_live(tmp_path / "live", texts, vectors)
    assert LiveSearcher(open_live(live)).search(*open_live_encoder(open_live(live), live).encode("w1 w2 w3"), 5)
    new, of_new = documents_of(2, seed=5, first=5)
    add(live, new, of_new)
    assert open_live(live).n_documents == n + 2


def test_documents_alike_and_documents_without_words(tmp_path):
    texts, vectors = {"a": "red fox", "b": "red fox", "c": "", "d": "blue"}, dict.fromkeys("abcd", np.ones(4))
    live = grafted_live(tmp_path / "live", texts, vectors)
    found = stored_weights(open_live(live))
    assert found["d"].keys() == {"red", "fox", "blue"}
    assert "c" not in found  # without words it has no vector
    with open_writer(live) as writer:
        writer.delete(["a", "b", "c", "d"])
        writer.merge(everything=True)
    add(live, {"e": "green fox"}, {"e": np.ones(4)})
    assert stored_weights(open_live(live)).keys() == {"e"}
    with open_writer(live) as writer:
        writer.merge(everything=True)
    fresh = grafted_live(tmp_path / "fresh", {"e": "green fox"}, {"e": np.ones(4)})
    assert [*segment_files(live).values()] == [*segment_files(fresh).values()]


def test_what_does_not_fit_is_named(tmp_path):
    texts, vectors = documents_of(5)
    plain = live_bm25_of(tmp_path / "plain", [texts])
    with pytest.raises(InputError, match="has 4 rows, and there are 5 documents"):
        graft(plain, np.ones((4, 3)))
    with pytest.raises(InputError, match=r"document 'd2': its number 1 .* is nan"):
        graft(plain, np.where(np.arange(15).reshape(5, 3) == 7, np.nan, 1))
    with pytest.raises(InputError, match="document 'd0': all of its numbers are 0"):
        graft(plain, np.zeros((5, 3)))
    with pytest.raises(InputError, match="is not grafted and takes no vectors"):
        add(plain, {"x": "red"}, {"x": np.ones(4)})
    assert read_state(plain).generation == 1
    live = grafted_live(tmp_path / "live", texts, vectors)
    with (
        open_writer(live) as writer,
        pytest.raises(InputError, match="by vectors that were given; give those"),
    ):
        writer.append_texts(texts_of({"x": "red"}), PLAIN)
    with pytest.raises(InputError, match="vectors have 3 numbers a document, those of the index have 4"):
        add(live, {"x": "red"}, {"x": np.ones(3)})
    with open_writer(live) as writer:
        writer.delete(list(texts))
    with pytest.raises(InputError, match="there are no documents"):
        graft(live, np.ones((0, 4)))
    with create_live(tmp_path / "other") as writer:
        writer.append(vectors_of({"a": {0: 1.0}}, 2))
    with pytest.raises(InputError, match="only BM25 can be grafted"):
        graft(tmp_path / "other", np.ones((1, 4)))


def test_damage_is_named_and_a_copy_is_whole(tmp_path):
    texts, vectors = documents_of(10)
    live = grafted_live(tmp_path / "live", texts, vectors)
    copy_live(live, tmp_path / "copy")
    assert segment_files(tmp_path / "copy") == segment_files(live)
    for name in ("graft/vectors.npy", "graft/rows.npy", "own_lengths.npy"):
        damaged = tmp_path / name.replace("/", "-")
        shutil.copytree(live, damaged)
        file = damaged / "segments/000002" / name
        file.write_bytes(file.read_bytes()[:-1] + b"\x7f")
        with pytest.raises(ArtifactError, match=f"{file.name} does not match its checksum"):
            open_live(damaged)
        with pytest.raises(ArtifactError, match=file.name):
            add(damaged, {"x": "red"}, {"x": np.ones(4)})


@pytest.mark.parametrize(
    ("said", "why"),
    [({"neighbours": 0}, "neighbours = 0"), ({"cost": -1.0}, "cost = -1.0"), ({"width": 5}, "vectors of 5 numbers")],
)
def test_what_others_made_is_looked_at(tmp_path, said, why):
    texts, vectors = documents_of(6)
    live = grafted_live(tmp_path / "live", texts, vectors)
    state = read_state(live)
    write_state(live, replace(state, graft=replace(state.graft, **said)))
    with pytest.raises(ArtifactError, match=why):
        add(live, {"x": "red"}, {"x": np.ones(said.get("width", 4))})


def test_vectors_of_others_are_numbers(tmp_path):
    texts, vectors = documents_of(6)
    live = grafted_live(tmp_path / "live", texts, vectors)
    file = live / "segments/000002/graft/vectors.npy"
    np.save(file, np.full(24, np.nan, np.float16))
    fit_checksums(live, "segments/000002/graft/vectors.npy")
    with pytest.raises(ArtifactError, match=r"vectors\.npy holds what is no number"):
        open_live(live)


def test_passages_are_grafted_as_documents_are(tmp_path):
    passages = {"a": ["red fox", "grey stone"], "b": ["red fox den"], "c": ["grey wall"]}
    texts = texts_of(passages, passages=True)
    with create_live(tmp_path / "live") as writer:
        writer.append_texts(texts, PLAIN, passages=True)
    graft(tmp_path / "live", np.array([[1, 0.1], [0, 1.0], [1, 0], [0.1, 1]]), replace(FACTS, neighbours=1, told=0.0))
    live = open_live(tmp_path / "live")
    encoder = open_live_encoder(live, tmp_path / "live")
    assert LiveSearcher(live).search(*encoder.encode("den"), 5).doc_ids == ("b", "a")
    assert LiveSearcher(live).search(*encoder.encode("wall"), 5).doc_ids == ("c", "a")


def test_the_nearest_of_both():
    one = Neighbours(np.array([[1, -1], [0, -1]], np.int32), np.array([[0.5, -1], [0.5, -1]], np.float32))
    other = Neighbours(np.array([[3, 0], [-1, -1]], np.int32), np.array([[0.9, 0.5], [-1, -1]], np.float32))
    found = nearer(one, other, first=2)
    assert found.rows.tolist() == [[5, 1], [0, -1]]
    assert found.cosines.tolist() == [[np.float32(0.9), 0.5], [0.5, -1]]

"""A retriever over texts, indexes, live indexes and runs."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep

import pytest

from lexigraft.core.config import load_settings
from lexigraft.core.errors import InputError, LexigraftError
from lexigraft.core.settings import Settings
from lexigraft.retrieve import opened as opened_state
from lexigraft.retrieve.retriever import Retriever
from lexigraft.stages.layout import RunFolder
from lexigraft.stages.operating_point import OperatingPoint, write_operating_points
from lexigraft.stages.standalone import build
from lexigraft.whole_run import run as whole_run

TEXTS = ["the cat sat on the mat", "a dog and a cat", "sorting lists in order", "graphs of lists and dates"]


@pytest.fixture
def retriever():
    with Retriever.from_texts(TEXTS) as opened:
        yield opened


def ids(hits):
    return [hit.doc_id for hit in hits]


def test_texts_are_searchable_at_once(retriever):
    assert len(retriever) == 4
    hits = retriever.search("cat")
    assert sorted(ids(hits)) == ["0", "1"]
    assert [hit.rank for hit in hits] == [1, 2]
    assert hits[0].title
    assert retriever.search("zebra") == []
    assert ids(retriever.search("cats", k=1)) == ids(hits)[:1]  # words of one stem are one term
    assert {item.term for item in retriever.terms("sorted cats")} == {"cat", "sort"}


def test_an_explanation_adds_up(retriever):
    answer = retriever.answer("cat on lists")
    assert len(answer.hits) == len(retriever.search("cat on lists")) > 0
    for hit in answer.hits:
        why = retriever.explain("cat on lists", hit.doc_id)
        assert why.score == pytest.approx(hit.score)
        assert why.contributions == hit.matches
        assert sum(item.points for item in why.contributions) == why.points


def test_every_core_has_an_encoder_when_it_needs_one(monkeypatch):
    """With one encoder, whoever asks while another query is encoded would wait."""
    monkeypatch.setattr(opened_state, "usable_cores", lambda: 2)
    with Retriever.from_texts(TEXTS) as retriever:
        with retriever.opened.encoders.one() as first, ThreadPoolExecutor(1) as pool:
            assert ids(pool.submit(retriever.search, "cat").result(30)) == ids(retriever.search("cat"))
        with retriever.opened.encoders.one() as again, retriever.opened.encoders.one() as other:
            assert first in (again, other) and again is not other


def test_threads_that_ask_first_have_encoders_of_their_own(monkeypatch):
    """An encoder is not for two threads: what one of them reads would be cut by the lengths of the other's."""
    monkeypatch.setattr(opened_state, "usable_cores", lambda: 4)
    slowly = opened_state.open_live_encoder

    def open_slowly(*given):
        sleep(0.05)  # so that others come while the first is opened
        return slowly(*given)

    monkeypatch.setattr(opened_state, "open_live_encoder", open_slowly)
    with Retriever.from_texts(TEXTS) as retriever:
        together, lanes = Barrier(4), retriever.opened.encoders

        def take(_):
            together.wait(30)
            with lanes.one() as encoder:
                together.wait(30)
                return id(encoder)

        with ThreadPoolExecutor(4) as pool:
            assert len(set(pool.map(take, range(4)))) == 4


def test_many_queries_and_many_threads(retriever):
    queries = ["cat", "lists", "dates of dogs", "nothing known here zzz"] * 20
    expected = [retriever.search(query) for query in queries]
    assert retriever.search_many(queries) == expected
    assert retriever.search_many(queries, threads=4) == expected
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(retriever.search, queries)) == expected


def test_ids_titles_and_what_is_wrong_with_them():
    named = Retriever.from_texts(iter(["one cat", "two cats"]), ids=["x", "y"], titles=["One", "Two"])
    assert {(hit.doc_id, hit.title) for hit in named.search("cat")} == {("x", "One"), ("y", "Two")}
    for arguments, message in [
        ({"texts": ["a b", "c d"], "ids": ["x", "x"]}, "comes twice"),
        ({"texts": ["cat", "dog"], "ids": ["x"]}, "only 1 ids, titles or metadata"),
        ({"texts": ["cat"], "ids": ["x", "y"]}, "more ids, titles or metadata"),
        ({"texts": ["cat"], "titles": []}, "only 0 ids, titles or metadata"),
        ({"texts": "cat"}, "one string"),
        ({"texts": [1]}, "not allowed: a text"),
        ({"texts": []}, "no documents"),
    ]:
        with pytest.raises(LexigraftError, match=message):
            Retriever.from_texts(**arguments)


def test_a_saved_retriever_is_the_same_and_moves(retriever, tmp_path):
    retriever.save(tmp_path / "saved")
    (tmp_path / "saved").rename(tmp_path / "moved")
    with Retriever.open(tmp_path / "moved") as moved:
        assert moved.search("cat lists") == retriever.search("cat lists")
    with pytest.raises(LexigraftError, match="is there already"):
        retriever.save(tmp_path / "moved")


def test_a_closed_retriever_says_so(retriever):
    retriever.close()
    with pytest.raises(LexigraftError, match="was closed"):
        retriever.search("cat")


def test_documents_come_and_go(retriever):
    assert retriever.add(["a zebra and a cat"], ids=["z"]) == 1
    assert ids(retriever.search("zebra")) == ["z"]
    assert sorted(ids(retriever.search("cat"))) == ["0", "1", "z"]
    with pytest.raises(LexigraftError, match="z"):
        retriever.add(["another zebra"], ids=["z"])
    retriever.add(["another zebra"], ids=["z"], replacing=True)
    assert sorted(ids(retriever.search("cat"))) == ["0", "1"]
    assert retriever.delete(["z"]) == 1
    assert retriever.search("zebra") == []
    with pytest.raises(LexigraftError, match="nobody"):
        retriever.delete(["nobody"])


def test_a_plain_index_does_not_change(collection, tmp_path):
    build(str(collection), tmp_path / "index", Settings())
    with Retriever.open(tmp_path / "index") as plain:
        with pytest.raises(LexigraftError, match=r"plain index, which is not added to.*lexigraft index live"):
            plain.add(["text"])
        with pytest.raises(LexigraftError, match="an index has only one"):
            Retriever.open(tmp_path / "index", system="bm25")


def test_what_is_nothing_to_search_is_named(collection, tmp_path):
    for path, message in [
        (tmp_path / "absent", "there is no run at"),
        (collection, "is a collection"),
        (collection / "corpus.jsonl", "is a file"),
    ]:
        with pytest.raises(LexigraftError, match=message):
            Retriever.open(path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "photo.png").touch()
    with pytest.raises(LexigraftError, match=r"holds photo.png; give the folder of a run .* an index .* live index"):
        Retriever.open(tmp_path / "other")


def test_the_operating_point_of_a_run_is_searched(collection, tmp_path):
    settings = load_settings(None, ["run.systems=bm25", "prune.lexical=[[0,0],[2,3]]"])
    whole_run(str(collection), tmp_path / "run", settings)
    query = "remove duplicates but keep order of lists"
    whole = Retriever.open(tmp_path / "run")
    assert whole.operating_point == (0, 0)
    write_operating_points(RunFolder(tmp_path / "run"), {"bm25": OperatingPoint(2, 3, "chosen by a test")})
    pruned = Retriever.open(tmp_path / "run")
    assert pruned.operating_point == (2, 3)
    assert len(pruned.terms(query)) == 2
    assert len(whole.terms(query)) > 2
    assert Retriever.open(tmp_path / "run", qk=0, dk=0).search(query) == whole.search(query)
    assert not RunFolder(tmp_path / "run").index("judged", "bm25", 1).exists()
    narrow = Retriever.open(tmp_path / "run", dk=1)  # an index that the run does not have is made, and kept
    assert (narrow.operating_point, len(narrow.search(query)) <= len(whole.search(query))) == ((2, 1), True)
    assert RunFolder(tmp_path / "run").index("judged", "bm25", 1).is_dir()
    assert Retriever.open(tmp_path / "run", "bm25 (2,3)").operating_point == (2, 3)
    assert Retriever.open(tmp_path / "run", "bm25 (0, 1)").operating_point == (0, 1)
    with pytest.raises(LexigraftError, match=r"'bm25 \(2,3\)' says which \(qk, dk\) already"):
        Retriever.open(tmp_path / "run", "bm25 (2,3)", dk=3)
    with pytest.raises(LexigraftError, match="no system 'esplade'; present: bm25"):
        Retriever.open(tmp_path / "run", system="esplade")
    for hit in pruned.answer(query).hits:
        assert sum(match.contribution for match in hit.matches) == pytest.approx(hit.score)


def test_a_file_of_documents_with_fields_of_any_name(tmp_path):
    (tmp_path / "p.csv").write_text("sku,was,price\n7,one cat,3\n8,two dogs,4\n")
    with Retriever.from_file(tmp_path / "p.csv", fields="id=sku,text=was") as opened:
        assert [hit.doc_id for hit in opened.search("dogs")] == ["8"]
    with pytest.raises(InputError, match="its fields are sku, was, price"):
        Retriever.from_file(tmp_path / "p.csv")

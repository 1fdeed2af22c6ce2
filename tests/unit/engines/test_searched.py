"""What a retriever finds in an engine is what the local index finds, and is shown and explained alike."""

import shutil

import pytest

from lexigraft.core.errors import ArtifactError, InputError, LexigraftError, MissingExtraError, SettingError
from lexigraft.core.settings import IndexSettings, Settings
from lexigraft.engines import opening
from lexigraft.engines.address import parse_address
from lexigraft.retrieve.engine_changes import delete_documents, load_place
from lexigraft.retrieve.live_changes import merge_segments
from lexigraft.retrieve.place import find_place
from lexigraft.retrieve.retriever import Retriever
from tests.live_bm25 import live_bm25_of
from tests.unit.engines.conftest import ADDRESS

QUERIES = ["remove duplicate items keeping order", "parsing dates", "sort a list", "순서를", "nothingknown", ""]


def load(path, **named):
    address = parse_address(ADDRESS)
    return load_place(find_place(path, **named), opening.open_engine(address), address)


@pytest.fixture
def loaded(run, engines):
    load(run)
    with Retriever.open(ADDRESS) as there, Retriever.open(run) as here:
        yield there, here


def test_it_finds_and_shows_what_the_local_one_does(loaded):
    there, here = loaded
    assert len(there) == len(here) == 6 and there.operating_point == here.operating_point
    for query in QUERIES:
        assert there.search(query) == here.search(query)
        assert there.answer(query).as_json() == here.answer(query).as_json()
        assert there.terms(query) == here.terms(query) and there.unknown_words(query) == here.unknown_words(query)
    assert there.search_many(QUERIES, threads=2) == here.search_many(QUERIES)
    assert there.explain("sort lists", "d2") == here.explain("sort lists", "d2")


@pytest.mark.parametrize(
    "where",
    ["year >= 2001", 'year = 2000 or tags has "t3"', "not day < 2020-01-04", 'not lang = "en"', 'open = "true"',
     ["year >= 2001", 'lang = "en"']],
)  # fmt: skip
def test_conditions(loaded, where):
    there, here = loaded
    found = there.search("list order dates strings graph", where=where)
    assert found == here.search("list order dates strings graph", where=where)
    assert 0 < len(found) < 5


def test_what_cannot_be_asked_is_said(loaded, tmp_path):
    there, _ = loaded
    for ask, message in [
        (lambda: there.search("sort", overlap=0.5), "knows no overlap"),
        (lambda: there.answer("sort", two_step=10), "knows no two_step"),
        (lambda: there.search("sort", where="colour = red"), "no key 'colour'"),
        (lambda: there.search("sort", k=0), "1 or more"),
        (lambda: there.add(["a text"]), "not added to from here"),
        (lambda: there.delete(["d1"]), "not deleted from"),
        (lambda: there.save(tmp_path / "saved"), "not saved from here"),
    ]:
        with pytest.raises(LexigraftError, match=message) as error:
            ask()
        assert "secret" not in str(error.value) and "\n" not in str(error.value)


def test_what_the_local_index_has_otherwise_is_shown_by_its_title_alone(loaded, engines):
    there, here = loaded
    rows = engines["papers"].rows
    rows["new"] = rows["d2"]._replace(row_id="new", title="Of another load")
    rows["d1"] = rows["d1"]._replace(impacts=rows["d1"].impacts + 1, title="Changed there")
    shown = {hit.doc_id: hit for hit in there.answer("sort a list keeping order").hits}
    assert shown["new"].title == "Of another load" and shown["new"].text is None and not shown["new"].matches
    assert shown["d1"].title == "Changed there" and not shown["d1"].matches
    assert shown["d2"].matches and shown["d2"].snippet and shown["d2"].rank < 4
    assert len(there) == len(here) + 1


def test_an_index_of_passages(collection, engines, lexigraft, tmp_path):
    index = tmp_path / "index"
    lexigraft("index", "--data", collection, "--out", index, "--set", "data.passage_words=4")
    load(index)
    with Retriever.open(ADDRESS) as there, Retriever.open(index) as here:
        assert there.in_passages and len(there) == len(here) > 6
        for query in QUERIES:
            assert there.search(query, k=2) == here.search(query, k=2)
            assert there.answer(query).as_json() == here.answer(query).as_json()
        left = delete_documents(engines["papers"], parse_address(ADDRESS), ["d2", "never there"])
        assert left.n_left == len(here) - left.n_rows and left.n_rows > 1
        assert "d2" not in [hit.doc_id for hit in there.search("sort a list in place")]


def test_a_live_index_in_one_piece(engines, tmp_path):
    live_bm25_of(tmp_path / "fine", [{"a": "one cat"}])
    with pytest.raises(InputError, match=r"weights of 16 bits, whose sums .* index\.bits=8 where it is made"):
        load(tmp_path / "fine")
    texts = {"0": "one cat", "1": "two dogs and a cat", "2": "three lists"}
    with Retriever.open(live_bm25_of(tmp_path / "live", [texts], settings=IndexSettings(bits=8))) as live:
        live.add(["a fourth cat"], ids=["x"])
        with pytest.raises(InputError, match=r"index merge .* --all"):
            load(live.place.index)
        merge_segments(live.place.index, True, Settings())
        live.refresh()
        load(live.place.index)
        with Retriever.open(ADDRESS) as there:
            assert there.search("cat dogs") == live.search("cat dogs") != []
            with pytest.raises(InputError, match="not added to"):
                there.add(["more"])
        live.delete(["x"])
        with pytest.raises(ArtifactError, match="another index"):
            Retriever.open(ADDRESS)


@pytest.fixture
def moved(run, engines, tmp_path):
    """A run that was loaded and then moved."""
    shutil.copytree(run, tmp_path / "first")
    load(tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "second")
    return tmp_path / "second"


def test_an_index_that_was_moved(moved, run, tmp_path):
    with pytest.raises(ArtifactError, match=r"is not there; give .* encoder=PATH"):
        Retriever.open(ADDRESS)
    with Retriever.open(run) as here:
        here.save(tmp_path / "saved")
        for encoder in (moved, str(moved / "judged/bm25/index"), tmp_path / "saved"):
            with Retriever.open(ADDRESS, encoder=encoder) as there:
                assert there.search("sort a list") == here.search("sort a list")
                assert there.answer("sort").hits[0].matches


def test_an_index_that_was_made_anew_or_is_of_others(engines, tmp_path, collection, lexigraft):
    index, other = tmp_path / "index", tmp_path / "other"
    lexigraft("index", "--data", collection, "--out", index)
    load(index)
    lexigraft("index", "--data", collection, "--out", other, "--set", "lexical.stemmer=none")
    with pytest.raises(ArtifactError, match="another vocabulary"):
        Retriever.open(ADDRESS, encoder=other)
    shutil.rmtree(index)
    lexigraft("index", "--data", collection, "--out", index, "--set", "lexical.k1=0.5")
    with pytest.raises(ArtifactError, match="made anew or changed since"):
        Retriever.open(ADDRESS)
    with Retriever.open(ADDRESS, encoder=index) as there:
        assert there.search("sort a list") and not there.answer("sort a list").hits[0].matches


def test_settings_that_do_not_fit(run, engines):
    with pytest.raises(ArtifactError, match="no collection at qdrant://localhost:6333/papers"):
        Retriever.open(ADDRESS)
    load(run)
    for named, message in [({"dk": 5}, "leave out dk"), ({"system": "bm25"}, "give that run, too: encoder=PATH")]:
        with pytest.raises(SettingError, match=message):
            Retriever.open(ADDRESS, **named)
    with pytest.raises(SettingError, match="encoder is for an engine"):
        Retriever.open(run, encoder=run)
    assert Retriever.open(ADDRESS, encoder=run, system="bm25").search("sort")
    few = Retriever.open(ADDRESS, qk=1)
    assert few.search("sort a list in order") == Retriever.open(run, qk=1).search("sort a list in order")


def test_a_client_that_is_not_installed(monkeypatch):
    def missing(address):
        raise MissingExtraError(str(address), "qdrant_client", "pip install 'lexigraft[engines]'")

    monkeypatch.setattr(opening, "open_engine", missing)
    with pytest.raises(MissingExtraError, match="qdrant_client") as error:
        Retriever.open(ADDRESS)
    assert "a-secret" not in str(error.value)

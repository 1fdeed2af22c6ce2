"""Systems that are replaced or added while a server runs."""

import gc
import shutil
import weakref
from types import SimpleNamespace

import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.serve import catalogue, peer_system
from lexigraft.serve.offered import Offer, Source, offers_of
from lexigraft.serve.peer_system import PeerSystem
from lexigraft.serve.refused import RefusedError
from lexigraft.serve.term_system import REPLACED, TermSystem
from tests.serving import InProcess


@pytest.fixture
def no_collection():
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def copied(run, tmp_path):
    return shutil.copytree(run, tmp_path / "run")


def offer_of(run):
    (offer,) = offers_of(Source(run, "run"), True)
    return offer


def touch(file):
    """As a writer does it, who puts another file in its place."""
    newer = file.with_name(f"{file.name}.new")
    newer.write_bytes(file.read_bytes())
    newer.replace(file)


def test_what_was_replaced_keeps_no_files(run, no_collection, monkeypatch):
    system = TermSystem(offer_of(run), 2)
    state = weakref.ref(system.state)
    del system
    assert state() is None
    peer = SimpleNamespace(answer=lambda *_: None, opened=SimpleNamespace(n_documents=1), keeps_texts=False)
    monkeypatch.setattr(peer_system, "OpenedPeer", lambda _: peer)
    dense = PeerSystem(Offer("dense", Source(run, "run"), "bm25", "dense"), 2)
    gone = weakref.ref(dense)
    del dense
    assert gone() is None


def test_an_index_of_another_version_is_not_mixed_in(copied, monkeypatch):
    system = TermSystem(offer_of(copied), 1)
    index = copied / "judged" / "bm25"
    same = next(index.glob("index*"))
    shutil.copytree(same, index / "index-dk3")
    assert system.at(None, 3)[0].encoders is system.state.encoders
    shutil.copytree(same, index / "index-dk4")
    parents = property(lambda one: {"vectors": str(one.place.dk)})
    monkeypatch.setattr("lexigraft.retrieve.opened.Opened.parents", parents)
    with pytest.raises(RefusedError, match=REPLACED) as refused:
        system.at(None, 4)
    assert refused.value.status == 503


def test_encoders_of_a_model_are_kept_and_bm25s_are_not(run, monkeypatch):
    offer = offer_of(run)
    former = TermSystem(offer, 1)
    assert TermSystem(offer, 1, former).state.encoders is not former.state.encoders
    monkeypatch.setattr("lexigraft.retrieve.opened.Opened.is_model", True)
    assert TermSystem(offer, 1, former).state.encoders is former.state.encoders


def test_one_that_cannot_be_opened_keeps_no_other_from_being_refreshed(copied, monkeypatch):
    shelf, tried, clock = InProcess([copied]).shelf, [], [100.0]
    offers, opened = catalogue.offers_of, catalogue._opened

    def more(source, alone):
        (first,) = offers(source, alone)
        return [first, first._replace(name="broken", recommended=False)]

    def open_or_not(offer, *others):
        tried.append(offer.name)
        if offer.name == "broken" and not is_mended:
            raise ValueError("junk")
        return opened(offer, *others)

    is_mended = False
    monkeypatch.setattr(catalogue, "offers_of", more)
    monkeypatch.setattr(catalogue, "_opened", open_or_not)
    monkeypatch.setattr(catalogue, "monotonic", lambda: clock[0])
    touch(copied / "report.json")
    for _ in range(5):
        shelf.refresh()
    assert shelf.current.names == ["bm25"] and shelf.n_refreshed == 1 and tried == ["bm25", "broken"]
    is_mended = True
    clock[0] += catalogue.SECONDS_BETWEEN_TRIES
    shelf.refresh()
    current = shelf.current
    assert current.names == ["bm25", "broken"] and tried[2:] == ["broken"]
    shelf.refresh()
    assert shelf.current is current


def test_the_watch_goes_on_whatever_fails(run, monkeypatch, caplog):
    shelf = InProcess([run]).shelf
    monkeypatch.setattr(catalogue, "SECONDS_BETWEEN_LOOKS", 0)
    looks = []

    def fail(*_):
        looks.append(1)
        if len(looks) == 3:
            shelf.close()
        raise MemoryError("not enough")

    monkeypatch.setattr(shelf, "_load_kernels", fail)
    monkeypatch.setattr(shelf, "_read", fail)
    shelf._watch()
    assert len(looks) == 3 and caplog.text.count("MemoryError: not enough") == 2  # a line, and its traceback


def test_what_was_mended_and_breaks_again_is_said_again(copied, monkeypatch, caplog):
    shelf, error = InProcess([copied]).shelf, ArtifactError("broken")
    read = shelf._read

    def fail(_):
        raise error

    for broken in (True, True, False, True):
        monkeypatch.setattr(shelf, "_read", fail if broken else read)
        shelf.refresh()
    assert caplog.text.count("broken") == 2


def test_terms_are_sorted_once(run):
    system = TermSystem(offer_of(run), 1)
    assert system.terms_in_order is system.terms_in_order


def test_words_of_documents_are_read_while_nobody_asks(run):
    shelf = catalogue.Shelf([run], 1)
    system = shelf.current.system(None)
    system.state.words._known.clear()
    shelf._read_ahead()
    assert {"Remove", "duplicates", "datetime"} <= system.state.words._known.keys()
    assert next(system.unread, "all of them") == "all of them"

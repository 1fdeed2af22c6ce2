"""A live index in whose place another one comes while it is opened: either is opened, and never parts of both."""

import shutil

import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.core.exchange import exchange
from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import Document
from lexigraft.index.live import counts, reader
from lexigraft.index.live.opening import create_live
from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import read_state


def make(folder, name, n_documents=3):
    """A live index of the first generation; all of them have segments of the same names."""
    with create_live(folder) as writer:
        words = " ".join(f"{name}{number}" for number in range(50))
        documents = [Document(f"{name}{n}", "", f"{words} river bank{n}") for n in range(n_documents)]
        writer.append_texts(documents, LexicalSettings())
    return folder


def ids(index):
    return {doc_id for segment in index.segments for doc_id in segment.index.doc_ids}


@pytest.fixture
def places(tmp_path):
    live, other = make(tmp_path / "live", "a"), make(tmp_path / "other", "b")
    assert read_state(live).generation == read_state(other).generation
    return live, other


def replacing_once(monkeypatch, module, name, places):
    """Let another live index come in the place of the first one when `name` is first called, and that one go."""
    called, original = [], getattr(module, name)

    def replace_first(*arguments, **options):
        if not called:
            called.append(arguments)
            assert exchange(*places)
            shutil.rmtree(places[1])
        return original(*arguments, **options)

    monkeypatch.setattr(module, name, replace_first)
    return called


@pytest.mark.parametrize(("module", "name"), [(reader, "open_index"), (reader, "read_allowed"), (counts, "open_array")])
def test_another_one_of_the_same_generation(places, monkeypatch, module, name):
    """Before, "does not match its checksum: it was changed or damaged" was said of files that nobody had damaged."""
    called = replacing_once(monkeypatch, module, name, places)
    found = ids(open_live(places[0]))
    assert called
    assert found == {"b0", "b1", "b2"}


def test_without_a_way_through_descriptors(places, monkeypatch):
    """As on macOS: the state alone tells that it is another index."""
    monkeypatch.setattr("lexigraft.core.pinned.DESCRIPTORS", places[0] / "nowhere")
    called = replacing_once(monkeypatch, reader, "read_plain_file", places)
    assert ids(open_live(places[0])) == {"b0", "b1", "b2"}
    assert called


def test_what_is_damaged_is_still_said_with_its_path(places):
    file = places[0] / "segments/000001/counts/counts.npy"
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content[:-1] + b"\1")
    with pytest.raises(ArtifactError, match="does not match its checksum") as raised:
        open_live(places[0])
    assert str(file) in str(raised.value) and "/proc/" not in str(raised.value)


def test_counts_are_of_the_very_segment_that_was_opened(tmp_path, monkeypatch):
    """Before, they were opened by their path: those of a folder that had come in its place, not compared by anybody."""
    live, other = make(tmp_path / "live", "a"), make(tmp_path / "other", "b", n_documents=5)
    segments, original = (live / "segments/000001", other / "segments/000001"), reader.open_segment_counts

    def open_while_another_is_there(*arguments):
        assert exchange(*segments)
        try:
            return original(*arguments)
        finally:
            assert exchange(*segments)

    monkeypatch.setattr(reader, "open_segment_counts", open_while_another_is_there)
    assert ids(open_live(live)) == {"a0", "a1", "a2"}

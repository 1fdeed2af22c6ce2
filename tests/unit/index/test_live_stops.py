"""Ctrl-C and errors of the disk at every place at which a change waits for it: the old state or the new one, whole."""

import errno

import pytest

from lexigraft.index.live.opening import create_live, open_or_begin, open_writer
from lexigraft.index.live.reader import open_live
from tests.conftest import index_of
from tests.live import ENCODER, given_metadata, live_of, living_ids, shown_metadata, vectors_of
from tests.live_stops import stopped_at_every_sync

OLD = {"a", "b", "c"}


KNOWN = {doc_id: {"year": 2000 + place, "of": doc_id} for place, doc_id in enumerate(sorted(OLD))}
LATER = {"a": {"year": 2024, "tags": ("x",)}, "new": {"year": 2025}}


def begin(folder):
    with create_live(folder) as writer:
        writer.append(vectors_of({"a": {0: 1.0}}, 2), metadata=given_metadata({"a": KNOWN["a"]}))


def adopt(folder):
    with create_live(folder) as writer:
        writer.adopt(folder.parent / "index", ENCODER, given_metadata({"a": KNOWN["a"]})())


def append(folder):
    with open_writer(folder) as writer:
        added = vectors_of({"a": {1: 1.0}, "new": {0: 1.0}}, 2)
        writer.append(added, replacing=True, metadata=given_metadata(LATER))


def set_metadata(folder):
    with open_writer(folder) as writer:
        writer.set_metadata(given_metadata({"a": {"year": 2024}, "c": {"lang": "de"}})())


def delete(folder):
    with open_writer(folder) as writer:
        writer.delete(["a", "c"])


def merge(folder):
    with open_writer(folder) as writer:
        writer.merge(everything=True)


@pytest.fixture
def prepared(tmp_path):
    """A live index with a deleted row, and a plain one."""
    live = live_of(tmp_path / "prepared", [{"a": {0: 1.0}, "b": {0: 2.0}, "x": {0: 1.0}}, {"c": {0: 1.0}}], 2)
    with open_writer(live) as writer:
        writer.set_metadata(given_metadata({**KNOWN, "x": {"year": 1}})())
        writer.delete(["x"])
    index_of(vectors_of({"a": {0: 1.0}}, 2).matrix, tmp_path / "index")
    return live


DISK = pytest.param(OSError(errno.EIO, "input/output error"), id="disk", marks=pytest.mark.integration)


@pytest.mark.parametrize("error", [pytest.param(KeyboardInterrupt(), id="stop"), DISK])
@pytest.mark.parametrize(
    ("change", "before", "afterwards"),
    [
        (begin, {}, {"a": KNOWN["a"]}),
        (adopt, {}, {"a": KNOWN["a"]}),
        (append, KNOWN, {**KNOWN, **LATER}),
        (delete, KNOWN, {"b": KNOWN["b"]}),
        (set_metadata, KNOWN, {**KNOWN, "a": {"year": 2024, "of": "a"}, "c": {**KNOWN["c"], "lang": "de"}}),
        (merge, KNOWN, KNOWN),
    ],
    ids=["begin", "adopt", "append", "delete", "metadata", "merge"],
)
def test_a_stop_at_every_sync(tmp_path, prepared, monkeypatch, change, before, afterwards, error):
    for folder, changed in stopped_at_every_sync(tmp_path, prepared if before else None, monkeypatch, change, error):
        right = afterwards if changed else before
        if right:
            assert known(folder) == (right.keys(), right)
        with open_or_begin(folder) as writer:  # whoever comes next can go on
            writer.append(vectors_of({"next": {0: 1.0}}, 2), metadata=given_metadata({"next": {"year": 9}}))
        assert known(folder) == (right.keys() | {"next"}, {**right, "next": {"year": 9}})


def known(folder):
    """The documents that live, and what is known of them."""
    live = open_live(folder, checksums=True)
    return living_ids(live), shown_metadata(live)


def test_a_writer_that_goes_on_after_an_error_starts_from_what_is_on_the_disk(prepared, monkeypatch):
    with open_writer(prepared) as writer:
        renamed = type(prepared).replace

        def fail(path, target):
            renamed(path, target)
            raise OSError(errno.EIO, "input/output error")

        monkeypatch.setattr(type(prepared), "replace", fail)
        with pytest.raises(OSError, match="input/output"):
            writer.delete(["a"])
        monkeypatch.undo()
        writer.delete(["b"])
        writer.append(vectors_of({"d": {0: 1.0}}, 2))
    assert living_ids(open_live(prepared, checksums=True)) == {"c", "d"}

"""A live index that is saved while another process writes to it: the copy is one state of it, whole."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import Document
from lexigraft.index.live.opening import create_live, open_writer
from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import read_state
from lexigraft.retrieve.live_changes import status
from lexigraft.retrieve.retriever import Retriever

SAVES = 25
SIZE = 4  # documents that come and go together


def add(writer, number):
    documents = [Document(f"d{number}-{part}", "", f"river bank{number} {part}") for part in range(SIZE)]
    writer.append_texts(documents, LexicalSettings(), replacing=True)


def write_until(live, stop):
    """The other process: documents come in fours, the oldest four go, and segments are merged."""
    number = 0
    while not stop.exists():
        number += 1
        with open_writer(live) as writer:
            add(writer, number)
            writer.delete([f"d{number - 1}-{part}" for part in range(SIZE)], missing="ok")
            writer.merge(everything=number % 2 == 0)


def begin(live):
    with create_live(live) as writer:
        add(writer, 0)
    return live


def test_what_is_saved_is_one_state_of_it(tmp_path):
    live, stop = begin(tmp_path / "live"), tmp_path / "stop"
    call = [sys.executable, "-m", "tests.unit.retrieve.test_saved_beside_writer", str(live), str(stop)]
    writer = subprocess.Popen(call, cwd=Path(__file__).parents[3])
    generations = set()
    try:
        while read_state(live).generation < 5:
            assert writer.poll() is None
        for number in range(SAVES):
            out = tmp_path / f"saved{number}"
            Retriever.open(live).save(out)
            generations.add(status(out / "index", verify=True)["generation"])
            with Retriever.open(out) as saved:
                found = {hit.doc_id for hit in saved.search("river", k=100)}
            assert len(found) == open_live(out / "index").n_documents
            assert len(found) in (SIZE, 2 * SIZE)
            groups = {doc_id.split("-")[0] for doc_id in found}
            assert found == {f"{group}-{part}" for group in groups for part in range(SIZE)}
            names = {segment.name for segment in read_state(out / "index").segments}
            assert {path.name for path in (out / "index/segments").iterdir()} == names  # and nothing else
            shutil.rmtree(out)
        assert writer.poll() is None
    finally:
        stop.touch()
        assert writer.wait(60) == 0
    assert len(generations) > 1, "nothing was written beside the saves"


def test_a_state_that_goes_while_it_is_copied_is_let_go(tmp_path, monkeypatch):
    live = begin(tmp_path / "live")
    opened, copy, written = Retriever.open(live), shutil.copyfile, []

    def copy_beside_a_writer(source, target, **options):
        if not written:
            written.append(source)
            with open_writer(live) as writer:
                add(writer, 1)
                writer.delete([f"d0-{part}" for part in range(SIZE)])
                writer.merge(everything=True)
        return copy(source, target, **options)

    monkeypatch.setattr(shutil, "copyfile", copy_beside_a_writer)
    opened.save(tmp_path / "saved")
    assert written
    assert status(tmp_path / "saved/index", verify=True)["generation"] == read_state(live).generation
    with Retriever.open(tmp_path / "saved") as saved:
        assert {hit.doc_id for hit in saved.search("river", k=9)} == {f"d1-{part}" for part in range(SIZE)}


@pytest.mark.parametrize("file", ["manifest.json", "stream.npy", "counts/counts.npy"])
def test_what_is_damaged_is_not_saved(tmp_path, file):
    live = begin(tmp_path / "live")
    opened = Retriever.open(live)
    path = live / "segments/000001" / file
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.unlink()
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match="does not match its checksum") as raised:
        opened.save(tmp_path / "saved")
    assert str(path) in str(raised.value)
    assert not (tmp_path / "saved").exists()
    path.unlink()
    with pytest.raises(ArtifactError, match="is missing"):
        opened.save(tmp_path / "saved")


if __name__ == "__main__":
    write_until(*map(Path, sys.argv[1:]))

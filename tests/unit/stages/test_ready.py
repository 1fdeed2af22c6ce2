"""Which systems of a run can be searched: those whose index is there, also for the moment at which it is replaced."""

import pytest

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import ArtifactError
from lexigraft.core.sealed_json import write_sealed
from lexigraft.retrieve.retriever import Retriever
from lexigraft.stages.layout import JUDGED, RunFolder


@pytest.fixture
def run(tmp_path):
    """A run of two systems, the index of one of which is recommended."""
    folder = RunFolder(tmp_path / "run")
    for name in ("bm25", "other"):
        with write_artifact(folder.index(JUDGED, name, 0), Manifest("index", 2, {"of": name})) as draft:
            (draft / "meta.json").write_text("{}")
    said = {"views": [JUDGED], "systems": ["bm25", "other"], "models": {}, "bases": {}, "recommended": "other"}
    write_sealed(folder.contents, said)
    return folder


def test_an_index_that_a_writer_has_moved_aside_is_there(run):
    """On file systems where folders cannot exchange names; before, another system answered for that moment."""
    index = run.index(JUDGED, "other", 0)
    index.rename(index.with_name(f"{index.name}.old-4711"))
    assert run.ready() == {"bm25": JUDGED, "other": JUDGED}


def test_an_index_that_is_gone_is_not(run):
    index = run.index(JUDGED, "other", 0)
    index.rename(run.root / "elsewhere")
    assert run.ready() == {"bm25": JUDGED}


def test_a_damaged_one_is_said_and_no_other_answers(run):
    manifest = run.index(JUDGED, "other", 0) / "manifest.json"
    for content in (b"{", b"", None):
        manifest.unlink()
        if content is not None:
            manifest.write_bytes(content)
        assert "other" in run.ready()
        with pytest.raises(ArtifactError, match=r"has no readable manifest\.json"):
            Retriever.open(run.root).search("river")

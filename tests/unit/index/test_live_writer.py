import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from lexigraft.core.artifact import Manifest, read_manifest, write_artifact
from lexigraft.core.errors import ArtifactError, InputError, SettingError, VocabularyMismatchError
from lexigraft.core.settings import IndexSettings
from lexigraft.index.build import build_index
from lexigraft.index.live.merging import plan_merge
from lexigraft.index.live.opening import create_live, open_or_begin, open_writer
from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import SegmentState, read_state
from lexigraft.index.store import open_index
from tests.conftest import index_of
from tests.live import ENCODER, live_of, living_ids, vectors_of


def tree(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.name != ".lock"}


def test_what_does_not_fit_is_refused_and_changes_nothing(tmp_path):
    live = live_of(tmp_path / "live", [{"a": {0: 1.0}}], 3)
    before = tree(live)
    other_model = {"kind": "model", "model": "m", "fingerprint": "x"}
    with open_writer(live) as writer:
        with pytest.raises(VocabularyMismatchError, match="the documents to add"):
            writer.append(vectors_of({"b": {0: 1.0}}, 4))
        with pytest.raises(InputError, match=r"encoded by \{'kind': 'model', 'fingerprint': 'x'\}, those of .* 'none'"):
            writer.append(vectors_of({"b": {0: 1.0}}, 3, query_encoder=other_model))
        with pytest.raises(InputError, match=r"rows to add are passages, those of .* whole documents"):
            writer.append(vectors_of({"b": [{0: 1.0}]}, 3, passages=True))
        with pytest.raises(SettingError, match=r"keep = 5 does not fit .* keep all terms"):
            writer.append(vectors_of({"b": {0: 1.0}}, 3), keep=5)
        with pytest.raises(InputError, match="no documents to add"):
            writer.append(vectors_of({}, 3))
        with pytest.raises(InputError, match=r"1 of the 2 documents to add are in .* already \(such as 'a'\)"):
            writer.append(vectors_of({"b": {0: 1.0}, "a": {0: 1.0}}, 3))
        with pytest.raises(InputError, match="greater than 0"):
            writer.append(vectors_of({"a": {0: -1.0}}, 3), replacing=True)  # after the old one was marked as deleted
        with pytest.raises(SettingError, match="missing = 'maybe'"):
            writer.delete(["a"], "maybe")
    assert tree(live) == before
    assert living_ids(open_live(live)) == {"a"}


def test_a_model_is_the_same_wherever_it_lies(tmp_path):
    model = {"kind": "model", "model": "../m", "fingerprint": "x"}
    live = live_of(tmp_path / "live", [{"a": {0: 1.0}}], 2, query_encoder=model)
    with open_writer(live) as writer:
        writer.append(vectors_of({"b": {0: 1.0}}, 2, query_encoder={**model, "model": "elsewhere/m"}))
    assert open_live(live).query_encoder == model
    for name in ("000001", "000002"):
        assert open_index(live / "segments" / name).meta.query_encoder["model"] == "../../../m"


def test_keep_is_that_of_the_first_segment(tmp_path):
    with create_live(tmp_path / "live") as writer:
        writer.append(vectors_of({"a": {0: 1.0, 1: 2.0, 2: 3.0}}, 3), keep=2)
        writer.append(vectors_of({"b": {0: 1.0, 1: 2.0, 2: 3.0}}, 3))
        assert [segment.n_postings for segment in writer.state.segments] == [2, 2]
        writer.merge(everything=True)
        assert (writer.state.keep, writer.state.segments[0].n_postings) == (2, 4)


def test_a_beginning_without_documents_leaves_nothing(tmp_path):
    with pytest.raises(InputError), create_live(tmp_path / "live") as writer:
        writer.append(vectors_of({"a": {0: -1.0}}, 1))
    assert not list(tmp_path.iterdir())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").touch()
    for begin in (create_live, open_writer):
        with pytest.raises(ArtifactError), begin(tmp_path / "mine"):
            pass
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["file"]
    live = live_of(tmp_path / "live", [{"a": {0: 1.0}}], 1)
    with pytest.raises(ArtifactError, match="holds a live index already"), create_live(live):
        pass


def test_leftovers_of_killed_writers_go(tmp_path):
    live = live_of(tmp_path / "live", [{"a": {0: 1.0}}], 1)
    before = tree(live)
    for name in ("segments/000002/x", "segments/000002.draft-7/x", "deleted/000001-000002.npy", ".scratch/x"):
        (live / name).parent.mkdir(exist_ok=True)
        (live / name).touch()
    (live / ".live.json.77").touch()
    assert living_ids(open_live(live)) == {"a"}
    with open_writer(live):
        assert tree(live) == before
    begun = tmp_path / "begun"  # killed before there was a state
    for name in ("segments/000001.draft-7/x", "deleted/y", ".lock", ".begun"):
        (begun / name).parent.mkdir(parents=True, exist_ok=True)
        (begun / name).touch()
    with create_live(begun) as writer:
        writer.append(vectors_of({"a": {0: 1.0}}, 1))
    assert tree(begun) == before


def test_scales(tmp_path):
    live = live_of(tmp_path / "live", [{"a": {0: 2.55}}], 1)
    with open_writer(live) as writer:
        assert not writer.append(vectors_of({"b": {0: 1.0}}, 1)).own_scale
        loud = writer.append(vectors_of({"c": {0: 25.5}}, 1))
        assert (loud.own_scale, loud.scale) == (True, pytest.approx(0.1))
        assert writer.append(vectors_of({"d": {0: 2.0}}, 1)).scale == pytest.approx(0.01)  # the finest that fits
        assert writer.append(vectors_of({"e": {0: 9.0}}, 1)).scale == pytest.approx(0.1)
        (merged,) = writer.merge(everything=True)
    assert merged.scales == (pytest.approx(0.01), pytest.approx(0.1))
    assert merged.largest_error == pytest.approx(0.05, abs=1e-6)  # 2.55 is 25.5 steps of 0.1
    index = open_live(live).segments[0].index
    assert index.postings(0)[1].tolist()[1:] == [10, 255, 20, 90]


def test_a_merged_segment_is_the_index_of_the_survivors(tmp_path):
    rng = np.random.default_rng(1)
    documents = {
        f"d{n}": {int(t): float(w) for t, w in zip(rng.choice(30, 6, replace=False), rng.random(6) + 0.01, strict=True)}
        for n in rng.permutation(60).tolist()
    }
    documents["d0"] = {0: 2.0}
    names = ["d0", *(name for name in documents if name != "d0")]  # the loudest first, so that all share its scale
    batches = [{name: documents[name] for name in names[start : start + 15]} for start in range(0, 60, 15)]
    live = live_of(tmp_path / "live", batches, 30)
    gone = set(names[10:20]) | set(names[45:])
    with open_writer(live) as writer:
        writer.delete(gone)
        (merged,) = writer.merge(everything=True)
        assert (merged.n_rows, merged.n_dropped, merged.largest_error) == (35, 25, 0.0)
    found = open_live(live).segments[0].index
    survivors = vectors_of({name: documents[name] for name in names if name not in gone}, 30)
    scratch = index_of(survivors.matrix, tmp_path / "scratch", scale=found.meta.scale)
    assert found.meta == scratch.meta
    for term in range(30):
        for ours, theirs in zip(found.postings(term), scratch.postings(term), strict=True):
            assert ours.tolist() == theirs.tolist()
    assert list(found.doc_ids) == list(scratch.doc_ids)
    assert list(found.titles) == list(scratch.titles)


def test_merging_in_small_ranges_of_rows_gives_the_same(tmp_path, monkeypatch):
    batches = [{f"d{n}": {n % 5: 1.0 + n, 5: 2.0} for n in range(start, start + 9)} for start in (9, 0, 18)]
    trees = []
    for name, entries in (("one", 1 << 20), ("many", 4)):
        monkeypatch.setattr("lexigraft.index.live.merging.ENTRIES_PER_CHUNK", entries)
        live = live_of(tmp_path / name, batches, 6)
        with open_writer(live) as writer:
            writer.delete(["d3", "d20"])
            writer.merge(everything=True)
        trees.append({p.relative_to(live): p.read_bytes() for p in live.rglob("*") if p.is_file() and p.name[0] != "."})
    assert trees[0] == trees[1]


def test_damage_is_not_copied_by_merging(tmp_path):
    live = live_of(tmp_path / "live", [{"a": {0: 1.0}}, {"b": {0: 1.0}}], 1)
    titles = live / "segments/000001/titles.utf8"
    titles.write_bytes(titles.read_bytes().upper())
    with pytest.raises(ArtifactError, match=r"titles\.utf8 does not match its checksum"), open_writer(live) as writer:
        writer.merge(everything=True)
    assert len(read_state(live).segments) == 2


def segments(*sizes):
    """(rows, deleted) each; deleted rows are counted only by the state."""
    from lexigraft.index.live.state import DeletedFile

    return [
        SegmentState(f"{n}", rows, 0, 1.0, "", DeletedFile("", gone, "") if gone else None)
        for n, (rows, gone) in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    ("sizes", "everything", "expected"),
    [
        ([(10, 0)], False, None),
        ([(10, 0)], True, None),
        ([(10, 1)], True, (0, 1)),
        ([(10, 2)], False, None),
        ([(10, 3)], False, (0, 1)),  # three tenths are deleted
        ([(10, 10)], True, None),  # all there is, and all deleted
        ([(100, 0), (50, 0)], False, None),
        ([(100, 0), (51, 0)], False, (0, 2)),
        ([(100, 0), (20, 0), (11, 0)], False, (1, 3)),
        ([(100, 0), (10, 10)], False, (1, 2)),
        ([(100, 0), (10, 0)], True, (0, 2)),
    ],
)
def test_what_is_merged(sizes, everything, expected):
    assert plan_merge(segments(*sizes), everything) == expected


def test_additions_and_merges_leave_few_segments(tmp_path):
    live = live_of(tmp_path / "live", [{"d0": {0: 1.0}}], 1)
    written = 0
    with open_writer(live) as writer:
        for n in range(1, 20):
            writer.append(vectors_of({f"d{n}": {0: 1.0}}, 1))
            written += sum(merge.n_rows for merge in writer.merge())
            assert len(writer.state.segments) <= 4
    assert written < 20 * 4  # each document a few times, not once for every addition
    assert len(living_ids(open_live(live))) == 20


def test_all_deleted_and_added_to_again(tmp_path):
    live = live_of(tmp_path / "live", [{"a": {0: 1.0}}, {"b": {0: 1.0}}], 1)
    with open_writer(live) as writer:
        writer.delete(["a", "b"])
        (merged,) = writer.merge(everything=True)
        assert (merged.into, merged.n_rows, merged.n_dropped) == ("000001", 0, 1)  # with its deleted row
        assert len(writer.state.segments) == 1
        assert open_live(live).n_documents == 0
        writer.append(vectors_of({"a": {0: 3.0}}, 1))
        writer.merge()
    assert living_ids(open_live(live)) == {"a"}
    assert [segment.n_rows for segment in read_state(live).segments] == [1]


def test_an_index_becomes_the_first_segment(tmp_path):
    index_of(vectors_of({"a": {0: 1.0}, "b": {1: 2.0}}, 2).matrix, tmp_path / "index")
    with create_live(tmp_path / "live") as writer:
        writer.adopt(tmp_path / "index", ENCODER)
        with pytest.raises(ArtifactError, match="has documents already"):
            writer.adopt(tmp_path / "index", ENCODER)
        writer.append(vectors_of({"c": {0: 1.0}}, 2))
    assert living_ids(open_live(tmp_path / "live")) == {"a", "b", "c"}
    damaged = tmp_path / "index/doc_ids.utf8"
    damaged.write_bytes(b"ax")
    with pytest.raises(ArtifactError, match=r"doc_ids\.utf8"), create_live(tmp_path / "other") as writer:
        writer.adopt(tmp_path / "index", ENCODER)
    assert not (tmp_path / "other").exists()


def test_nothing_to_delete_from_or_merge(tmp_path):
    for act in (lambda writer: writer.delete(["a"]), lambda writer: writer.merge()):
        with pytest.raises(ArtifactError, match="there is nothing in"), create_live(tmp_path / "live") as writer:
            act(writer)


def test_deleting_nobody_changes_nothing(tmp_path):
    live = live_of(tmp_path / "live", [{"a": {0: 1.0}}], 1)
    with open_writer(live) as writer:
        assert writer.delete(["x", "y"], "ok").n_missing == 2
    assert read_state(live).generation == 1


HOLDER = """
import sys, pathlib
from lexigraft.index.live.opening import open_writer
with open_writer(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_one_writer_at_a_time(tmp_path):
    live = live_of(tmp_path / "live", [{"a": {0: 1.0}}], 1)
    command = [sys.executable, "-c", HOLDER, live]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(ArtifactError, match=f"process {other.pid} is writing"), open_writer(live):
            pass
        assert living_ids(open_live(live)) == {"a"}  # readers need not wait
        other.stdin.close()
        with open_writer(live, wait=True) as writer:
            writer.delete(["a"])


def test_a_scale_that_is_too_small_is_refused(tmp_path):
    with pytest.raises(InputError, match="a weight of 3 is more than 255 times the scale 0\\.01"):
        build_index(vectors_of({"a": {0: 3.0}}, 1), tmp_path, scale=0.01)


def test_impacts_of_more_bits_do_not_live(tmp_path):
    with pytest.raises(SettingError, match="8 or 16 bits, not of 24"), create_live(tmp_path / "live") as writer:
        writer.append(vectors_of({"a": {0: 1.0}}, 1), settings=IndexSettings(bits=24))
    assert not (tmp_path / "live").exists()


def test_segments_whose_state_was_lost_are_not_taken_for_a_beginning(tmp_path):
    live = live_of(tmp_path / "live", [{"a": {0: 1.0}}], 1)
    state = (live / "live.json").read_bytes()
    (live / "live.json").unlink()
    before = tree(live)
    for begin in (create_live, open_or_begin):
        with pytest.raises(ArtifactError, match=r"live\.json is missing, and there are segments"), begin(live):
            pass
    assert tree(live) == before
    (live / "live.json").write_bytes(state)
    with pytest.raises(ArtifactError, match="no live index"), open_writer(live) as writer:
        (live / "live.json").unlink()  # while it is written to
        writer.append(vectors_of({"b": {0: 1.0}}, 1))
    assert tree(live) == before


def test_a_writer_removes_nothing_while_something_is_missing(tmp_path):
    live = live_of(tmp_path / "live", [{"a": {0: 1.0}}, {"b": {0: 1.0}}], 1)
    (live / "segments/000001").rename(tmp_path / "aside")
    (live / "segments/other").mkdir()
    with open_writer(live):
        pass
    assert (live / "segments/other").exists()
    (tmp_path / "aside").rename(live / "segments/000001")
    with open_writer(live):
        assert not (live / "segments/other").exists()


def test_a_backup_of_what_the_state_names_can_be_written_to(tmp_path):
    live = live_of(tmp_path / "live", [{"a": {0: 1.0}}], 1)
    (tmp_path / "backup").mkdir()
    shutil.copy(live / "live.json", tmp_path / "backup")
    shutil.copytree(live / "segments/000001", tmp_path / "backup/segments/000001")
    with open_writer(tmp_path / "backup") as writer:
        writer.append(vectors_of({"b": {0: 1.0}}, 1))
        writer.delete(["a"])
    assert living_ids(open_live(tmp_path / "backup")) == {"b"}


def test_who_waited_for_a_beginning_adds_to_it(tmp_path):
    live = tmp_path / "live"
    added = []

    def second():
        with open_or_begin(live, wait=True) as writer:
            added.append(writer.append(vectors_of({"b": {0: 1.0}}, 1)).segment)

    with open_or_begin(live) as writer:
        waiting = threading.Thread(target=second)
        waiting.start()
        time.sleep(0.2)  # until it waits; were it slower, it would find the index and not wait at all
        writer.append(vectors_of({"a": {0: 1.0}}, 1))
    waiting.join()
    assert added == ["000002"]
    assert living_ids(open_live(live)) == {"a", "b"}


def test_the_scale_of_a_segment_without_weights_means_nothing(tmp_path):
    live = live_of(tmp_path / "live", [{"a": {}}], 1)
    with open_writer(live) as writer:
        added = writer.append(vectors_of({"b": {0: 0.3}, "c": {0: 0.1}}, 1))
        assert (added.own_scale, added.scale) == (False, pytest.approx(0.3 / 255))
        (merged,) = writer.merge(everything=True)
        assert (merged.scales, merged.largest_error) == ((added.scale,), 0.0)
    assert open_live(live).segments[0].index.postings(0)[1].tolist() == [255, 85]


@pytest.mark.parametrize(
    ("row_ids", "said"),
    [(["a#0", "a#2"], "'a' has 2 passages, numbered up to 2"), (["a#0", "a"], "'a' has no number"),
     (["a#0", "a#01"], "'a#01' has no number"), (["a#1"], "'a' has 1 passages, numbered up to 1")],
)  # fmt: skip
def test_passages_are_numbered_without_a_gap(tmp_path, row_ids, said):
    whole = vectors_of({"a": [{0: 1.0}] * len(row_ids)}, 1, passages=True)
    vectors = replace(whole, matrix=replace(whole.matrix, row_ids=row_ids))
    with pytest.raises(InputError, match=said), create_live(tmp_path / "live") as writer:
        writer.append(vectors)


def test_a_copied_index_finds_its_model_from_its_new_place(tmp_path):
    model = {"kind": "model", "model": "../m", "fingerprint": "x"}
    vectors = vectors_of({"a": {0: 1.0}}, 1, query_encoder=model)
    with write_artifact(tmp_path / "index", Manifest("index", 2, {}, {"vectors": "f"})) as draft:
        build_index(vectors, draft)
    with create_live(tmp_path / "deep/live") as writer:
        writer.adopt(tmp_path / "index", {**model, "model": "../../m"})
    segment = tmp_path / "deep/live/segments/000001"
    assert open_index(segment).meta.query_encoder["model"] == "../../../../m"
    assert read_manifest(segment).parents == {"vectors": "f"}

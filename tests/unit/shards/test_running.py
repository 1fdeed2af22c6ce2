"""Who makes shards: processes that are killed and replaced, and addresses of clusters that do not answer."""

import os
import signal
import time
from dataclasses import dataclass
from multiprocessing import active_children
from pathlib import Path

import pytest

from lexigraft.core.artifact import Manifest, open_artifact
from lexigraft.core.errors import InputError, LexigraftError, SettingError
from lexigraft.shards import ray_tasks
from lexigraft.shards.ray_tasks import require_address
from lexigraft.shards.running import Where, make_shards


@dataclass(frozen=True)
class Toy:
    """Shards that hold their number. The process that is first at a shard of `killed` is killed there."""

    folder: Path
    killed: tuple[int, ...] = ()
    label: str = "toy"

    @property
    def sizes(self):
        return [1, 1, 1, 1]

    def wanted(self, number):
        return Manifest("toy", 1, {"shard": number})

    def make(self, number, folder):
        mark = self.folder.with_name(f"killed-{number}")
        if number in self.killed and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        (folder / "number").write_text(str(number))


def test_processes_that_are_killed_are_replaced(tmp_path, caplog):
    shards = make_shards(Toy(tmp_path / "shards", killed=(1, 2)), Where(4, workers=2))
    assert [open_artifact(shard, "toy", 1).config["shard"] for shard in shards] == [0, 1, 2, 3]
    assert "a process was lost" in caplog.text
    assert sorted(path.name for path in (tmp_path / "shards").iterdir()) == ["00000", "00001", "00002", "00003"]


class StopsAtOnce:
    def track(self, items, label, total=None):
        next(iter(items))
        raise KeyboardInterrupt


def test_a_stop_leaves_whole_shards_and_no_process(tmp_path):
    before = set(active_children())
    with pytest.raises(KeyboardInterrupt):
        make_shards(Toy(tmp_path / "shards"), Where(4, workers=2), StopsAtOnce())
    deadline = time.monotonic() + 30
    while set(active_children()) - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not set(active_children()) - before
    there = [path for path in (tmp_path / "shards").iterdir() if path.name.isdecimal()]
    assert there and all(open_artifact(path, "toy", 1) for path in there)


@pytest.mark.parametrize("address", ["", "host:", "host:x", "host:70000", "http://host/x", "ray://"])
def test_what_is_no_address(address):
    with pytest.raises(SettingError, match="is no address; give local, auto, HOST:PORT or ray://HOST:PORT"):
        require_address(address)


def test_where_nobody_answers():
    with pytest.raises(InputError, match=r"no Ray cluster answers at 127\.0\.0\.1:1 \(.*; start one: ray start --head"):
        require_address("127.0.0.1:1")


def test_another_version_is_one_line():
    said = "Version mismatch: The cluster was started with:\n    Ray: 2.40.0\n    Python: 3.11.7\nThis process: ..."
    found = ray_tasks._in_words("head:6379", RuntimeError(said), "2.60.0")
    assert isinstance(found, LexigraftError)
    assert str(found).startswith("the Ray cluster at head:6379 has another version than ray 2.60.0 here: Version mism")
    assert "\n" not in str(found)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--workers", 2], "--workers is for work by shards; give --shards N"),
        (["--shards", 2, "--ray-gpus", 1], "--ray-gpus is for a Ray cluster; give --ray ADDRESS"),
        (["--shards", 0], "--shards = 0 is not allowed: 1 to 99,999"),
        (["--shards", 2, "--ray", "127.0.0.1:1"], "no Ray cluster answers at 127.0.0.1:1"),
    ],
)
def test_options_that_do_not_fit(lexigraft, tmp_path, options, said):
    output = lexigraft("encode", "--data", tmp_path, "--model", tmp_path, "--out", tmp_path / "v", *options)
    assert output.status == 2 and said in output.stderr and output.stderr.count("\n") == 1

"""Shards by a real Ray cluster of two nodes: a worker and a node are killed, and the bytes are the same."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from lexigraft.core.errors import InputError
from lexigraft.core.settings import Settings
from lexigraft.index.build import build_index
from lexigraft.shards import ray_tasks
from lexigraft.shards.encoding import encode_by_shards, folder_of_shards
from lexigraft.shards.index import invert_by_shards
from lexigraft.shards.running import Where
from lexigraft.stages.standalone import encode, index_vectors
from tests.shards import contents, write_corpus, write_model

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.integration

N_SHARDS, RANGE = 8, 1024  # documents of a range, instead of 65,536: eight shards of an index, too
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def cluster():
    """Two nodes with a core each; a node that dies is missed after some seconds, not half a minute."""
    from ray.cluster_utils import Cluster

    path = os.pathsep.join([str(ROOT), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)  # of workers: they import what this process does
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("OMP_NUM_THREADS", "1")
        quick = {"health_check_period_ms": 1000, "health_check_failure_threshold": 5}
        found = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "_system_config": quick, "include_dashboard": False}
        )
        try:
            yield found
        finally:
            found.shutdown()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """(collection, model) of 8 batches of 1,024 documents."""
    folder = tmp_path_factory.mktemp("world")
    return str(write_corpus(folder / "data", 8 * 1024)), write_model(folder / "made")


def killing(cluster, node, shards):
    """A progress that kills a worker when the first shard is there, and a node when the third is."""
    state = {"worker": 0, "node": 0}

    class Progress:
        def track(self, items, label, total=None):
            for item in items:
                done = sum(path.name.isdecimal() for path in shards.iterdir()) if shards.is_dir() else 0
                if done >= 1 and not state["worker"]:
                    state["worker"] = kill_worker(cluster)
                if done >= 3 and not state["node"]:
                    cluster.remove_node(node, allow_graceful=False)
                    state["node"] = done
                yield item

    return Progress(), state


def kill_worker(cluster):
    """The id of a process of this cluster that was at a shard, and is no more."""
    raylets = {node.all_processes["raylet"][0].process.pid for node in cluster.list_all_nodes()}
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    found = [line.split(maxsplit=2) for line in listed.splitlines()[1:]]
    at_work = [int(pid) for pid, parent, name in found if int(parent) in raylets and "ray::make_by_version" in name]
    for pid in at_work[:1]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            return pid
    return 0


def test_a_worker_and_a_node_are_lost_half_way(tmp_path, cluster, world):
    data, model = world
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    encode(data, model, tmp_path / "whole", Settings())
    progress, state = killing(cluster, node, folder_of_shards(tmp_path / "joined") / "vectors")
    where = Where(N_SHARDS, ray=cluster.address)
    encode(data, model, tmp_path / "joined", Settings(), progress, write=encode_by_shards(where))
    assert state["worker"] and 3 <= state["node"] < N_SHARDS, "nothing was killed half-way"
    assert len(cluster.list_all_nodes()) == 1
    assert contents(tmp_path / "joined") == contents(tmp_path / "whole")
    by_shards = invert_by_shards(where, RANGE)
    index_vectors(tmp_path / "whole", tmp_path / "at_once", Settings(), data=data, invert=in_small_ranges)
    index_vectors(tmp_path / "whole", tmp_path / "merged", Settings(), data=data, invert=by_shards)
    assert contents(tmp_path / "merged") == contents(tmp_path / "at_once")


def in_small_ranges(inverting, folder, progress):
    """An index built at once, in ranges as small as those of the shards."""
    return build_index(inverting.vectors, folder, inverting.keep, inverting.settings.index, range_size=RANGE)


def test_what_a_task_raises_is_one_line(tmp_path, cluster, world, monkeypatch):
    data, model = world
    monkeypatch.setattr(ray_tasks, "__version__", "0.0.1")
    with pytest.raises(InputError, match=r"of the Ray cluster has lexigraft .*, this one 0\.0\.1; install the same"):
        encode(data, model, tmp_path / "v", Settings(), write=encode_by_shards(Where(2, ray=cluster.address)))


def test_nobody_answers(tmp_path, world):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    started = time.monotonic()
    with pytest.raises(InputError, match=f"no Ray cluster answers at 127.0.0.1:{port}"):
        encode(*world, tmp_path / "v", Settings(), write=encode_by_shards(Where(2, ray=f"127.0.0.1:{port}")))
    assert time.monotonic() - started < 60

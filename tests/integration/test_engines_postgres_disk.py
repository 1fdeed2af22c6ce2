"""A PostgreSQL whose whole disk is full, its log included."""

import shutil
import subprocess
from dataclasses import replace

import pytest

from lexigraft.engines import backoff
from lexigraft.engines.address import Address
from lexigraft.engines.engine import EngineError
from lexigraft.engines.loading import load_index
from lexigraft.engines.postgres import PostgresEngine
from tests.engines import contract
from tests.engines.contract import row
from tests.engines.postgres_server import PASSWORD, USER, LocalServer

pytestmark = pytest.mark.integration


def test_a_full_disk_of_the_whole_server(tmp_path, monkeypatch):
    """Without room for its log, a server goes down; once there is room and it runs, the same load is completed."""
    monkeypatch.setattr(backoff, "TRIES", 2)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=150m", "tmpfs", tmp_path], capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        for folder in (tmp_path, *tmp_path.parents[:-2]):
            folder.chmod(0o755)  # the server is somebody else
        local = LocalServer(within=tmp_path)
        local.start()
        (tmp_path / "filled").write_bytes(bytes(_room(tmp_path) - (1 << 20)))
        address = Address("postgresql", "papers", "127.0.0.1", local.port, "postgres", USER, PASSWORD)
        engine, index = PostgresEngine(replace(address, options=(("partitions", "1"),))), contract.sample_index()
        large = [row(f"x{n}", dict.fromkeys(range(50), 9), "t" * 5000) for n in range(400)]
        with pytest.raises(EngineError, match=r"disk of the server is full|does not answer") as error:
            load_index(index, engine, "/there", "it", batch_rows=20)
            while True:
                engine.load(large)
        assert "\n" not in str(error.value)
        (tmp_path / "filled").unlink()
        local.stop()
        local.start()
        load_index(index, engine, "/there", "it", batch_rows=20)
        engine.delete([one.row_id for one in large])
        assert engine.count() == contract.N_ROWS
        contract.require_equal_rankings(engine, index, 20, 10)
        engine.close()
        local.remove()
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)


def _room(folder):
    return shutil.disk_usage(folder).free

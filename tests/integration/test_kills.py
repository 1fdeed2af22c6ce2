"""Trainings that the operating system kills, a few of the many of `python -m tests.fuzz.kills`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("kills", "more"), [(8, []), (2, ["--cold"])])
def test_killed_trainings_end_with_the_same_weights(kills: int, more: list[str]) -> None:
    command = [sys.executable, "-m", "tests.fuzz.kills", "--kills", str(kills), "--of", "finetune", "teacher", "tilde"]
    done = subprocess.run([*command, *more], cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout.splitlines()[-1])
    assert sum(count for what, count in counts.items() if what.endswith(": killed")) == kills
    assert all(n_files > 0 for n_files in counts["files compared"].values())

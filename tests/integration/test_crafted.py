"""Contents that a stranger made, with right checksums: a short run of tests/fuzz/crafted.py."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.integration
def test_no_crafted_content_crashes_hangs_or_surprises(tmp_path):
    call = [sys.executable, "-m", "tests.fuzz.crafted", "--cases", "300", "--minutes", "2", "--seed", "24"]
    environment = {**os.environ, "LEXIGRAFT_VALIDATE": "auto"}
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=ROOT, env=environment, timeout=600)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert json.loads(done.stdout)["cases"] >= 100

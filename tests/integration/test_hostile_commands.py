"""A short run of hostile command lines; `python -m tests.fuzz.hostile_commands` is the long one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CASES, SECONDS, SEED = 300, 60, 7


@pytest.mark.integration
def test_no_command_line_ends_otherwise_than_by_itself():
    asked = ("--cases", str(CASES), "--seconds", str(SECONDS), "--seed", str(SEED), "--cold", "3")
    command = (sys.executable, "-m", "tests.fuzz.hostile_commands", *asked)
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=10 * SECONDS, check=True)
    *wrong, last = ended.stdout.splitlines()
    facts = json.loads(last)
    assert wrong == [] and facts["wrong"] == 0, "\n".join(wrong)
    assert facts["cases"] >= 40 and facts["commands"] > 40, "too little was tried to say anything"

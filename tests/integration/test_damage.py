"""A short run of damaged files; the long one is `python -m tests.fuzz.damage --cases 10000`."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.mutations import OF_BYTES, OF_JSON, OF_LINES, mutate
from tests.fuzz.world import make_world
from tests.shared import made_once

ROOT = Path(__file__).parents[2]


def make(folder):
    folder.mkdir(parents=True)
    make_world(folder)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return made_once(tmp_path_factory, "fuzz-world", make)


@pytest.mark.integration
@pytest.mark.parametrize("options", [("--seconds", "30"), ("--seconds", "20", "--crafted"), ("--cases", "6", "--cold")])
def test_damaged_files_give_the_right_answer_or_one_line(world, tmp_path, options):
    command = [sys.executable, "-m", "tests.fuzz.damage", "--world", world, "--out", tmp_path / "found.json"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    ended = subprocess.run(
        [*command, "--cases", "2000", *options], cwd=ROOT, env=environment, check=False, capture_output=True, text=True
    )
    assert (tmp_path / "found.json").exists(), ended.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["failures"] == []
    assert found["n_cases"] >= 6


def test_every_mutation_changes_a_file(tmp_path):
    """A fuzzer that changes nothing finds nothing."""
    content = json.dumps({"name": "x", "n": [1, 2, {"a": "b"}], "more": {"k": 1.5}}, indent=2).encode()
    for kind in {*OF_BYTES, *OF_LINES, *OF_JSON}:
        changed = [kind(content, random.Random(number)) for number in range(40)]
        assert sum(one != content for one in changed) > 20, kind.__name__
    other = tmp_path / "other.json"
    other.write_text("{}")
    done = set()
    for number in range(200):
        path = tmp_path / f"{number}.json"
        path.write_bytes(content)
        done.add(mutate(path, [other], random.Random(number)))
    assert {"exchange", "remove", "become_folder", "become_loop", "remove_key", "flip_bit"} <= done

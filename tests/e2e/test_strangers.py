"""Indexes and vectors that somebody else made, with right checksums, at the command line: one line, and no signal."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

from tests.fuzz.crafted_world import matrix_of, write_index, write_vectors
from tests.fuzz.crafting import fit_checksums


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strangers")
    write_index(folder / "index", write_vectors(folder / "vectors", matrix_of(700, 1)), 8, 65536)
    return folder


def command(*arguments):
    call = [sys.executable, "-m", "lexigraft", *map(str, arguments)]
    return subprocess.run(call, capture_output=True, text=True, check=False, timeout=100)


def crafted(made, tmp_path, name, file, change):
    folder = tmp_path / name
    shutil.copytree(made / name, folder)
    array = np.load(folder / file)
    change(array)
    np.save(folder / file, array)
    fit_checksums(folder, file)
    return folder


def lead_outside(stream):
    """Every word of a gap becomes the longest one: a kernel that believed it would add up far behind its sums."""
    stream[2:] |= 0x00FF


def require_one_line(done, file):
    assert done.returncode == 2, done.stderr[-500:]
    assert [line for line in done.stderr.splitlines() if line.startswith("error:")] == done.stderr.splitlines()[-1:]
    assert file in done.stderr and "made by another program" in done.stderr


def test_a_search_of_a_crafted_index_is_refused(made, tmp_path):
    """Before there was a look at the lists, this search ended by SIGSEGV."""
    folder, queries = crafted(made, tmp_path, "index", "stream.npy", lead_outside), tmp_path / "queries.jsonl"
    lines = (f'{{"_id": "q{n}", "text": "word{n % 40} word{n % 7} word{n % 11}"}}\n' for n in range(2000))
    queries.write_text("".join(lines))  # so many that kernels do it
    done = command("search", "--index", folder, "--queries", queries, "--out", tmp_path / "run.trec")
    require_one_line(done, "stream.npy")
    require_one_line(command("search", "--index", folder, "word1 word30 word20 word5 word38"), "stream.npy")


def test_it_is_neither_praised_nor_taken_over(made, tmp_path):
    folder = crafted(made, tmp_path, "index", "stream.npy", lead_outside)
    require_one_line(command("search", "--index", folder, "--verify", "word1"), "stream.npy")
    require_one_line(command("index", "live", folder, "--out", tmp_path / "live"), "stream.npy")
    assert not (tmp_path / "live").exists()


def test_crafted_vectors_are_refused(made, tmp_path):
    """Before, `vectors stats` ended by SIGSEGV."""
    folder = crafted(made, tmp_path, "vectors", "term_ids.npy", lambda ids: ids.__setitem__(slice(None), 2**31 - 1))
    require_one_line(command("vectors", "stats", folder), "term_ids.npy")
    require_one_line(command("index", "--vectors", folder, "--out", tmp_path / "new"), "term_ids.npy")

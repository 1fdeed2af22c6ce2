"""Full disks and limits of the system, real ones, met by commands as processes of their own: one line with the path and
advice that fits, and nothing half-written is left."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

LEXIGRAFT = (sys.executable, "-m", "lexigraft")


def limited(most):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def errors(ended):
    assert "Traceback" not in ended.stderr
    return [line for line in ended.stderr.splitlines() if line.startswith("error: ")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_output_that_cannot_be_written():
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*LEXIGRAFT, "recipe", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 2
    assert len(errors(ended)) == 1
    assert "No space left on device; free space" in ended.stderr
    assert "Exception ignored" not in ended.stderr


def test_a_file_that_becomes_too_large(tmp_path):
    """Of a command that compiles nothing: caches of kernels are files, too."""
    for name in ("a", "b"):
        lines = (f"q{n % 7} Q0 document-{n} {n // 7 + 1} {1000 - n}.0 {name}\n" for n in range(700))
        (tmp_path / f"{name}.trec").write_text("".join(lines))
    call = [*LEXIGRAFT, "fuse", "a.trec", "b.trec", "--out", "fused.trec"]
    ended = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, preexec_fn=limited(8192), check=False)
    assert ended.returncode == 2, ended.stderr
    expected = "error: fused.trec: File too large; raise the largest size of a file: ulimit -f unlimited"
    assert errors(ended) == [expected]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.trec", "b.trec"]

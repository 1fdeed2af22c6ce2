"""What the operating system refuses: the path, and advice that fits. The limits are real ones, in processes of their
own."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.core.os_errors import in_words, naming, remedy_for
from lexigraft.core.sealed_json import read_sealed

LIMITED = """
import resource, sys
from pathlib import Path
from lexigraft.core.errors import LexigraftError
from lexigraft.core.os_errors import in_words
resource.setrlimit({limit}, ({most}, {most}))
try:
    {work}
except LexigraftError as error:
    print(error)
except OSError as error:
    print(in_words(error))
"""


def said_under(limit: str, most: int, work: str) -> str:
    code = LIMITED.format(limit=f"resource.{limit}", most=most, work=work)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_file_that_is_too_large_names_its_path(tmp_path):
    work = f"""
    from lexigraft.core.artifact import Manifest, write_artifact
    with write_artifact(Path({str(tmp_path / "index")!r}), Manifest("index", 1, {{}})) as draft:
        with (draft / "stream.npy").open("wb") as file:
            file.write(bytes(1 << 20))
"""
    said = said_under("RLIMIT_FSIZE", 1 << 16, work)
    assert f"{tmp_path / 'index'}: File too large; raise the largest size of a file: ulimit -f" in said
    assert not (tmp_path / "index").exists()


def test_too_many_open_files_is_not_a_damaged_artifact(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    work = f"""
    from lexigraft.core.sealed_json import read_sealed
    held = [open("/dev/null") for _ in range(32 - 3)]
    read_sealed(Path({str(tmp_path / "run.json")!r}))
"""
    said = said_under("RLIMIT_NOFILE", 32, work)
    assert "ulimit -n" in said
    assert "build it again" not in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_names_the_path_and_the_file_system():
    with pytest.raises(OSError, match="No space left") as raised, naming(Path("/tmp/out.trec")):
        Path("/dev/full").write_text("x" * 100_000)
    assert raised.value.filename == "/tmp/out.trec"
    assert in_words(raised.value).startswith("/tmp/out.trec: No space left on device; free space on the file system /")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_what_numpy_makes_of_a_full_disk():
    with (
        pytest.raises(OSError, match="No space left") as raised,
        naming(Path("a/vectors.npy")),
        Path("/dev/full").open("wb", 0) as file,
    ):
        np.zeros(1 << 16).tofile(file)
    assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, "a/vectors.npy")


@pytest.mark.parametrize(
    ("number", "helps"),
    [
        (errno.EACCES, "allow this user"),
        (errno.EROFS, "a file system that can be written"),
        (errno.ENAMETOOLONG, "shorter name"),
        (errno.EIO, "the disk or its connection failed"),
        (errno.ELOOP, "symbolic link"),
        (errno.ENFILE, "fs.file-max"),
    ],
)
def test_advice_that_fits(number, helps):
    said = in_words(OSError(number, os.strerror(number), "x/y"))
    assert said.startswith(f"x/y: {os.strerror(number)}; ")
    assert helps in said
    assert helps in remedy_for(OSError(number, os.strerror(number)), "build it again")


def test_errors_of_others_pass():
    with pytest.raises(RuntimeError, match="another"), naming(Path("x")):
        raise RuntimeError("another")
    with pytest.raises(OSError, match="No space left") as raised, naming(Path("x")):
        raise RuntimeError("I/O error: No space left on device (os error 28)")  # safetensors
    assert raised.value.filename == "x"
    assert remedy_for(OSError(errno.ENOENT, ""), "build it again") == "build it again"


def test_a_folder_in_the_place_of_a_file(tmp_path):
    (tmp_path / "run.json").mkdir()
    with pytest.raises(ArtifactError, match=r"run.json cannot be read \(Is a directory\); build it again"):
        read_sealed(tmp_path / "run.json")

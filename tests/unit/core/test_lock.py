import subprocess
import sys

import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.core.lock import writer_lock

HOLDER = """
import sys, pathlib
from lexigraft.core.lock import writer_lock
with writer_lock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_refused_and_told_who_holds_it(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(ArtifactError, match=f"process {other.pid} is writing"), writer_lock(tmp_path):
            pass
        other.stdin.close()
        other.wait()
    with writer_lock(tmp_path):
        pass

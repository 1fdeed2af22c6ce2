import subprocess
import sys

import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.core.lock import writer_lock


def test_a_second_writer_is_refused_and_told_who_holds_it(tmp_path):
    holder = "import sys, pathlib\nfrom lexigraft.core.lock import writer_lock\nwith writer_lock(pathlib.Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", holder, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(ArtifactError, match=f"process {other.pid} is writing"), writer_lock(tmp_path):
            pass
        other.stdin.close()
        other.wait()
    with writer_lock(tmp_path):
        pass

import os
import shutil
import subprocess
import sys
import threading
import time

import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.core.lock import lock_file, writer_lock

HOLDER = """
import sys, pathlib
from lexigraft.core.lock import lock_file, writer_lock
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


def test_a_writer_may_wait(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"held\n"
        released = []  # noted before it is released: a timer says that it has finished only when it has returned

        def release():
            released.append(1)
            other.stdin.close()

        threading.Timer(0.2, release).start()
        with writer_lock(tmp_path, wait=True):
            assert released
            assert lock_file(tmp_path).read_text() == str(os.getpid())


def test_a_lock_that_its_holder_removed_guards_nothing(tmp_path):
    """Who waited for it takes the new one, which excludes the others."""
    folder, taken = tmp_path / "folder", threading.Event()

    def wait_and_take():
        with writer_lock(folder, wait=True):
            taken.set()
            done.wait(10)

    done, waiting = threading.Event(), threading.Thread(target=wait_and_take)
    with writer_lock(folder):
        waiting.start()
        time.sleep(0.1)
        shutil.rmtree(folder)
    assert taken.wait(10)
    with pytest.raises(ArtifactError, match="is writing"), writer_lock(folder):
        pass
    done.set()
    waiting.join()


def test_errors_inside_come_out(tmp_path):
    with pytest.raises(FileNotFoundError, match="inside"), writer_lock(tmp_path):
        raise FileNotFoundError("inside")
    with writer_lock(tmp_path):
        pass

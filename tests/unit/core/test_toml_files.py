import os
import sys
import threading
from pathlib import Path

import pytest

from lexigraft.core.errors import SettingError
from lexigraft.core.recipes import read_recipe
from lexigraft.core.toml_files import LARGEST_FILE, read_toml


def test_a_file_without_an_end_is_no_file_of_settings(tmp_path):
    (tmp_path / "large.toml").write_bytes(b"#" * (LARGEST_FILE + 1))
    with pytest.raises(SettingError, match=r"large\.toml is larger than 16 MiB: it is no file of settings"):
        read_toml(tmp_path / "large.toml")
    (tmp_path / "most.toml").write_bytes(b"#" * LARGEST_FILE)
    assert read_toml(tmp_path / "most.toml") == {}


@pytest.mark.skipif(sys.platform != "linux", reason="a device of Linux")
def test_a_device_without_an_end(tmp_path):
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    with pytest.raises(SettingError, match="larger than 16 MiB"):
        read_toml(tmp_path / "zero.toml")


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path):
    """Before, this call never came back."""
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(OSError, match="a pipe that nobody writes to") as raised:
        read_toml(tmp_path / "pipe.toml")
    assert raised.value.filename == str(tmp_path / "pipe.toml")
    with pytest.raises(SettingError, match=r"there is no recipe file .*\(it is a pipe that nobody writes to\)"):
        read_recipe(str(tmp_path / "pipe.toml"))


def test_a_pipe_with_a_writer_is_read_to_its_end_and_known_afterwards():
    """As a shell gives `--config <(...)`: the writer may be late, and settings are asked for more than once."""
    reading, writing = os.pipe()

    def write():
        for part in (b"[lexical]\nk1 = ", b"0.9\n"):
            os.write(writing, part)
        os.close(writing)

    late = threading.Timer(0.3, write)
    late.start()
    try:
        place = Path(f"/dev/fd/{reading}")
        assert read_toml(place) == {"lexical": {"k1": 0.9}}
        assert read_toml(place) == {"lexical": {"k1": 0.9}}
    finally:
        late.join()
        os.close(reading)


def test_nothing_at_all_is_a_file_of_settings():
    assert read_toml(Path(os.devnull)) == {}

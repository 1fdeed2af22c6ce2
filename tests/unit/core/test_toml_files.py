import sys

import pytest

from lexigraft.core.errors import SettingError
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

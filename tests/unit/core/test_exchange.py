"""Two folders exchange their names at once, or it is said that they cannot."""

import ctypes
import errno

import pytest

from lexigraft.core import exchange as module
from lexigraft.core.exchange import exchange


@pytest.fixture
def folders(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "says").write_text(name)
    return tmp_path / "one", tmp_path / "other"


def test_names_are_exchanged(folders):
    one, other = folders
    assert exchange(one, other)
    assert ((one / "says").read_text(), (other / "says").read_text()) == ("other", "one")


def test_a_folder_that_is_missing_raises_and_changes_nothing(folders, tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        exchange(folders[0], tmp_path / "absent")
    assert (folders[0] / "says").read_text() == "one"


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EINVAL, errno.EPERM])
def test_a_system_that_cannot_says_so(folders, monkeypatch, number):
    class Refusing:
        def renameat2(self, *_):  # as the C library answers on such a file system
            ctypes.set_errno(number)
            return -1

        renamex_np = renameat2

    monkeypatch.setattr(module, "_library", Refusing)
    assert not exchange(*folders)
    monkeypatch.setattr(module, "_library", lambda: None)
    assert not exchange(*folders)
    assert (folders[0] / "says").read_text() == "one"

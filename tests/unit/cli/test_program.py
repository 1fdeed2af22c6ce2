"""The program itself: its version, and help that shows no type where an option takes no value."""

import subprocess
import sys

import pytest

from lexigraft import __version__


def lexigraft(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "lexigraft", *arguments], capture_output=True, text=True, check=True
    ).stdout


def test_version():
    assert lexigraft("--version").strip() == f"lexigraft {__version__}"


@pytest.mark.parametrize("command", [(), ("search",), ("index",), ("study",)])
def test_flags_have_no_type(command):
    shown = lexigraft(*command, "--help")
    assert "--help" in shown
    assert "<bool>" not in shown

"""What is dear to make: made by the first worker that asks, once for all workers and files of a session of tests."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lexigraft.core.lock import writer_lock


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder that `make` wrote at its first call; all tests share it, so it must only be read."""
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # then each worker has a folder below that of the session
        root = root.parent
    folder, done = root / "shared" / name, root / "shared" / f".{name}-is-made"
    with writer_lock(root / "shared" / f".{name}-lock", wait=True):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a call that failed
            make(folder)
            done.touch()
    return folder


def copy_of_made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A copy of that folder which is the caller's own, where commands write into it."""
    return Path(shutil.copytree(made_once(factory, name, make), factory.mktemp(name) / name))

"""Changes of a live index that are stopped at every moment at which something reaches the disk."""

import itertools
import os
import shutil

from lexigraft.index.live.state import is_live, read_state
from tests.live import LIVE_FOLDER, named_by_state


def stopping_at(number, error, after):
    """`os.fsync`, which raises at its call of this number, before or after its work."""
    calls, fsync = itertools.count(), os.fsync

    def sync(descriptor):
        call = next(calls)
        if call == number and not after:
            raise error
        fsync(descriptor)
        if call == number:
            raise error

    return sync


def stopped_at_every_sync(tmp_path, prepared, monkeypatch, change, error):
    """(folder, whether its state changed) after `change` was stopped by `error` at its first sync, at its second, and
    so on, and at last not at all; each begins with a copy of `prepared`, where that is not None. After each, nothing
    may lie in the folder that its state does not name."""
    outcomes = set()
    for number in itertools.count():
        folder = tmp_path / f"live{number}"
        if prepared is not None:
            shutil.copytree(prepared, folder)
        generation = 0 if prepared is None else read_state(folder).generation
        monkeypatch.setattr(os, "fsync", stopping_at(number, error, after=number % 2 == 0))
        try:
            change(folder)
            stopped = False
        except type(error):
            stopped = True
        monkeypatch.undo()
        changed = is_live(folder) and read_state(folder).generation > generation
        outcomes.add((stopped, changed))
        yield folder, changed
        assert {path.name for path in folder.iterdir()} == LIVE_FOLDER
        named = named_by_state(folder)
        assert {name: {path.name for path in (folder / name).iterdir()} for name in named} == named
        shutil.rmtree(folder)
        if not stopped:
            break
    assert outcomes == {(True, False), (True, True), (False, True)}  # before the state changed, after it, and no stop

"""Folders that are to hold something, made level by level."""

from pathlib import Path


def make_folders(folder: Path) -> None:
    """`folder`, and all above it that are absent. `Path.mkdir` with `parents` calls itself once a level, and a name of
    a thousand levels ended in a traceback."""
    absent, here = [], folder
    while True:
        try:
            here.mkdir(exist_ok=True)
            break
        except FileNotFoundError:
            if here.parent == here:
                raise
            absent.append(here)
            here = here.parent
    for level in reversed(absent):
        level.mkdir(exist_ok=True)

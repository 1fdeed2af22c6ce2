"""Programs of `standalone`, copied beside a model so that they run without Lexigraft."""

from importlib.resources import files
from pathlib import Path

PACKAGE = "lexigraft.export.standalone"


def copy_program(name: str, folder: Path, import_by: str) -> None:
    """A program into `folder`; what it imports of its neighbours, it imports by `import_by` there."""
    text = files(PACKAGE).joinpath(name).read_text(encoding="utf-8")
    (folder / name).write_text(text.replace(f"from {PACKAGE}.", import_by), encoding="utf-8")

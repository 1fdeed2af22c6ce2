"""The README of an exported folder: what is in it, what is kept and lost, and how it is used."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lexigraft.export.targets import Exported

README = "README.md"


def write_readme(folder: Path, target: str, exported: "Exported") -> None:
    """Beside the files of an export; a target that wrote one of its own, such as a model card, keeps that."""
    if (folder / README).exists():
        return
    parts = [f"# {exported.title}", f"Written by `lexigraft export {target}`."]
    parts += [f"## {name}\n\n" + "\n".join(f"- {line}" for line in lines) for name, lines in _lists(exported) if lines]
    if exported.use:
        parts.append(f"## How it is used\n\n{exported.use.strip()}")
    (folder / README).write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _lists(exported: "Exported") -> list[tuple[str, list[str]]]:
    return [("What is kept", list(exported.kept)), ("What is lost", list(exported.lost))]

"""Recipes: whole sets of settings with a name, one TOML file each.

Those that are shipped are the papers' (scale "paper") and their scaled-down variants (scale "small", named NAME-small).
A file of the user's own is one too. Besides sections of settings, a recipe has a table [recipe] that says what it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from lexigraft.core.errors import SettingError
from lexigraft.core.toml_files import parse_toml, read_settings_file, require_known

SECTION = "recipe"
SCALES = ("paper", "small")
SUFFIX = ".toml"


@dataclass(frozen=True)
class Recipe:
    """`settings` are its sections as read, unchecked; `text` is the whole file."""

    name: str
    title: str
    paper: str
    about: str
    scale: str
    settings: Mapping[str, Any]
    text: str


def recipe_names() -> list[str]:
    """The names of the shipped recipes, in order."""
    return sorted(file.name.removesuffix(SUFFIX) for file in _folder().iterdir() if file.name.endswith(SUFFIX))


def list_recipes() -> list[Recipe]:
    """All that are shipped."""
    return [read_recipe(name) for name in recipe_names()]


def read_recipe(wanted: str) -> Recipe:
    """The recipe of that name or, where `wanted` is a path or ends in .toml, the one in that file."""
    if wanted.endswith(SUFFIX) or "/" in wanted:
        path = Path(wanted)
        try:
            content = read_settings_file(path)
        except OSError as error:
            why = "" if isinstance(error, FileNotFoundError) else f" ({error.strerror or error})"
            shipped = ", ".join(recipe_names())
            raise SettingError(f"there is no recipe file {wanted!r}{why}; shipped recipes: {shipped}") from error
        return _parse(path.stem, content, wanted)
    require_known(wanted, recipe_names(), "recipe")
    file = _folder() / f"{wanted}{SUFFIX}"
    return _parse(wanted, file.read_bytes(), file.name)


def _folder() -> Any:
    return resources.files("lexigraft") / "recipes"


def _parse(name: str, content: bytes, file: str) -> Recipe:
    tables = dict(parse_toml(content, file))
    about = tables.pop(SECTION, {})
    if not isinstance(about, Mapping):
        raise SettingError(f"{file}: {SECTION} is a section: write [{SECTION}] and its keys below it")
    said = {"title": name, "paper": "", "about": "", "scale": SCALES[-1]}
    for key, value in about.items():
        require_known(f"{SECTION}.{key}", [f"{SECTION}.{known}" for known in said], f"key of {file}:")
        if not isinstance(value, str):
            raise SettingError(f"{file}: {SECTION}.{key} = {value!r} should be a text in quotes")
        said[key] = value
    if said["scale"] not in SCALES:
        raise SettingError(f"{file}: {SECTION}.scale = {said['scale']!r} is not allowed: {' or '.join(SCALES)}")
    return Recipe(name, **said, settings=tables, text=content.decode("utf-8-sig"))

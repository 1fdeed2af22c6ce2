"""Reads settings from recipes, TOML files and `section.key=value` overrides.

Nothing is guessed: an unknown section or key fails with the nearest name, a value of the wrong type with what is
allowed. The resolved settings are what manifests record.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.core.recipes import SECTION, read_recipe
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.settings import AUTO, Settings, section_names
from lexigraft.core.settings.section import declared
from lexigraft.core.systems_table import KIND, SYSTEMS, merged_systems, resolved_systems
from lexigraft.core.toml_files import read_toml, require_known, unreadable

SOURCE = "source"  # what the settings.json of a run says of its collection, beside its settings


def load_settings(
    path: Path | None = None,
    overrides: Iterable[str] = (),
    recipe: str | None = None,
    values: Mapping[str, Any] | None = None,
) -> Settings:
    """Defaults, a recipe (its name or file), then the TOML file at `path`, then overrides such as `lexical.k1=0.9`,
    then values by the full names of settings, such as {"lexical.k1": 0.9}."""
    return _apply(Settings(), _given(path, overrides, recipe, values))


def given_names(
    path: Path | None = None,
    overrides: Iterable[str] = (),
    recipe: str | None = None,
    values: Mapping[str, Any] | None = None,
) -> frozenset[str]:
    """The full names of the settings that `load_settings` with the same arguments takes from somebody, and not from the
    defaults, whether or not they differ from these. What [systems] says of single systems is not among them."""
    given = _given(path, overrides, recipe, values)
    return frozenset(f"{section}.{key}" for section, keys in given.items() if section != SYSTEMS for key in keys)


def with_values(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The settings with some in other values, by their full names."""
    return _apply(settings, _merged(_layers_of(values)))


def _given(
    path: Path | None, overrides: Iterable[str], recipe: str | None, values: Mapping[str, Any] | None
) -> dict[str, dict[str, Any]]:
    """What somebody says of settings, all together, by section and key."""
    layers: list[Mapping[str, Any]] = [read_recipe(recipe).settings] if recipe is not None else []
    layers += [_settings_file(path)] if path is not None else []
    layers += [_parse_override(override) for override in overrides]
    return _merged([*layers, *_layers_of(values or {})])


def _layers_of(values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [_layer(name, _as_read(value), f"setting {name!r}") for name, value in values.items()]


def settings_as_dict(settings: Settings) -> dict[str, Any]:
    return asdict(settings)


def settings_config(settings: Any) -> dict[str, Any]:
    """A settings section as a manifest records it: exactly what JSON gives back."""
    loaded: dict[str, Any] = json.loads(json.dumps(asdict(settings)))
    return loaded


def settings_from_dict(values: Mapping[str, Mapping[str, Any]]) -> Settings:
    """The settings that `settings_as_dict` gave, back from JSON."""
    return _apply(Settings(), values)


def changed_settings(settings: Settings) -> dict[str, Any]:
    """The settings that are not the defaults, by their full names."""
    usual, found = settings_as_dict(Settings()), settings_as_dict(settings)
    return {
        f"{section}.{key}": value
        for section in section_names()
        for key, value in found[section].items()
        if value != usual[section][key]
    }


def settings_of_system(settings: Settings, name: str) -> Settings:
    """The settings of a system that [systems] names: the run's, with what the system says in their place."""
    said = {section: values for section, values in settings.systems[name].items() if section != KIND}
    own = replace(settings, systems={}, run=replace(settings.run, systems=(AUTO,)))
    try:
        return _apply(own, said)
    except SettingError as error:
        raise SettingError(f"[{SYSTEMS}.{name}]: {error}") from error


def _settings_file(path: Path) -> Mapping[str, Any]:
    """The tables of a TOML file or, where its name ends in .json, of the `settings.json` of a run."""
    if path.suffix == ".json":
        return _settings_of_run(path)
    tables = read_toml(path)
    if SECTION in tables:
        raise SettingError(f"{path} is a recipe: it has a table [{SECTION}]; give it as --recipe, or leave that out")
    return tables


def _settings_of_run(path: Path) -> Mapping[str, Any]:
    remedy = 'give the settings.json of a run, or a TOML file; of one that you changed, remove the line "checksum"'
    try:
        tables = read_sealed(path, remedy)
    except ArtifactError as error:
        raise SettingError(str(error)) from error
    return {section: values for section, values in tables.items() if section != SOURCE}


def _parse_override(override: str) -> Mapping[str, Any]:
    name, equals, text = override.partition("=")
    if not equals:
        name = ""  # which is no name of a setting
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()  # a bare word needs no quotes on the command line
    except (ValueError, RecursionError) as error:  # thousands of digits or of brackets
        shown = f"{override[:60]}..."
        raise SettingError(f"--set {shown!r} cannot be read as a value ({unreadable(error)})") from error
    return _layer(name, value, f"--set {override!r}")


def _layer(name: str, value: Any, said: str) -> Mapping[str, Any]:
    """One setting by its full name as tables that hold nothing else; `said` is what an error calls it."""
    section, dot, key = name.strip().partition(".")
    if not dot:
        raise SettingError(f"{said} is not of the form section.key=value, such as lexical.k1=0.9")
    if section == SYSTEMS:  # systems.NAME.section.key, or systems.NAME.recipe
        *tables, key = key.split(".")
        for table in reversed(tables):
            key, value = table, {key: value}
    return {section: {key: value}}


def _as_read(value: Any) -> Any:
    """A value that a program gives, as a file would give it: tuples are lists there."""
    return [_as_read(item) for item in value] if isinstance(value, (list, tuple)) else value


def _merged(layers: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """All layers as one, the later over the earlier: settings that need one another are checked together, in whatever
    order they were given."""
    merged: dict[str, dict[str, Any]] = {}
    for section, values in (item for layer in layers for item in layer.items()):
        require_known(section, [*section_names(), SYSTEMS], "section")
        if not isinstance(values, Mapping):
            raise SettingError(f"{section} is a section: write [{section}] and its keys below it")
        if section == SYSTEMS:
            merged[SYSTEMS] = merged_systems(merged.get(SYSTEMS, {}), values)
        else:
            merged.setdefault(section, {}).update(values)
    return merged


def _apply(settings: Settings, changes: Mapping[str, Mapping[str, Any]]) -> Settings:
    sections: dict[str, Any] = {}
    for section, values in changes.items():
        if section == SYSTEMS:
            sections[SYSTEMS] = resolved_systems(values)
            continue
        old = getattr(settings, section)
        known = declared(type(old))
        converted = {}
        for key, value in values.items():
            require_known(f"{section}.{key}", [one.name for one in known.values()], "setting")
            converted[key] = known[key].read(value)
        sections[section] = replace(old, **converted)
    made = replace(settings, **sections)  # at once: sections that need one another are checked together
    for name in made.systems:
        settings_of_system(made, name)  # one that is not allowed is said before anything is done
    return made

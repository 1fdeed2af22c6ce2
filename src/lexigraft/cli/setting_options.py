"""Command-line options that repeat a setting: their help, range and default are those of its declaration."""

import json
from collections.abc import Mapping
from typing import Any

import typer

from lexigraft.core.settings.declaration import Setting, plain
from lexigraft.core.settings.every import SECTIONS
from lexigraft.core.settings.section import Section, declared


def setting_option(
    section: type[Section], key: str, flag: str | None = None, panel: str | None = None, default: str | None = None
) -> Any:
    """An option that is checked as the setting is; its default is the one of the parameter. `default` is what is shown
    for it where that is None."""
    one = declared(section)[key]

    def checked(value: Any) -> Any:
        if value is not None:
            one.check(value)
        return value

    name = flag or f"--{key.replace('_', '-')}"
    return typer.Option(
        name, help=f"{_help(one)}.", rich_help_panel=panel, callback=checked, show_default=default or True
    )


def override_option(name: str, flag: str | None = None, metavar: str | None = None, default: str | None = None) -> Any:
    """An option that is None where it is not given: the setting `name`, such as tilde.batch, then stands. `default` is
    what is shown for it where a command has one of its own."""
    one = _named(name)
    return typer.Option(
        flag or f"--{name.partition('.')[2].replace('_', '-')}",
        help=f"{_help(one)} ({name}).",
        metavar=metavar,
        show_default=default or str(one.default) or False,
    )


def as_overrides(given: Mapping[str, object]) -> list[str]:
    """Settings by their names as `load_settings` takes them, without those that are None."""
    return [f"{name}={_as_toml(name, value)}" for name, value in given.items() if value is not None]


def _named(name: str) -> Setting:
    section, _, key = name.partition(".")
    return declared(SECTIONS[section])[key]


def _as_toml(name: str, value: object) -> str:
    """A text is quoted, so that one of digits stays a text; what may be a number or a word is read as it stands."""
    return json.dumps(str(value), ensure_ascii=False) if _named(name).type is str else str(value)


def _help(one: Setting) -> str:
    """The meaning as a sentence without its full stop, with the values that mean something special and the range."""
    special = [f"{value}: {meaning}" for value, meaning in one.special_values]
    choices = one.said.one_of.values()
    all_said = bool(choices) and all(choices)  # each choice has its meaning above: no need to list them again
    allowed = [f"allowed: {one.range}"] if one.range and not all_said else []
    text = plain("; ".join([one.said.meaning, *special, *allowed]))
    return text[:1].upper() + text[1:]

"""Commands that are imported when they are called, and a help that imports none of them."""

from collections import UserDict
from collections.abc import Mapping, Sequence
from copy import copy
from functools import wraps
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from lexigraft.cli.overview import PANELS, Entry

MARKUP: Final = "markdown"  # of every help text


def hide_types_of_flags() -> None:
    """A flag takes no value: its help shows none. typer shows `<bool>`, and has no way to say otherwise."""
    shown = getattr(TyperOption, "display_type_rich", None)
    if shown is None:  # other versions of typer show none
        return

    def display_type(option: TyperOption, ctx: Any) -> str | None:
        return None if option.is_flag else shown(option, ctx=ctx)

    setattr(TyperOption, "display_type_rich", display_type)  # noqa: B010


def show_odd_characters_in_words() -> None:
    """typer repeats in its messages what was given on the command line: there, a character that a terminal obeys is
    written as its number."""
    base = next(kind for kind in reversed(typer.BadParameter.__mro__) if "format_message" in vars(kind))
    for kind in _all_below(base):
        said = vars(kind).get("format_message")
        if said is not None and not hasattr(said, "__wrapped__"):
            setattr(kind, "format_message", _in_words(said))  # noqa: B010


def _all_below(kind: Any) -> list[Any]:
    return [kind, *(one for below in kind.__subclasses__() for one in _all_below(below))]


def _in_words(said: Any) -> Any:
    @wraps(said)
    def shown(error: Any) -> str:
        return "".join(char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in said(error))

    return shown


class LazyCommands(UserDict[str, Any]):
    """Commands by name. Each is imported when it is first asked for."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        super().__init__(dict.fromkeys(entries))
        self._entries = entries

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            self.data[name] = _load(self._entries[name])
        return self.data[name]


class LazyGroup(TyperGroup):
    """The group of all commands, whose `--help` shows the overview of them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = LazyCommands({entry.name: entry for entries in PANELS.values() for entry in entries})

    def format_help(self, ctx: Any, formatter: Any) -> None:
        shown = copy(self)
        shown.commands = {line.name: line for panel, entries in PANELS.items() for line in _lines(panel, entries)}
        TyperGroup.format_help(shown, ctx, formatter)


def _lines(panel: str, entries: Sequence[Entry]) -> list[Any]:
    """A panel of the overview, as commands that have a summary and nothing else."""
    return [
        TyperCommand(entry.name, help=entry.summary, rich_help_panel=panel, rich_markup_mode=MARKUP)
        for entry in entries
    ]


def _load(entry: Entry) -> Any:
    """The command of an entry, as typer makes it of a function or of an app."""
    module = import_module(f"lexigraft.cli.{entry.module}")
    holder = typer.Typer(rich_markup_mode=MARKUP, pretty_exceptions_enable=False)
    if entry.is_group:
        holder.add_typer(module.app, name=entry.name)
    else:
        kind = import_module("lexigraft.cli.query_command").QueryCommand if entry.takes_query else None
        holder.command(entry.name, cls=kind)(getattr(module, entry.name))
    return typer.main.get_group(holder).commands[entry.name]

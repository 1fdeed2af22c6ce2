"""The reference of all commands as Markdown, read from the commands themselves: `docs/reference/commands.md`.

    python -m lexigraft.cli.reference docs/reference/commands.md

A test holds the file equal to what this writes, so help texts and reference cannot drift apart.
"""

import html
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

INTRODUCTION = """# Commands

<!-- Made from the help texts of src/lexigraft/cli by `make reference`; a test holds the two together. -->

Every command, its arguments and its options, as `--help` shows them. Data go to stdout, messages to stderr.
An error of yours is one line, and the exit status is 2.
"""


def command_reference() -> str:
    """The page: a table of all commands, then a section for each."""
    commands = list(_walk(_program(), None, "lexigraft"))
    table = ["| command | what it does |", "|---|---|"]
    table += [f"| [`{path}`](#{_anchor(path)}) | {_cell(_summary(command))} |" for path, command, _ in commands]
    sections = [_section(path, command, context) for path, command, context in commands]
    return "\n".join([INTRODUCTION, *table, "", "\n\n".join(sections), ""])


def _program() -> Any:
    from lexigraft.cli.app import app

    return typer.main.get_command(app)


def _walk(command: Any, parent: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Each command that does something, with its path and context; a group that only holds others is passed over."""
    context = command.context_class(command, info_name=path.rpartition(" ")[2], parent=parent)
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    if parent is not None and (not names or command.params):
        yield path, command, context
    for name in names:
        yield from _walk(command.get_command(context, name), context, f"{path} {name}")


def _section(path: str, command: Any, context: Any) -> str:
    pieces = " ".join(command.collect_usage_pieces(context))
    lines = [f"## `{path}` {{ #{_anchor(path)} }}", "", _prose(command.help), "", "```text", f"{path} {pieces}", "```"]
    records = [parameter.get_help_record(context) for parameter in command.params if not _hidden(parameter)]
    if shown := [record for record in records if record is not None]:
        lines += ["", "| argument or option | meaning |", "|---|---|"]
        lines += [f"| {_code(name)} | {_cell(meaning)} |" for name, meaning in shown]
    return "\n".join(lines)


def _hidden(parameter: Any) -> bool:
    return bool(getattr(parameter, "hidden", False))


def _summary(command: Any) -> str:
    return _prose(command.help).partition("\n\n")[0]


def _prose(text: str | None) -> str:
    """A help text as Markdown: indentation and the marks by which typer ends a paragraph are left out."""
    return re.sub(r"[ \t]+", " ", (text or "").replace("\b", "").strip())


def _cell(text: str) -> str:
    """Text within a table: no line break, and nothing but what stands in backticks has a meaning in Markdown."""
    plain_and_code = " ".join(text.split()).split("`")
    plain_and_code[::2] = [re.sub(r"[*|<]", lambda mark: f"&#{ord(mark[0])};", part) for part in plain_and_code[::2]]
    return "`".join(plain_and_code)


def _code(text: str) -> str:
    """The same as code. A bar must not end the cell, and readers of Markdown differ in how to say that."""
    if "|" not in text:
        return f"`{text}`"
    return "<code>" + html.escape(text, quote=False).replace("|", "&#124;") + "</code>"


def _anchor(path: str) -> str:
    return path.replace(" ", "-")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(command_reference(), encoding="utf-8")

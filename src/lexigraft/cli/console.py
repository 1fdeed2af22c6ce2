"""What the commands print with: tables to stdout, progress and messages to stderr."""

import json
import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lexigraft.cli.narrow_tables import table_parts
from lexigraft.core.processes import is_leader
from lexigraft.core.progress import Item

# Into a file or pipe nothing is wrapped or cut, whatever the width of the terminal behind it.
# Of several processes only the leader speaks.
QUIET = not is_leader()
out = Console(highlight=False, emoji=False, markup=False, width=None if sys.stdout.isatty() else 200, quiet=QUIET)
err = Console(stderr=True, highlight=False, emoji=False, markup=False, quiet=QUIET)


def print_json(value: Any) -> None:
    """JSON for scripts: plain, never wrapped or coloured."""
    if QUIET:
        return
    out.file.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def print_line(text: str, style: str = "") -> None:
    """One line of data, whole: a path or title can be copied from it."""
    out.print(text, style=style, soft_wrap=True)


def show(as_json: bool, facts: Any, *lines: str) -> None:
    """What a command found or made: the facts as JSON for scripts, or lines for a reader."""
    if as_json:
        print_json(facts)
        return
    for line in lines:
        print_line(line)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[str] = ()) -> None:
    """Numbers to the right, the columns named in `left` to the left. Where a terminal is too narrow, long texts are
    wrapped and further columns follow in a table below: nothing is cut."""
    cells = [list(row) for row in rows]
    widths = [max(map(cell_len, (name, *(row[at] for row in cells)))) for at, name in enumerate(columns)]
    room = out.width if out.is_terminal else max(out.width, sum(widths) + len(widths) + 1)
    for number, part in enumerate(table_parts(widths, [name in left for name in columns], room)):
        table = Table(title=title if title and not number else None, title_justify="left", title_style="bold",
                      box=box.SIMPLE_HEAD, padding=0)  # fmt: skip
        for at, wraps in part.items():
            side: Literal["left", "right"] = "left" if columns[at] in left else "right"
            table.add_column(columns[at], justify=side, no_wrap=not wraps, overflow="fold")
        for row in cells:
            table.add_row(*(Text(row[at]) for at in part))
        _print_within(room, table)


def _print_within(room: int, table: Table) -> None:
    """A console never prints wider than it is, so for this it is as wide as it must be."""
    usual, out.width = out.width, room
    try:
        out.print(table)
    finally:
        out.width = usual


class _Messages(logging.Handler):
    """The package's log on stderr, above any progress bar; a warning that a later stage repeats is shown once."""

    def __init__(self) -> None:
        super().__init__()
        self._warned: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.levelno >= logging.WARNING:
            if text not in self._warned:
                err.print(f"warning: {text}", style="yellow", soft_wrap=True)
            self._warned.add(text)
        else:
            err.print(text, soft_wrap=True)


def show_messages() -> None:
    logger = logging.getLogger("lexigraft")
    logger.handlers = [_Messages()]
    logger.setLevel(logging.INFO)


class BarProgress:
    """Bars with count, rate and time left, on a terminal; nothing where stderr is a file."""

    def track(self, items: Iterable[Item], label: str, total: int | None = None) -> Iterator[Item]:
        if not err.is_terminal:
            yield from items
            return
        from lexigraft.cli.bars import progress_bar

        with progress_bar(err) as progress:
            yield from progress.track(items, description=label, total=total, update_period=0.2)

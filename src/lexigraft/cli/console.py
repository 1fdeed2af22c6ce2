"""What the commands print with: tables to stdout, progress and messages to stderr."""

import json
import logging
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from lexigraft.cli.display import SafeConsole, in_json, on_one_line
from lexigraft.cli.in_flags import in_flags
from lexigraft.cli.narrow_tables import least_width, n_identifying, table_parts
from lexigraft.core.processes import is_leader
from lexigraft.core.progress import Item

# Into a file or pipe nothing is wrapped or cut, whatever the width of the terminal behind it.
# Of several processes only the leader speaks.
QUIET = not is_leader()
SECONDS_A_LINE = 15.0  # of progress, where no bar can be drawn
ENOUGH = 0.05  # of all, to say what is left by: the first of many may have waited for a kernel to be compiled
out = SafeConsole(highlight=False, emoji=False, markup=False, width=None if sys.stdout.isatty() else 200, quiet=QUIET)
err = SafeConsole(stderr=True, highlight=False, emoji=False, markup=False, quiet=QUIET)


def print_json(value: Any) -> None:
    """JSON for scripts: plain, never wrapped or coloured."""
    if QUIET:
        return
    out.file.write(in_json(json.dumps(value, indent=2, ensure_ascii=False)) + "\n")


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


def print_prose(text: str, style: str = "") -> None:
    """A sentence or more for a reader: on a terminal wrapped between words, elsewhere one line."""
    out.print(text, style=style, soft_wrap=not out.is_terminal)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[str] = ()) -> None:
    """Numbers to the right, the columns named in `left` to the left. Where a terminal is too narrow, long texts are
    wrapped and further columns follow in a table below, where each row can be told from the others: nothing is cut."""
    names, cells = list(map(on_one_line, columns)), [list(map(on_one_line, row)) for row in rows]
    left = list(map(on_one_line, left))
    widths, words = _widths(names, cells)
    room = out.width if out.is_terminal else max(out.width, sum(widths) + len(widths) + 1)
    named_by = n_identifying(cells)
    parts = table_parts(widths, [name in left for name in names], room, words, named_by)
    if len(parts) > 1 and len(cells) > 1 and not all(at in parts[-1] for at in range(named_by or len(names))):
        names, cells = ["#", *names], [[str(number), *row] for number, row in enumerate(cells, 1)]
        widths, words = _widths(names, cells)
        parts = table_parts(widths, [name in left for name in names], room, words, n_named_by=1)
    for number, part in enumerate(parts):
        table = Table(title=title if title and not number else None, title_justify="left", title_style="bold",
                      box=box.SIMPLE_HEAD, padding=0)  # fmt: skip
        for at, wraps in part.items():
            side: Literal["left", "right"] = "left" if names[at] in left else "right"
            least = least_width(widths[at], words[at], room) if wraps else None
            table.add_column(names[at], justify=side, no_wrap=not wraps, overflow="fold", min_width=least)
        for row in cells:
            table.add_row(*(Text(row[at]) for at in part))
        _print_within(room, table)


def _widths(names: Sequence[str], cells: Sequence[Sequence[str]]) -> tuple[list[int], list[int]]:
    """Of each column, how wide it is on a screen, and its longest word."""
    columns = [(name, *(row[at] for row in cells)) for at, name in enumerate(names)]
    widths = [max(map(cell_len, texts)) for texts in columns]
    return widths, [max((cell_len(word) for text in texts for word in text.split()), default=0) for texts in columns]


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
        text = in_flags(record.getMessage())
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


def _with_lines(items: Iterable[Item], label: str, total: int | None) -> Iterator[Item]:
    """The items; whoever reads the messages later sees that they go on, and until when."""
    began = said = time.monotonic()
    for done, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if now - said >= SECONDS_A_LINE:
            said = now
            known = total is not None and ENOUGH * total <= done <= total
            left = f", about {(now - began) / done * (total - done):.0f} s left" if total and known else ""
            err.print(f"{label}: {done:,}{f' of {total:,}' if total else ''}{left}", soft_wrap=True)


class BarProgress:
    """Bars with count, rate and time left, on a terminal; where stderr is a file, a line now and then."""

    def track(self, items: Iterable[Item], label: str, total: int | None = None) -> Iterator[Item]:
        if not err.is_terminal:
            yield from _with_lines(items, label, total)
            return
        from lexigraft.cli.bars import progress_bar

        with progress_bar(err) as progress:
            yield from progress.track(items, description=label, total=total, update_period=0.2)

"""Tables at any width: every cell is on the screen, whole or wrapped."""

import io

import pytest
from rich.console import Console

from lexigraft.cli import console
from lexigraft.cli.narrow_tables import table_parts


def printed(monkeypatch, width, columns, rows, left, terminal=True):
    screen = io.StringIO()
    monkeypatch.setattr(console, "out", Console(file=screen, width=width, force_terminal=terminal, color_system=None))
    console.print_table("a title", columns, rows, left)
    return screen.getvalue()


COLUMNS = ["system", *(f"measure{i}" for i in range(12))]
ROWS = [["bm25", *(f"0.{i:04}" for i in range(12))], ["esplade (10,147)", *(f"1.{i:04}▼▼" for i in range(12))]]


@pytest.mark.parametrize("width", [40, 80, 120, 300])
def test_numbers_that_do_not_fit_go_on_below(monkeypatch, width):
    lines = printed(monkeypatch, width, COLUMNS, ROWS, ["system"]).splitlines()
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    assert all(name in words for name in COLUMNS) and all(cell in words for row in ROWS for cell in row[1:])
    headers = [line for line in lines if "system" in line]
    assert len(headers) == sum(line.lstrip().startswith("bm25") for line in lines)  # each part says what its rows are
    assert (len(headers) == 1) == (width == 300)


def test_long_texts_are_wrapped(monkeypatch):
    about = "Expanded-SPLADE over a hundred thousand terms of the corpus, in minutes"
    columns = ["recipe", "scale", "what it is", "paper"]
    shown = printed(monkeypatch, 80, columns,
                    [["csv-splade-doc-small", "small", about, about]], columns)  # fmt: skip
    assert max(map(len, shown.splitlines())) <= 80
    assert "csv-splade-doc-small" in shown
    assert all(shown.count(word) >= 2 for word in ("Expanded-SPLADE", "thousand", "minutes"))
    assert "…" not in shown


def test_into_a_pipe_nothing_is_wrapped_whatever_its_width(monkeypatch):
    long = "x" * 400
    shown = printed(monkeypatch, 80, ["name", "n"], [[long, "1"]], ["name"], terminal=False)
    assert long in shown


def test_a_first_column_that_is_too_long_is_wrapped():
    assert table_parts([100, 5], [True, False], 60) == [{0: True, 1: False}]
    assert table_parts([10, 5], [True, False], 60) == [{0: False, 1: False}]
    assert table_parts([], [], 60) == [{}]

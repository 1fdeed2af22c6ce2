"""Tables at any width: every cell is on the screen, whole or wrapped."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from lexigraft.cli import console
from lexigraft.cli.narrow_tables import n_identifying, table_parts


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


def test_a_part_below_repeats_what_tells_its_rows_apart(monkeypatch):
    """Rows of one system differ by (qk, dk): those are repeated although they are numbers."""
    columns = ["system", "qk", "dk", *(f"measure{i}" for i in range(12))]
    kept = [["5", "20"], ["5", "10"], ["7", "20"]]
    rows = [["esplade", *keep, *(f"{keep[0]}.{i:04}" for i in range(12))] for keep in kept]
    lines = printed(monkeypatch, 80, columns, rows, ["system"]).splitlines()
    headers = [line.split() for line in lines if "system" in line]
    assert len(headers) > 1 and all(header[:3] == ["system", "qk", "dk"] for header in headers)
    starts = [line.split()[:3] for line in lines if "esplade" in line]
    assert starts == [["esplade", *keep] for keep in kept] * len(headers)


@pytest.mark.parametrize("same", [False, True], ids=["long names", "equal rows"])
def test_rows_that_nothing_short_tells_apart_are_numbered(monkeypatch, same):
    columns = ["study", "arm", "minutes", *(f"measure{i}" for i in range(8))]
    arms = ["modernbert-large-norm", "modernbert-large-norm" if same else "modernbert-large-plain"]
    rows = [["a study of vocabularies", arm, "1.0", *(f"0.{i:04}" for i in range(8))] for arm in arms]
    lines = printed(monkeypatch, 80, columns, rows, ["study", "arm"]).splitlines()
    headers = [line.split() for line in lines if "#" in line]
    assert len(headers) > 1
    assert [line.split()[0] for line in lines if "vocabularies" in line] == ["1", "2"] * len(headers)
    assert "#" not in printed(monkeypatch, 200, columns, rows, ["study", "arm"])  # where all is in one table


def test_words_of_a_text_stay_whole(monkeypatch):
    columns = ["study", "collection", "arm", "n", "what"]
    rows = [["vocabulary", "pc", "esplade-strict-mask", "3", "kept to (5, 10) terms by a mask in its training"]]
    shown = printed(monkeypatch, 70, columns, rows, ["study", "collection", "arm", "what"])
    assert "esplade-strict-mask" in shown
    assert max(map(len, shown.splitlines())) <= 70


def test_a_wide_script_has_its_room(monkeypatch):
    rows = [["필드이름필드이름", "설명설명설명설명설명", "1"]] * 2
    shown = printed(monkeypatch, 44, ["field", "holds", "n"], rows, ["field", "holds"])
    assert max(map(cell_len, shown.splitlines())) <= 44
    assert shown.count("필드이름필드이름") == 2


@pytest.mark.parametrize(("terminal", "lines"), [(True, 3), (False, 1)])
def test_prose_is_wrapped_between_words_on_a_terminal_alone(monkeypatch, terminal, lines):
    screen, text = io.StringIO(), "the interval holds the true difference " * 3
    monkeypatch.setattr(console, "out", Console(file=screen, width=50, force_terminal=terminal, color_system=None))
    console.print_prose(text.strip())
    shown = screen.getvalue().splitlines()
    assert len(shown) == lines
    assert " ".join(" ".join(shown).split()) == text.strip()


def test_what_identifies_rows():
    assert n_identifying([["a", "1"], ["a", "2"]]) == 2
    assert n_identifying([["a", "1"], ["b", "1"]]) == 1
    assert n_identifying([["a"], ["a"]]) == n_identifying([]) == 0

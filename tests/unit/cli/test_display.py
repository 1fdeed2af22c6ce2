"""Nothing that somebody's data hold is obeyed by a terminal, and nothing of it is lost in JSON."""

import io
import json
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from lexigraft.cli import console
from lexigraft.cli.display import SafeConsole, displayed, in_json, on_one_line

OBEYED = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
ODD = "a\x1b[31mred\x07\x9b2J\u202egnp.exe\u2028end\r\ud800\x7f"
SEEN = r"a\x1b[31mred\x07\x9b2J\u202egnp.exe\u2028end\r\ud800\x7f"


def test_what_a_terminal_would_obey_is_written_out():
    assert displayed(ODD) == on_one_line(ODD) == SEEN
    assert displayed("two\nlines\tand tab") == "two\nlines\tand tab"
    assert on_one_line("two\nlines\tand tab") == r"two\nlines\tand tab"
    assert displayed("순서를 유지합니다 é 🦊") == "순서를 유지합니다 é 🦊"


@given(st.text(st.characters(), max_size=30))
def test_no_text_is_obeyed(text):
    assert not OBEYED.search(displayed(text))
    assert not re.search("[\n\t]", on_one_line(text))


@given(st.text(st.characters(), max_size=30))
def test_json_reads_as_before(text):
    written = in_json(json.dumps({text: [text]}, ensure_ascii=False))
    assert json.loads(written) == {text: [text]}
    assert not OBEYED.search(written)
    written.encode()


@pytest.mark.parametrize("wrapped", [str, Text, lambda text: _table(text)])
def test_consoles_print_none(wrapped):
    file = io.StringIO()
    SafeConsole(file=file, highlight=False, emoji=False, markup=False, width=200).print(wrapped(ODD))
    assert not OBEYED.search(file.getvalue())
    assert "\\x1b[31mred" in file.getvalue()


def test_styles_still_reach_a_terminal():
    file = io.StringIO()
    SafeConsole(file=file, force_terminal=True, color_system="standard", markup=False).print("bold", style="bold")
    assert file.getvalue() == "\x1b[1mbold\x1b[0m\n"


def test_tables_lines_and_messages(capsys):
    console.print_table("title", ["id", ODD], [["d\n1", ODD]], left=["id"])
    console.print_line(ODD)
    console.print_json({"id": ODD})
    console.show_messages()
    import logging

    logging.getLogger("lexigraft.x").warning("read %s", ODD)
    sys.stdout.flush()
    shown = capsys.readouterr()
    assert not OBEYED.search(shown.out + shown.err)
    assert r"d\n1" in shown.out
    assert SEEN in shown.err


def _table(text: str) -> Table:
    table = Table()
    table.add_column(text)
    table.add_row(text)
    return table

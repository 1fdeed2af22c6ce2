import subprocess
import sys

import pytest
import typer

from lexigraft.cli.app import app
from lexigraft.cli.overview import PANELS

ENTRIES = [entry for entries in PANELS.values() for entry in entries]
HELP = """
import sys
from lexigraft.cli.app import main
sys.argv = ["lexigraft", "--help"]
try:
    main()
finally:
    print("imported:", sorted(name for name in sys.modules if name.startswith("lexigraft.cli")), file=sys.stderr)
"""


def commands() -> dict:
    return typer.main.get_command(app).commands


def test_every_name_is_there_once():
    assert list(commands()) == [entry.name for entry in ENTRIES]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_entry_is_the_command_that_it_names(entry):
    command = commands()[entry.name]
    assert command.name == entry.name
    assert command.help
    inner = getattr(command, "commands", {})
    assert bool(inner) == entry.is_group
    for name in inner:
        assert f"`{name}`" in entry.summary, "the overview names every command of a group"


def test_a_command_is_imported_once():
    found = commands()
    assert found["search"] is found["search"]


def test_help_imports_no_command():
    shown = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    loaded = {"app", "console", "display", "in_flags", "lazy", "narrow_tables", "overview", "plain_values"}
    assert shown.stderr.split("imported: ")[1].strip() == str(
        ["lexigraft.cli", *(f"lexigraft.cli.{name}" for name in sorted(loaded))]
    )
    for panel, entries in PANELS.items():
        assert panel in shown.stdout
        assert all(entry.name in shown.stdout for entry in entries)
    assert shown.stdout.index("lexigraft quickstart") < shown.stdout.index("Start here"), "the tour comes first"


def test_an_unknown_command_is_answered_with_the_nearest(lexigraft):
    answer = lexigraft("serach")
    assert answer.status == 2
    assert "search" in answer.stderr

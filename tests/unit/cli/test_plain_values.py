"""Values that are converted without pydantic are those that typer makes of them."""

import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.core import TyperOption

from lexigraft.cli.plain_values import LEFT, convert_plain_values, plain

convert_plain_values()


def converted(wanted, given, **asked):
    """What a command gets for `--value GIVEN`, or the error that is printed; with typer's own conversion, too."""
    app, got = typer.Typer(pretty_exceptions_enable=False), []

    @app.command()
    def command(value: wanted = typer.Option(..., "--value", **asked)) -> None:  # noqa: B008
        got.append(value)

    def call():
        got.clear()
        try:
            app(["--value", given], standalone_mode=False)
        except Exception as error:  # noqa: BLE001, what it is depends on the version of typer
            return str(error)
        return type(got[0]), got[0]

    usual = TyperOption.get_runtime_param
    here = call()
    TyperOption.get_runtime_param = usual._usual
    try:
        return here, call()
    finally:
        TyperOption.get_runtime_param = usual


@pytest.mark.parametrize(
    ("wanted", "given", "asked"),
    [
        (str, "", {}),
        (str, "ä text", {}),
        (int, "3", {}),
        (int, "0", {"min": 1}),
        (int, "9", {"max": 8}),
        (int, "9", {"max": 8, "clamp": True}),
        (int, "+3", {}),
        (int, "٣", {}),
        (int, "three", {}),
        (float, "0.5", {"min": 0}),
        (Path, "/not/there", {}),
        (Path, "/not/there", {"exists": True}),
        (Path, "/", {}),
        (Path, "/", {"dir_okay": False}),
        (Path, "", {}),
        (list[str], "one", {}),
        (bool, "--value", {}),
    ],
)
def test_as_typer_has_it(wanted, given, asked):
    here, by_typer = converted(wanted, given, **asked)
    assert here == by_typer


def test_what_is_obvious_is_not_left_to_typer():
    asked = typer.Option()
    assert plain("text", str, asked) == "text"
    assert plain("7", int, asked) == 7
    assert plain("/not/there", Path, asked) == Path("/not/there")
    assert plain("seven", int, asked) is LEFT


def test_a_command_with_usual_options_imports_no_pydantic(tmp_path):
    code = (
        "import sys\nfrom lexigraft.cli.app import app\nfrom lexigraft.core.errors import LexigraftError\n"
        f"try:\n    app(['search', 'text', '--k', '3', '--index', {str(tmp_path)!r}])\n"
        "except LexigraftError:\n    pass\n"
        "print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]

"""Options that repeat a setting say and refuse what its declaration does."""

from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from lexigraft.cli.app import app as lexigraft
from lexigraft.cli.setting_options import as_overrides, override_option, setting_option
from lexigraft.core.config import load_settings
from lexigraft.core.errors import SettingError
from lexigraft.core.settings import SearchSettings
from lexigraft.data.clicks.settings import Correction

app = typer.Typer()


@app.command()
def command(
    overlap: Annotated[float, setting_option(SearchSettings, "overlap")] = SearchSettings.overlap,
    correct: Annotated[str, setting_option(Correction, "method", "--correct")] = Correction.method,
    keep: Annotated[int | None, override_option("tilde.keep")] = None,
) -> None:
    typer.echo(f"{overlap} {correct} {keep}")


def options(path=()):
    found = get_command(lexigraft if path else app)
    for name in path:
        found = found.commands[name]
    return {option.opts[0]: option for option in found.params}


def test_values_go_through():
    assert CliRunner().invoke(app, []).output == "0.0 none None\n"
    assert CliRunner().invoke(app, ["--overlap", "1", "--correct", "power", "--keep", "3"]).output == "1.0 power 3\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--overlap", "1.5"], "search.overlap = 1.5 is not allowed: 0 to 1 (0: all that hold one)"),
        (["--correct", "magic"], "correct = 'magic' is not allowed: one of none, power, estimated"),
    ],
)
def test_what_a_setting_refuses_an_option_refuses(arguments, says):
    error = CliRunner().invoke(app, arguments).exception
    assert isinstance(error, SettingError)
    assert str(error) == says


def test_help_is_what_is_declared():
    assert options()["--overlap"].help == (
        "Only documents that hold this share of the query's terms are scored; 0: all that hold one; allowed: 0 to 1."
    )
    assert options()["--keep"].help == (
        "So many of the words that are left are added to a document, the likeliest first; 0: all; allowed: 0 or more "
        "(tilde.keep)."
    )
    assert options()["--keep"].show_default == "40"
    assert "`" not in "".join(option.help or "" for option in options(("run",)).values())


def test_texts_stay_texts_and_words_stand_for_numbers():
    given = as_overrides(
        {
            "tilde.positives": Path('a "quoted" 😀.trec'), "backbone.tokenizer": "2026", "model.alpha": "auto",
            "data.on_duplicate": "skip", "tilde.batch": 8, "tilde.learning_rate": 1e-05, "run.seed": None,
        }
    )  # fmt: skip
    found = load_settings(None, given)
    assert (found.tilde.positives, found.backbone.tokenizer) == ('a "quoted" 😀.trec', "2026")
    assert (found.model.alpha, found.data.on_duplicate) == ("auto", "skip")
    assert (found.tilde.batch, found.tilde.learning_rate, found.run.seed) == (8, 1e-05, 0)
    assert load_settings(None, as_overrides({"model.alpha": "4"})).model.alpha == 4.0

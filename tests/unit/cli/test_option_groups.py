import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from lexigraft.cli.given_settings import ReadingOptions, RecipeOptions, SettingsOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.core.config import load_settings
from lexigraft.core.errors import SettingError


@dataclass(frozen=True)
class Drawn:
    source: Annotated[str, typer.Option("--data")]
    seed: Annotated[int, typer.Option("--seed", min=0)] = 3


@dataclass(frozen=True)
class Shown:
    names: Annotated[list[str] | None, typer.Option("--name")] = None


def answer(*arguments: str):
    app = typer.Typer()

    @app.command()
    @grouped
    def draw(
        *,
        text: Annotated[str, typer.Argument()] = "none",
        drawn: Drawn,
        shown: Shown,
        twice: Annotated[bool, typer.Option("--twice")] = False,
    ) -> None:
        """Draw."""
        typer.echo(json.dumps([text, drawn.source, drawn.seed, shown.names, twice]))

    return CliRunner().invoke(app, list(arguments))


def test_a_command_gets_its_groups_as_values():
    assert json.loads(answer("--data", "d").stdout) == ["none", "d", 3, None, False]
    given = answer("word", "--data", "d", "--seed", "5", "--name", "a", "--name", "b", "--twice")
    assert json.loads(given.stdout) == ["word", "d", 5, ["a", "b"], True]


def test_options_of_a_group_are_checked_as_any():
    assert answer().exit_code == 2
    assert answer("--data", "d", "--seed", "-1").exit_code == 2


def test_they_stand_in_help_where_the_group_stands():
    text = answer("--help").stdout
    places = [text.index(option) for option in ("--data", "--seed", "--name", "--twice")]
    assert places == sorted(places)
    assert "--drawn" not in text


def test_settings_come_from_the_options_that_a_group_has(tmp_path):
    file = tmp_path / "my.toml"
    file.write_text("[lexical]\nk1 = 1.5\n[vocab]\nsize = 7\n")
    options = ReadingOptions(file, ["lexical.b=0.3"], "skip")
    assert options.load() == load_settings(file, ["lexical.b=0.3", "data.on_duplicate=skip"])
    assert RecipeOptions("emlm-small").load() == load_settings(recipe="emlm-small")
    assert options.load({"vocab.size": 9, "vocab.min_count": None}).vocab.size == 9


@pytest.mark.parametrize("name", ["1e5", "a 'b'", "ü😀", 'x"y', "true"])
def test_names_and_paths_stay_text(name):
    for value in (name, Path(name)):
        assert SettingsOptions().load({"backbone.tokenizer": value}).backbone.tokenizer == name


def test_a_setting_that_is_not_allowed_is_refused():
    with pytest.raises(SettingError, match=r"vocab\.size"):
        SettingsOptions().load({"vocab.size": -1})

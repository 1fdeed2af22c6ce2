"""One stage of a run's model, made by a command of its own: the options such commands share, and the making."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, show_messages
from lexigraft.cli.given_settings import Loading
from lexigraft.cli.options import (
    AlphaOption,
    ConfigOption,
    DataOption,
    OutOption,
    RecipeOption,
    ReplaceOption,
    SetOption,
)

AgainOption = Annotated[bool, typer.Option("--again", help="Do this stage again although it is done.")]


@dataclass(frozen=True)
class StageOptions(Loading):
    """Which collection, which run, with which settings, and whether to do again what is done."""

    data: DataOption
    run: OutOption
    recipe: RecipeOption = None
    config: ConfigOption = None
    set_: SetOption = None
    again: AgainOption = False
    replace: ReplaceOption = False

    def make(self, stage: str) -> Path:
        """Make the model of the run as far as `stage`; returns the folder of what that stage leaves."""
        from lexigraft.whole_run import train_until

        show_messages()
        again = stage if self.again else None
        return train_until(self.data, self.run, self.load(), stage, again, BarProgress(), self.replace)


@dataclass(frozen=True)
class FinetuneOptions(StageOptions):
    """The options of a stage, and what the head is divided by before fine-tuning."""

    alpha: AlphaOption = None

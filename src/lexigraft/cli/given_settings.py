"""The options that settings are made of, as groups for the commands that take them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lexigraft.cli.options import (
    ConfigOption,
    FieldsOption,
    FormatOption,
    OnDuplicateOption,
    RecipeOption,
    SetOption,
    overrides,
)
from lexigraft.cli.setting_options import as_overrides

if TYPE_CHECKING:
    from lexigraft.core.settings import Settings


class Loading:
    """Settings out of the options of a group. An option that a group does not have is as if it were not given."""

    config: Path | None = None
    set_: list[str] | None = None
    recipe: str | None = None
    alpha: str | None = None
    on_duplicate: str | None = None
    fields: str | None = None
    format_: str | None = None

    def load(self, own: Mapping[str, object] | None = None) -> "Settings":
        """The settings that the user gave, and those in `own`: the command's own options, by the names of the settings
        that they stand for. None is an option that was not given."""
        from lexigraft.core.config import load_settings

        shared = overrides(self.set_, self.on_duplicate, self.alpha, self.fields, self.format_)
        return load_settings(self.config, [*shared, *as_overrides(own or {})], self.recipe)


@dataclass(frozen=True)
class SettingsOptions(Loading):
    """Settings from a file and from --set."""

    config: ConfigOption = None
    set_: SetOption = None


@dataclass(frozen=True)
class ReadingOptions(Loading):
    """Settings of a command that reads a collection."""

    config: ConfigOption = None
    set_: SetOption = None
    on_duplicate: OnDuplicateOption = None
    fields: FieldsOption = None
    format_: FormatOption = None


@dataclass(frozen=True)
class RecipeOptions(Loading):
    """Settings that may begin with a recipe."""

    recipe: RecipeOption = None
    config: ConfigOption = None
    set_: SetOption = None

"""How a collection's files are read."""

from dataclasses import dataclass, field
from pathlib import Path

from lexigraft.core.errors import SettingError
from lexigraft.core.settings.data import DataSettings
from lexigraft.core.settings.section import declared
from lexigraft.data.fields import Named, parse_fields

AUTO = "auto"
LINES, FILES = "lines", "files"  # of text: a document is a line, or a file


@dataclass(frozen=True)
class Reading:
    """What happens at an id used twice (error, skip; or keep, for who counts them) and at bytes that are not UTF-8
    (error, replace); which fields are what, and of which format the documents are; queries and judgements that lie
    elsewhere, as SPLIT=FILE or FILE (test)."""

    on_duplicate: str = "error"
    on_bad_bytes: str = "error"
    fields: str = ""
    format: str = AUTO
    queries: str = ""
    qrels: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Commands that have no settings take these from options of their own: they are checked as the settings are."""
        known = declared(DataSettings)
        for name in ("on_duplicate", "on_bad_bytes", "format"):
            if (name, getattr(self, name)) != ("on_duplicate", "keep"):
                known[name].check(getattr(self, name))

    @property
    def named(self) -> Named:
        return parse_fields(self.fields)

    @property
    def qrels_files(self) -> dict[str, Path]:
        """By split; raises `SettingError` where a split comes twice."""
        found: dict[str, Path] = {}
        for text in self.qrels:
            split, equals, file = text.partition("=")
            if not equals:
                split, file = "test", text
            if split in found:
                raise SettingError(f"judgements of split {split!r} are given twice: {found[split]} and {file}")
            found[split] = Path(file)
        return found

    @property
    def entry(self) -> dict[str, str]:
        """What changes documents and was chosen, for a recipe: nothing where all is as usual, as before there was a
        choice."""
        chosen = {"fields": self.fields, "format": self.format}
        return {key: value for key, value in chosen.items() if value not in ("", AUTO)}


STRICT = Reading()

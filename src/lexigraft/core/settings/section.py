"""How settings are declared: a section is a frozen dataclass whose fields are made by `setting`.

    @dataclass(frozen=True)
    class LexicalSettings(Section, name="lexical"):
        k1: float = setting(1.2, "how fast a word counts less when it comes again", at_least=0)

That line is all: the value is checked when a section is made, an error says what is allowed, `config` reads it from
files and the command line, and docs/settings.md has a row for it. Rules between settings are written in
`check_together`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from typing import Any, ClassVar, TypeVar

from lexigraft.core.settings.bounds import Bounds
from lexigraft.core.settings.declaration import Declaration, Setting

T = TypeVar("T")
KEY = "setting"  # of a field's metadata


def setting(
    default: T,
    meaning: str,
    more: str = "",
    *,
    at_least: float | None = None,
    more_than: float | None = None,
    at_most: float | None = None,
    less_than: float | None = None,
    one_of: Mapping[Any, str] | Iterable[Any] = (),
    some_of: Iterable[str] = (),
    zero: str = "",
    empty: str = "",
    auto: str = "",
    words: Mapping[str, str] | None = None,
    called: str = "",
) -> T:
    """A field of a section; what the arguments say is explained at `Declaration`."""
    choices = one_of if isinstance(one_of, Mapping) else dict.fromkeys(one_of, "")
    bounds = Bounds(at_least, more_than, at_most, less_than)
    said = Declaration(meaning, more, zero, empty, auto, choices, tuple(some_of), bounds, called, words or {})
    made: T = field(default=default, metadata={KEY: said})
    return made


class Section:
    """Base of every section. `name` is what files and errors call it; without one, settings go by their own names."""

    section_name: ClassVar[str] = ""

    def __init_subclass__(cls, name: str = "") -> None:
        super().__init_subclass__()
        cls.section_name = name

    def __post_init__(self) -> None:
        for key, one in declared(type(self)).items():
            one.check(getattr(self, key))
        self.check_together()

    def check_together(self) -> None:
        """Raise where settings that are allowed by themselves do not go together."""


_DECLARED: dict[type[Section], dict[str, Setting]] = {}


def declared(section: type[Section]) -> dict[str, Setting]:
    """The settings of a section, in order, by the names of their fields."""
    if section not in _DECLARED:
        prefix = f"{section.section_name}." if section.section_name else ""
        _DECLARED[section] = {
            one.name: Setting(f"{prefix}{one.name}", one.type, one.default, one.metadata[KEY])
            for one in fields(section)  # type: ignore[arg-type]  # every subclass is a dataclass
        }
    return _DECLARED[section]

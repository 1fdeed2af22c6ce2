"""A setting is said once: what is declared of it decides its check, its error and its row in the reference."""

import math
import tomllib
from dataclasses import asdict, dataclass

import pytest

from lexigraft.core.config import load_settings
from lexigraft.core.errors import SettingError
from lexigraft.core.settings.bounds import Bounds
from lexigraft.core.settings.declaration import KINDS
from lexigraft.core.settings.every import SECTIONS, section_names
from lexigraft.core.settings.section import Section, declared, setting

EVERY = [one for section in SECTIONS.values() for one in declared(section).values()]


@dataclass(frozen=True)
class Oven(Section, name="oven"):
    """A section for these tests."""

    degrees: float = setting(180.0, "how hot", "More words.", at_least=0, less_than=300, zero="off")
    mode: str = setting("fan", "what heats", one_of={"fan": "", "grill": "from above"})
    trays: tuple[str, ...] = setting(("auto",), "which are used", some_of=("low", "high"), auto="the low one")
    plan: tuple[tuple[int | str, int | str], ...] = setting(((0, 0),), "minutes and degrees")
    light: bool = setting(False, "whether it can be seen")

    def check_together(self) -> None:
        if self.mode == "grill" and self.degrees < 100:
            raise SettingError("too cold to grill")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"degrees": -1.0}, r"oven\.degrees = -1\.0 is not allowed: 0 or more and less than 300 \(0: off\)"),
        ({"degrees": 300}, "less than 300"),
        ({"degrees": math.nan}, r"oven\.degrees = nan is not allowed: a finite number, 0 or more"),
        ({"mode": "gas"}, r"oven\.mode = 'gas' is not allowed: one of fan, grill"),
        ({"trays": ("low", "top")}, r"oven\.trays = \['low', 'top'\] is not allowed: some of low, high, or auto"),
        ({"trays": ()}, "some of low, high"),
        ({"plan": ((1, 2, 3),)}, "pairs of counts"),
        ({"plan": ((True, 2),)}, "pairs of counts"),
        ({"plan": ()}, "pairs of counts"),
        ({"plan": (("m1", 2),)}, "pairs of counts or masses such as"),
        ({"plan": ((1, "m.80"),)}, "pairs of counts or masses such as"),  # written m0.8 everywhere
        ({"mode": "grill", "degrees": 50.0}, "too cold to grill"),
    ],
)
def test_a_section_is_checked_when_it_is_made(given, says):
    with pytest.raises(SettingError, match=says):
        Oven(**given)


def test_what_is_allowed_is_taken_as_it_is():
    assert asdict(Oven(0.0)) == {"degrees": 0.0, "mode": "fan", "trays": ("auto",), "plan": ((0, 0),), "light": False}
    assert Oven(trays=("high", "low")).trays == ("high", "low")
    assert Oven.degrees == 180.0  # a default can be had of the class, for the command line


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("degrees", 7, 7.0),
        ("trays", "low", ("low",)),
        ("trays", ["low"], ("low",)),
        ("plan", [[1, "m0.8"]], ((1, "m0.8"),)),
    ],
)
def test_values_are_read_as_their_type(key, value, read):
    found = declared(Oven)[key].read(value)
    assert (found, type(found)) == (read, type(read))


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("degrees", "hot", "oven.degrees = 'hot' should be of type float, like its default 180.0"),
        ("degrees", True, "should be of type float"),
        ("light", 1, "should be of type bool"),
        ("trays", [1], "it is a list such as"),
        ("plan", [1, 2], "it is a list such as"),
    ],
)
def test_values_of_another_type_are_refused(key, value, says):
    with pytest.raises(SettingError, match=says):
        declared(Oven)[key].read(value)


@pytest.mark.parametrize(
    ("bounds", "words", "inside", "outside"),
    [
        (Bounds(at_least=0), "0 or more", (0, 5), (-1, math.inf, math.nan)),
        (Bounds(more_than=0), "more than 0", (0.1,), (0,)),
        (Bounds(at_least=1, at_most=1000), "1 to 1,000", (1, 1000), (0, 1001)),
        (Bounds(at_least=0, less_than=1), "0 or more and less than 1", (0, 0.9), (1,)),
        (Bounds(more_than=0, at_most=1), "more than 0 and at most 1", (1,), (0, 1.1)),
        (Bounds(), "", (-5, 5), (math.inf,)),
    ],
)
def test_bounds(bounds, words, inside, outside):
    assert bounds.words == words
    assert all(map(bounds.hold, inside))
    assert not any(map(bounds.hold, outside))


def test_sections_are_called_what_settings_call_them():
    assert section_names() == [section.section_name for section in SECTIONS.values()]


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.name)
def test_every_setting_is_declared_well(one):
    assert one.type in KINDS
    assert one.said.meaning and not one.said.meaning.endswith(".")
    assert not one.said.more or one.said.more.endswith(".")
    assert "|" not in one.said.meaning + one.said.more  # it would end the cell of a table
    one.check(one.default)
    assert one.read(tomllib.loads(f"value = {one.default_text}")["value"]) == one.default


BELOW = [one for one in EVERY if one.said.bounds.at_least is not None or one.said.bounds.more_than is not None]


@pytest.mark.parametrize("one", BELOW, ids=lambda one: one.name)
def test_every_lower_end_holds_from_the_command_line(one):
    lowest = one.said.bounds.more_than if one.said.bounds.at_least is None else one.said.bounds.at_least - 1
    with pytest.raises(SettingError, match=rf"{one.name} = .* is not allowed: {one.said.bounds.words}"):
        load_settings(None, [f"{one.name}={lowest}"])

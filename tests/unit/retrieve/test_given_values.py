"""Values of metadata as Python programs have them, which files do not."""

from enum import Enum
from fractions import Fraction

import pytest

from lexigraft.core.errors import InputError
from lexigraft.index.metadata_columns import GivenMetadata
from lexigraft.retrieve.given_values import given_values


class Colour(str, Enum):  # noqa: UP042 (one of before Python 3.11 is meant)
    RED = "red"


def test_a_text_of_an_enumeration_is_what_it_says():
    (value,) = given_values({"colour": Colour.RED}, "they").values()
    assert (type(value), str(value)) == (str, "red")


@pytest.mark.parametrize("number", [10**5000, -(10**5000), Fraction(10**400)], ids=["large", "small", "fraction"])
@pytest.mark.parametrize("in_list", [False, True])
def test_a_number_that_nobody_can_write_is_named(number, in_list):
    with pytest.raises(InputError, match=r"they have .*'n' a number of too many digits; give it as text"):
        given_values({"n": [number] if in_list else number}, "they")


@pytest.mark.parametrize("values", [(1e16, 10**16), (10**16, 1e16)], ids=["float first", "integer first"])
def test_what_a_large_number_is_does_not_depend_on_what_came_before(values):
    """A whole number beyond 2^53 is a text, though a float that is a number may be equal to it."""
    found = GivenMetadata().add_all((str(place), {"n": value}) for place, value in enumerate(values)).table()
    assert found.values["n"].is_number.tolist() == [True, False]
    codes = found.values["n"].codes.tolist()
    assert dict(zip(map(type, values), codes, strict=True)) == {float: 0, int: 1}

import pytest

from lexigraft.core.errors import SettingError
from lexigraft.search.filters import Condition, parse_condition


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("year=2021", ("year", "=", "2021")),
        ("year != 2021", ("year", "!=", "2021")),
        ("year>=-3.5", ("year", ">=", "-3.5")),
        ("a key<= a=b ", ("a key", "<=", "a=b")),
        ("venue=", ("venue", "=", "")),
        ("year==2021", ("year", "=", "2021")),
        ('name=" two  spaces "', ("name", "=", " two  spaces ")),
        ('name="=2021"', ("name", "=", "=2021")),
        ('name=""', ("name", "=", "")),
        ('name=""quoted""', ("name", "=", '"quoted"')),
        ('name="', ("name", "=", '"')),
        ("url=https://x.example/?a>=b", ("url", "=", "https://x.example/?a>=b")),
    ],
)
def test_conditions(text, expected):
    assert parse_condition(text) == Condition(*expected)


@pytest.mark.parametrize("text", ["year", "=2021", "", "year>2021", "year<2021", "!=x"])
def test_what_is_none(text):
    with pytest.raises(SettingError, match="is not a condition: KEY=VALUE"):
        parse_condition(text)

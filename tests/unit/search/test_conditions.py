import pytest

from lexigraft.core.errors import SettingError
from lexigraft.search.conditions import AllOf, AnyOf, Compare, Has, In, Not, parse_condition


def plain(node):
    """Without places and quotes."""
    match node:
        case AllOf(parts) | AnyOf(parts):
            return ("and" if isinstance(node, AllOf) else "or", *map(plain, parts))
        case Not(part):
            return ("not", plain(part))
        case In(key, values, _):
            return (key, "in", *(value.text for value in values))
        case Has(key, value, _):
            return (key, "has", value.text)
        case Compare(key, sign, value, _):
            return (key, sign, value.text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("year>2021", ("year", ">", "2021")),
        ("year == 2021", ("year", "=", "2021")),
        ('lang = "d\\"e\\\\"', ("lang", "=", 'd"e\\')),
        ("lang = 'de'", ("lang", "=", "de")),
        ("state=OR", ("state", "=", "OR")),
        ('"a key" != x', ("a key", "!=", "x")),
        ("a=1 or b=2 and not c=3", ("or", ("a", "=", "1"), ("and", ("b", "=", "2"), ("not", ("c", "=", "3"))))),
        ("(a=1 OR b=2) AND c=3", ("and", ("or", ("a", "=", "1"), ("b", "=", "2")), ("c", "=", "3"))),
        ("not not a=1", ("not", ("not", ("a", "=", "1")))),
        ("not = 1 and in = 2", ("and", ("not", "=", "1"), ("in", "=", "2"))),
        ("lang in (de, 'e n',fr)", ("lang", "in", "de", "e n", "fr")),
        ("lang not in (de) and tags not has x", ("and", ("not", ("lang", "in", "de")), ("not", ("tags", "has", "x")))),
        (
            'year >= 2020 and (lang = "de" or lang in ("en", "fr")) and not tags has "draft"',
            (
                "and",
                ("year", ">=", "2020"),
                ("or", ("lang", "=", "de"), ("lang", "in", "en", "fr")),
                ("not", ("tags", "has", "draft")),
            ),
        ),
    ],
)
def test_the_language(text, expected):
    assert plain(parse_condition(text).root) == expected


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
        ("venue=Journal of Physics (B), new", ("venue", "=", "Journal of Physics (B), new")),
        ("name=O'Brien Smith", ("name", "=", "O'Brien Smith")),
    ],
)
def test_the_former_form(text, expected):
    assert plain(parse_condition(text).root) == expected


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("year", "at the end", "one of = != < <= > >= in has"),
        ("", "at the end", "the name of a field"),
        ("=2021", "at character 1, '=2021'", "the name of a field"),
        ("year >= 2020 and", "at the end", "the name of a field"),
        (
            "year >= 2020 lang = de",
            "at character 14, 'lang = de'",
            "'and', 'or' or the end is expected",
        ),
        ('lang = "de" or "en"', "at the end", "one of ="),
        ("lang = de and draft", "at the end", "one of ="),
        ('lang = "de', "at character 8, '\"de'", "this quote is not closed"),
        ("(year = 1", "at the end", "'and', 'or' or a closing parenthesis"),
        ("year = 1)", "at character 9, ')'", "no parenthesis was opened"),
        ("lang in de", "at character 9, 'de'", "a list such as (1, 2)"),
        ("lang in (de fr)", "at character 13, 'fr)'", "a comma or a closing parenthesis"),
        ("lang in ()", "at character 10, ')'", "a value"),
        ("lang not = de", "at character 10, '= de'", "one of ="),
        ("lang = de fr and", "at character 11, 'fr and'", "'and', 'or' or the end"),
        ("(" * 200 + "a=1" + ")" * 200, "at character 101, '((((((((((((((((((((...'", "more than 100"),
    ],
)
def test_errors_point_at_the_place(text, place, expected):
    with pytest.raises(SettingError) as error:
        parse_condition(text)
    assert str(error.value).startswith(f"the condition {text!r}, {place}: {expected}")

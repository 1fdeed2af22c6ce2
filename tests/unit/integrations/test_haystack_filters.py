"""Haystack's filters as conditions: the same documents, whatever stands in fields and values."""

from datetime import date

import pytest

from lexigraft.core.errors import InputError
from lexigraft.integrations.haystack_filters import condition_of
from lexigraft.integrations.indexing import index_records
from lexigraft.retrieve.retriever import Retriever
from lexigraft.search.conditions import AllOf, AnyOf, Compare, Has, In, Not, parse_condition


def test_what_is_written():
    filters = {
        "operator": "AND",
        "conditions": [
            {"field": "meta.year", "operator": ">=", "value": 2020},
            {"operator": "OR", "conditions": [
                {"field": "lang", "operator": "in", "value": ["de", 'a "b" \\']},
                {"operator": "NOT", "conditions": [{"field": "meta.draft", "operator": "==", "value": True}]},
            ]},
        ],
    }  # fmt: skip
    assert condition_of(filters) == (
        '("year" >= 2020) and (("lang" in ("de", "a \\"b\\" \\\\")) or (not (("draft" = true))))'
    )


def plain(node):
    """What a condition means, without the places of its words."""
    match node:
        case AllOf(parts) | AnyOf(parts):
            return type(node).__name__, tuple(map(plain, parts))
        case Not(part):
            return "Not", plain(part)
        case In(key, values, _):
            return key, "in", tuple(value.text for value in values)
        case Has(key, value, _):
            return key, "has", value.text
        case Compare(key, sign, value, _):
            return key, sign, value.text


@pytest.mark.parametrize(("operator", "value", "meant"), [
    ("==", "and", ("a b", "=", "and")),
    ("!=", 1.5, ("a b", "!=", "1.5")),
    (">", -3, ("a b", ">", "-3")),
    ("<", 1e300, ("a b", "<", "1e+300")),
    ("<=", date(2024, 3, 1), ("a b", "<=", "2024-03-01")),
    ("==", "", ("a b", "=", "")),
    ("==", "O'Neil) or (x = 1", ("a b", "=", "O'Neil) or (x = 1")),
    ("not in", [1, "x"], ("Not", ("a b", "in", ("1", "x")))),
])  # fmt: skip
def test_fields_and_values_stay_what_they_are(operator, value, meant):
    written = condition_of({"field": "meta.a b", "operator": operator, "value": value})
    assert plain(parse_condition(written).root) == meant


RECORDS = [
    {"docno": "a", "text": "kur", "year": 2020, "seen": "2020-03-01", "lang": "2020", "x": 1},
    {"docno": "b", "text": "kur", "year": -1e300, "seen": "1970-01-01", "lang": "", "x": 1},
    {"docno": "c", "text": "kur", "year": 1e300, "seen": "2999-12-31T23:59:59", "lang": "\U0010ffff", "x": 1},
    {"docno": "d", "text": "kur", "x": 1},
]


@pytest.fixture(scope="module")
def retriever(tmp_path_factory):
    return Retriever.open(index_records(RECORDS, tmp_path_factory.mktemp("filters") / "index"))


@pytest.mark.parametrize("field", ["year", "seen", "lang"])
@pytest.mark.parametrize(("operator", "value", "found"), [
    ("==", None, "d"), ("!=", None, "abc"), ("in", [], ""), ("not in", [], "abcd"), ("in", [None], "d"),
    ("not in", [None], "abc"),
])  # fmt: skip
def test_what_has_no_value(operator, value, found, field, retriever):
    condition = condition_of({"field": field, "operator": operator, "value": value})
    both = condition_of({"operator": "AND", "conditions": [
        {"field": "x", "operator": "==", "value": 1}, {"field": field, "operator": operator, "value": value},
    ]})  # fmt: skip
    for one in (condition, both):
        assert "".join(sorted(hit.doc_id for hit in retriever.search("kur", where=one))) == found


@pytest.mark.parametrize(("operator", "found"), [("in", "ad"), ("not in", "bc")])
def test_some_values_or_none(operator, found, retriever):
    where = condition_of({"field": "seen", "operator": operator, "value": [None, date(2020, 3, 1)]})
    assert "".join(sorted(hit.doc_id for hit in retriever.search("kur", where=where))) == found


WRONG = [
    ("year", "is no filter"),
    ({}, "is no filter"),
    ({"operator": "XOR", "conditions": []}, "operator 'XOR' is not known; one of =="),
    ({"operator": "AND", "conditions": []}, "at least one"),
    ({"operator": "AND"}, "has no 'conditions'"),
    ({"operator": "==", "value": 1}, "has no 'field'"),
    ({"operator": "==", "field": "meta.", "value": 1}, "is no name"),
    ({"operator": "==", "field": "x"}, "has no 'value'"),
    ({"operator": ">=", "field": "x", "value": None}, "no value to compare with"),
    ({"operator": "in", "field": "x", "value": "abc"}, "no list of values"),
    ({"operator": "in", "field": "x", "value": [[1]]}, "no value to compare with"),
]


@pytest.mark.parametrize(("filters", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_is_none_is_refused_in_one_line(filters, said):
    with pytest.raises(InputError, match=said) as raised:
        condition_of(filters)
    assert "\n" not in str(raised.value)

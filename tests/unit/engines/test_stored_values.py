"""What engines of JSON are given, and texts as Milvus can be asked for them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.engines.conditions import AllOf, AnyOf, HoldsElement, InRange, Not, TextIs
from lexigraft.engines.milvus_expressions import ABSENT, as_expression, one_of, read, stored_meta, written
from lexigraft.engines.stored_values import name_of, stored_values

TEXTS = st.text(st.sampled_from("\t\n\f\r!\"&'[\\abé😀 #%(") | st.characters(exclude_categories=["Cs"]), max_size=8)


@settings(max_examples=50)
@given(TEXTS, TEXTS)
def test_texts_for_milvus_come_back_and_keep_their_order(left, right):
    assert read(written(left)) == left
    assert (written(left) < written(right)) == (left < right) and (written(left) == written(right)) == (left == right)
    assert not set(written(left)) & set("\"'\\\n\r")


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_names_of_keys_are_plain_and_tell_keys_apart(left, right):
    assert name_of(left).isascii() and name_of(left).isidentifier()
    assert (name_of(left) == name_of(right)) == (left == right)


def test_names_that_look_like_another_keys():
    assert name_of("year") == "year" and name_of("hex_61") != "hex_61" != name_of("a")
    assert name_of(ABSENT) != ABSENT


def test_values_by_their_kinds():
    kinds = {"y": "number", "d": "date", "t": "text", "l": "list", "n": "list", "a.b": "text"}
    given = {"y": 1.5, "d": "1970-01-02", "t": "x", "l": ("a", "3"), "n": (3.0, 0.5), "a.b": "c", "no kind": 1}
    stored = stored_values(given, kinds)
    assert stored == {"y": 1.5, "d": 86_400_000_000, "t": "x", "l": ["a", "3"], "n": ["3", "0.5"], "hex_612e62": "c"}
    assert stored_meta({"t": 'a"b', "l": ["!"]}, ["t", "l", "y"]) == {ABSENT: ["y"], "t": "a!bb", "l": ["!a"]}


def test_denials_are_carried_inwards_for_milvus():
    year = InRange("year", 1.0, 2.0)
    test = Not(AllOf((year, AnyOf((Not(TextIs("t", "=", 'a"')), HoldsElement("l", "x"))))))
    absent = f'json_contains(meta["{ABSENT}"], "{{}}")'.format
    assert as_expression(test, lambda holds: f"not ({holds})") == (
        f'({absent("year")} or meta["year"] < 1.0 or meta["year"] >= 2.0) or ((meta["t"] == "a!b") and '
        f'({absent("l")} or not (json_contains(meta["l"], "x"))))'
    )
    assert one_of(["a", "b'"]) == 'id in ["a", "b&b"]'

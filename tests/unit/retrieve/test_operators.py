"""What looks like an operator is told of, and what only has its signs is not."""

import pytest

from lexigraft.retrieve.operators import operators_in, said_of_operators

QUOTES, LEFT_OUT, FIELD = "quotes", '"-word"', '"field:word"'


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"keep order"', [QUOTES]),
        ("“keep order” of items", [QUOTES]),
        ("npm install -global", [LEFT_OUT]),
        ("-onnx runtime", [LEFT_OUT]),
        ('runtime -"onnx format"', [QUOTES, LEFT_OUT]),
        ("title:graph", [FIELD]),
        ('title:"shortest path" -draft', [QUOTES, LEFT_OUT, FIELD]),
        ("+lang:de year:2020", [FIELD]),
        ("state-of-the-art a-b well -", []),
        ("from 12:30 to 9:15:00, ratio 3:1", []),
        ("http://example.org/a:b mailto:a@b.org s3:bucket/key", []),
        ("std::sort C:\\Users\\me C:/Users a::b urn:isbn:123", []),
        ("below -1 and -0.5 and -3rd", []),
        ("- one\n- two -- three --amend", []),
        ("don't say 'this' or the 5\" disk of 3\" and צה\"ל", []),
        ('print("x") is no phrase', []),
        ("note: this, and that : too", []),
        ('one " alone', []),
        ("", []),
    ],
)
def test_which(query, expected):
    assert operators_in(query) == expected


def test_one_line_names_those_that_are_there():
    assert said_of_operators("plain words") == ""
    assert said_of_operators("a -b") == '"-word" has no meaning here yet: read as plain words'
    assert said_of_operators('"a b"') == "quotes have no meaning here yet: read as plain words"
    line = 'quotes, "-word" and "field:word" have no meaning here yet: read as plain words'
    assert said_of_operators('"a b" -c d:e') == line

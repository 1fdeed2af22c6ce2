"""Records from JSON: whatever a file holds, it is the record that was written or one line that names the file."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.stored_record import COUNT, POSITIVE, as_expected, one_of, read_record, record_of, require_fields

FILE = Path("somewhere/meta.json")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


class Point(NamedTuple):
    qk: float | str
    why: str
    mrr: float | None = None


@dataclass(frozen=True)
class Facts:
    n: int
    scale: float
    name: str
    folded: bool
    words: dict[str, int]
    views: list[str]
    form: Literal["a", "b"]
    rest: dict[str, Any] = field(default_factory=dict)


WHOLE = {"n": 3, "scale": 2, "name": "x", "folded": True, "words": {"a": 1}, "views": ["judged"], "form": "a"}


def test_what_was_written_is_read():
    assert record_of(FILE, Facts, WHOLE) == Facts(**WHOLE)
    assert record_of(FILE, Point, {"qk": "m0.8", "why": "", "mrr": None}) == Point("m0.8", "")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n": "3"}, "n = '3', which must be a whole number"),
        ({"n": True}, "n = True"),
        ({"n": 10**400}, "n = a whole number of more than 64 bits"),
        ({"scale": float("nan")}, "scale = nan, which must be a finite number"),
        ({"name": None}, "name = None, which must be a text"),
        ({"words": {"a": "b"}}, "words = {'a': 'b'}, which must be an object"),
        ({"views": "judged"}, "views = 'judged', which must be a list"),
        ({"views": [1]}, "views"),
        ({"form": "c"}, "form = 'c', which must be one of 'a', 'b'"),
        ({"\x1b[2J": 1}, r"'\\x1b\[2J' that is not known"),
        ({"name": "x" * 9999}, None),
    ],
)
def test_what_is_unexpected_is_one_line(change, says):
    content = {**WHOLE, **change}
    if says is None:
        record_of(FILE, Facts, content)
        return
    with pytest.raises(ArtifactError, match=says) as raised:
        record_of(FILE, Facts, content, remedy="make it again")
    assert str(raised.value).startswith("somewhere/meta.json ")
    assert str(raised.value).endswith("; make it again")
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize("name", WHOLE)
def test_a_missing_key_is_named(name):
    with pytest.raises(ArtifactError, match=f"does not say {name}"):
        record_of(FILE, Facts, {key: value for key, value in WHOLE.items() if key != name})


@given(st.sampled_from([*WHOLE, "rest", "unknown"]), JSON)
def test_no_value_is_a_traceback(name, value):
    try:
        found = record_of(FILE, Facts, {**WHOLE, name: value})
    except ArtifactError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(found.n, int)
        assert all(isinstance(view, str) for view in found.views)


def test_lines_that_take_a_file_apart():
    for broken in (lambda: {}["a"], lambda: [][3], lambda: None.x, lambda: int("x"), lambda: 2.0**9999):
        with pytest.raises(ArtifactError, match=r"meta.json does not hold what it should \("), as_expected(FILE):
            broken()
    with pytest.raises(InputError, match="said before"), as_expected(FILE):
        raise InputError("said before")


RULES = {"n": COUNT, "scale": POSITIVE, "form": one_of("a")}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n": -1}, "n = -1, which must be a whole number from 0 to 2,147,483,647"),
        ({"n": 1.0}, "n = 1.0, which must be a whole number from 0"),
        ({"n": True}, "n = True, which must be a whole number from 0"),
        ({"scale": 0}, "scale = 0, which must be a finite number above 0"),
        ({"scale": 10**400}, "which must be a finite number above 0"),
        ({"form": "b"}, "form = 'b', which must be one of 'a'"),
        ({"name": 3}, "name = 3, which must be a text"),
    ],
)
def test_a_rule_says_more_than_an_annotation(tmp_path, change, says):
    (tmp_path / "meta.json").write_text(json.dumps(WHOLE))
    assert read_record(tmp_path / "meta.json", Facts, RULES) == Facts(**WHOLE)
    (tmp_path / "meta.json").write_text(json.dumps({**WHOLE, **change}))
    with pytest.raises(ArtifactError, match=says) as raised:
        read_record(tmp_path / "meta.json", Facts, RULES)
    assert str(raised.value).endswith(": it was damaged or made by another program; build it again")


def test_an_object_that_is_no_record_may_say_more():
    wanted = {"n": COUNT, "columns": list[dict[str, Any]]}
    require_fields(FILE, {"n": 1, "columns": [{}], "more": 1}, wanted, needed=wanted)
    require_fields(FILE, {"n": 1}, wanted, needed=("n",))
    for content, says in (({"n": 1}, "does not say columns"), ({"n": 1, "columns": [1]}, "must be a list")):
        with pytest.raises(ArtifactError, match=says):
            require_fields(FILE, content, wanted, needed=wanted)

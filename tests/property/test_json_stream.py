"""JSON that comes in pieces is what `json` makes of the whole."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.errors import InputError
from lexigraft.data.readers.json_text import JsonStream

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
cuts = st.lists(st.integers(1, 9), min_size=1)


def pieces(text, sizes):
    at = number = 0
    while at < len(text):
        end = at + sizes[number % len(sizes)]
        yield text[at:end]
        at, number = end, number + 1


def read(text, sizes):
    stream = JsonStream("a.json", pieces(text, sizes))
    mark = stream.next_mark()
    if mark == "[":
        found = list(stream.items())
    elif mark == "{":
        found = {key: stream.value() for key in stream.fields()}
    else:
        found = stream.value()
    stream.take("")
    return found


@settings(max_examples=40)
@given(values, cuts, st.sampled_from([None, 1, "\t"]), st.sampled_from(["", "\n ", "\r\n"]))
def test_all_values_come_back(value, sizes, indent, around):
    assert read(around + json.dumps(value, indent=indent) + around, sizes) == value


@given(values, cuts, st.integers(0, 200), st.sampled_from(["", ",", "]", "}", "0", '"', ":", "[", "{"]))
def test_what_is_damaged_is_refused_where_json_refuses_it(value, sizes, place, instead):
    text = json.dumps(value)
    place %= len(text)
    text = text[:place] + instead + text[place + 1 :]
    try:
        wanted = json.loads(text, object_pairs_hook=_no_repeats)
    except ValueError:
        wanted = InputError
    try:
        found = read(text, sizes)
    except InputError as error:
        assert str(error).startswith("a.json:")
        found = InputError
    assert found == wanted or text.startswith("{")  # whose own keys are counted by whoever goes through them


def _no_repeats(pairs):
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)

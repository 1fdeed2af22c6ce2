"""Random metadata and random conditions, and the slow, obvious twin of both: dictionaries, asked one by one."""

import operator

from hypothesis import strategies as st

SIGNS = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
# How a date is written, and when that is in UTC.
DATES = {
    "2023": "2023-01-01T00:00:00",
    "2023-12": "2023-12-01T00:00:00",
    "2023-12-31": "2023-12-31T00:00:00",
    "2024-01-01T00:30:00+01:00": "2023-12-31T23:30:00",
    "2024-01-01T00:30Z": "2024-01-01T00:30:00",
    "2024-01-01 12:00:00": "2024-01-01T12:00:00",
    "2024-02-29": "2024-02-29T00:00:00",
    "2025-01-01": "2025-01-01T00:00:00",
}
ASKED_DATES = ["2023", "2024", "2023-12", "2024-01", "2023-12-31", "2024-01-01", "2024-02-29", "2026-01-01"]
VENUES = ["a", "ab", "b c", 'q"uote', "é", "and", "3", "back\\slash", "O'Neil", "(x)", "z,z"]
TAGS = ["draft", "new", "long one", "3"]
ELEMENTS = {"tags": TAGS, "codes": [1, 2, 2.5]}
FULL = {"year": 2, "venue": "a", "published": "2024-02-29", "tags": ["new"], "codes": [1, 2.5]}
RECORD = st.fixed_dictionaries(
    {},
    optional={
        "year": st.integers(-3, 3) | st.sampled_from([0.5, -1.5]),
        "venue": st.sampled_from(VENUES),
        "published": st.sampled_from(list(DATES)),
        "tags": st.lists(st.sampled_from(TAGS), max_size=3) | st.sampled_from(TAGS),
        "codes": st.lists(st.sampled_from(ELEMENTS["codes"]), max_size=2),
    },
)

YEARS = st.integers(-4, 4) | st.sampled_from([0.5, -1.5])
_VALUES = {"year": YEARS, "venue": st.sampled_from(["", "aa", *VENUES]), "published": st.sampled_from(ASKED_DATES)}
_KEYS = st.sampled_from(list(_VALUES))
LEAVES = (
    _KEYS.flatmap(lambda key: st.tuples(st.just("compare"), st.just(key), st.sampled_from(list(SIGNS)), _VALUES[key]))
    | _KEYS.flatmap(lambda key: st.tuples(st.just("in"), st.just(key), st.lists(_VALUES[key], min_size=1, max_size=3)))
    | st.sampled_from(["tags", "codes"]).flatmap(
        lambda key: st.tuples(st.just("has"), st.just(key), st.sampled_from([*ELEMENTS[key], 9]))
    )
)
TREES = st.recursive(
    LEAVES,
    lambda parts: (
        st.tuples(st.just("not"), parts)
        | st.tuples(st.sampled_from(["and", "or"]), st.lists(parts, min_size=2, max_size=3))
    ),
    max_leaves=6,
)


def as_text(tree, plain=True):
    """A tree as a user would write it; `plain`: no more quotes and parentheses than needed."""
    kind, *rest = tree
    if kind in ("and", "or"):
        return f" {kind} ".join(_part(part, plain, ("and", "or")) for part in rest[0])
    if kind == "not":
        return f"not {_part(rest[0], plain, ('and', 'or'))}" if plain else f"NOT({as_text(rest[0], plain)})"
    if kind == "compare":
        return (
            f"{rest[0]}{rest[1]}{_value(rest[2], plain)}"
            if plain
            else f" {rest[0]}  {rest[1]} {_value(rest[2], plain)}"
        )
    if kind == "in":
        return f"{rest[0]} in ({', '.join(_value(value, plain) for value in rest[1])})"
    return f"{rest[0]} has {_value(rest[1], plain)}"


def _part(tree, plain, inside):
    text = as_text(tree, plain)
    return f"({text})" if tree[0] in inside or not plain else text


def _value(value, plain):
    if plain and isinstance(value, str) and value.replace("-", "").isalnum() and value != "3":
        return value
    if not isinstance(value, str):
        return str(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def fulfils(record, tree):
    """Whether a document with this record fulfils a condition."""
    kind, *rest = tree
    if kind == "and":
        return all(fulfils(record, part) for part in rest[0])
    if kind == "or":
        return any(fulfils(record, part) for part in rest[0])
    if kind == "not":
        return not fulfils(record, rest[0])
    value = record.get(rest[0])
    if kind == "has":
        return rest[1] in (value if isinstance(value, list) else [value])
    if kind == "in":
        return any(compared(rest[0], value, "=", asked) for asked in rest[1])
    return compared(rest[0], value, rest[1], rest[2])


def compared(key, value, sign, asked):
    if value is None:
        return sign == "!="
    if key == "published":  # of a date only as much is compared as was asked for
        value = DATES[value][: len(asked)]
    return SIGNS[sign](value, asked)

"""What every engine must do, a function a property; each takes a function that returns an empty engine, whose
collection is not there yet. The engine is closed by whoever made it."""

import functools
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from lexigraft.core.errors import SettingError
from lexigraft.engines.engine import Description, Engine, EngineError, Row
from lexigraft.engines.loading import load_index
from lexigraft.engines.rows_of_index import batches_of, describe_index
from lexigraft.engines.searching import search_engine
from lexigraft.search.conditions import Compare, Condition, Has, Literal, Not, parse_condition
from lexigraft.search.searcher import Searcher
from tests.conditions import DATES, ELEMENTS, LEAVES, TAGS, TREES, VENUES, as_text
from tests.conftest import index_of, sparse_matrix
from tests.engines.memory import MemoryEngine

Make = Callable[[], Engine]
N_ROWS, N_TERMS, N_QUERIES = 400, 60, 200
ODD_KEY = 'an "odd" [key].x\'s\\'
KINDS = {"year": "number", "venue": "text", "published": "date", "tags": "list", "codes": "list", ODD_KEY: "text"}
ODD = [
    "", " ", "'", '"', "\\", "\\\\", "a'b\"c\\d", "\\'", '\\"', "\n", "\r\n\t", "%", "_", "{x}", "{{", "$1", "%s", "é",
    "e\u0301", "😀", "漢字", "\u200f", "\x01", "\x7f", "\uffff", "\U0010ffff", "null", "1", "1.0", "true", "a" * 500,
    "😀" * 500, "'; --", "x or true", "\\u0041", "\\x41", "\\n", "a\\", "/*", "[1]", "A", "a", " a", "a ",
]  # fmt: skip


@functools.cache
def sample_index():
    """Rows of few and many terms, and some of none; many scores are equal."""
    rng = np.random.default_rng(7)
    rows = [
        {int(term): float(rng.integers(1, 9)) for term in rng.choice(N_TERMS, rng.integers(1, 12), replace=False)}
        if number % 50
        else {}
        for number in range(N_ROWS)
    ]
    sample_index.folder = tempfile.TemporaryDirectory()  # type: ignore[attr-defined]
    return index_of(sparse_matrix(rows, N_TERMS), Path(sample_index.folder.name) / "i")  # type: ignore[attr-defined]


def queries(n_queries):
    """Whole weights up to 255, so that scores are whole."""
    for seed in range(n_queries):
        rng = np.random.default_rng(seed)
        terms = np.sort(rng.choice(N_TERMS, rng.integers(1, 15), replace=False)).astype(np.int32)
        yield terms, rng.integers(1, 256, len(terms)).astype(np.float32)


def description(**changes) -> Description:
    return replace(
        Description("source", "/there", "words", N_TERMS, 3, 0.5, 8, False, {"kind": "none"}, KINDS), **changes
    )


def row(row_id, terms, title="", **metadata) -> Row:
    ids = np.array(sorted(terms), np.int32)
    return Row(row_id, title, ids, np.array([terms[term] for term in sorted(terms)], np.uint32), metadata)


def found(engine, where=(), k=1000, terms=(1,)):
    """The ids that a query of these terms finds."""
    asked = np.array(terms, np.int32)
    return {hit.row_id for hit in engine.search(asked, np.ones(len(asked), np.int32), k, where)}


def require_equal_rankings(engine, index, n_queries, k):
    """Scores are equal, and so are documents of each score but the last, where ties are cut off."""
    searcher = Searcher(index)
    stored = engine.describe()
    assert stored is not None
    for query in queries(n_queries):
        right, hits = searcher.search(*query, k), search_engine(engine, stored, query, k)
        assert [hit.score for hit in hits] == list(right.scores)
        last = hits[-1].score if len(hits) == k else -1.0
        expected = {(name, score) for name, score in zip(right.doc_ids, right.scores, strict=True) if score > last}
        assert {(hit.row_id, hit.score) for hit in hits if hit.score > last} == expected
        assert len({hit.row_id for hit in hits}) == len(hits)
        assert all(hit.title == f"title of {hit.row_id}" for hit in hits)


def rankings_are_those_of_the_local_engine(make: Make) -> None:
    engine, index = make(), sample_index()
    assert load_index(index, engine, "/there", "it", batch_rows=90) == (N_ROWS, 0)
    assert engine.count() == N_ROWS
    require_equal_rankings(engine, index, N_QUERIES, 10)
    require_equal_rankings(engine, index, 5, 2 * N_ROWS)


def loading_twice_is_loading_once(make: Make) -> None:
    engine, index = make(), sample_index()
    engine.create(describe_index(index, "/there", None))
    for _ in range(2):
        for batch in batches_of(index, None, 0, 150):
            engine.load(batch)
    assert engine.count() == N_ROWS
    require_equal_rankings(engine, index, 20, 10)


def a_row_is_replaced_as_a_whole(make: Make) -> None:
    engine = make()
    engine.create(description())
    engine.load([row("a", {1: 5, 2: 7}, "old", year=1, tags=("new",))])
    engine.load([row("a", {2: 9}, "new title", year=2)])
    assert engine.count() == 1 and found(engine, terms=(1,)) == set()
    hit = engine.search(np.array([2], np.int32), np.array([3], np.int32), 5)
    assert [tuple(one) for one in hit] == [("a", 27.0, "new title")]
    assert found(engine, [parse_condition("not tags has new and year=2")], terms=(2,)) == {"a"}
    engine.load([row("a", {})])
    assert engine.count() == 1 and found(engine, terms=(1, 2)) == set()
    engine.load([])


def what_is_deleted_is_gone(make: Make) -> None:
    engine = make()
    engine.create(description())
    engine.load([row(name, {1: 1}) for name in "abcdef"] + [row("empty", {})])
    engine.delete(["b", "not there", "d", "empty"])
    assert engine.count() == 4 and found(engine) == set("acef")
    engine.delete([])
    engine.load([row("b", {1: 2})])
    assert engine.count() == 5 and found(engine) == set("abcef")
    assert found(engine, k=1) == {"b"}


def descriptions_come_back(make: Make) -> None:
    """Whatever a query encoder says of itself, and however long that is."""
    engine = make()
    assert engine.describe() is None
    encoder = {
        "kind": "table",
        "words": {f"word {number} 'é\"\\😀": [number, 1.5, None, True] for number in range(6000)},
    }
    first = description(query_encoder=encoder, scale=0.1 + 0.2, index="/a 'place' \"é\"")
    engine.create(first)
    assert engine.describe() == first and engine.count() == 0
    engine.note(replace(first, n_loaded=2))
    assert engine.describe() == replace(first, n_loaded=2)


def what_is_there_is_not_made_again(make: Make) -> None:
    engine = make()
    engine.create(description())
    engine.load([row("a", {1: 1})])
    with pytest.raises(EngineError) as error:
        engine.create(description(source="another"))
    assert "\n" not in str(error.value)
    assert engine.count() == 1 and engine.describe() == description()


def what_is_dropped_can_be_made_again(make: Make) -> None:
    engine = make()
    engine.drop()
    engine.create(description())
    engine.load([row("a", {1: 1})])
    engine.drop()
    assert engine.describe() is None
    engine.drop()
    engine.create(description(source="another"))
    assert engine.count() == 0 and found(engine) == set() and engine.describe() == description(source="another")


def what_is_not_there_says_so(make: Make) -> None:
    engine = make()
    for do in (lambda: found(engine), lambda: engine.load([row("a", {1: 1})]), engine.count):
        with pytest.raises(EngineError) as error:
            do()
        assert "\n" not in str(error.value)
    assert engine.describe() is None


def ids_and_titles_are_any_text(make: Make) -> None:
    engine = make()
    engine.create(description())
    names = [name for name in ODD if name] + ["title" * 20]
    engine.load([row(name, {1: place + 1}, name[::-1]) for place, name in enumerate(names)])
    hits = engine.search(np.array([1], np.int32), np.array([2], np.int32), len(names))
    expected = [(name, 2.0 * (place + 1), name[::-1]) for place, name in enumerate(names)]
    assert [tuple(hit) for hit in hits] == expected[::-1] and engine.count() == len(names)
    engine.delete(names[::2])
    assert found(engine) == set(names[1::2])


def texts_of_metadata_are_any_text(make: Make) -> None:
    """And are never taken for a part of the condition."""
    engine = make()
    engine.create(description())
    engine.load([row(f"r{n}", {1: 1}, **{ODD_KEY: text, "tags": (text, "all")}) for n, text in enumerate(ODD)])
    engine.load([row("none", {1: 1})])
    everything = {f"r{n}" for n in range(len(ODD))} | {"none"}
    for n, text in enumerate(ODD):
        value = Literal(text, True, 0)
        for node in (Compare(ODD_KEY, "=", value, 0), Has("tags", value, 0)):
            assert found(engine, [Condition("asked", node)]) == {f"r{n}"}, (text, node)
            assert found(engine, [Condition("asked", Not(node))]) == everything - {f"r{n}"}, (text, node)


def numbers_are_exact(make: Make) -> None:
    """Whole numbers up to 2^53, small fractions, and dates: to the microsecond from 1685 to 2255, beyond to the second,
    which is what 64-bit floats hold."""
    engine = make()
    engine.create(description())
    numbers = [2**53, 2**53 - 1, -(2**53), 0.1, 0.1 + 2**-55, 1e-300, 1e300, -1.5, 0, 16777217, 16777216]
    engine.load([row(f"n{n}", {1: 1}, year=number) for n, number in enumerate(numbers)])
    days = ["1700-01-01T00:00:00.000001+00:00", "1600-01-01", "2999-12-31T23:59:59+00:00", "2999-12-31T23:59:58"]
    engine.load([row(f"d{n}", {1: 1}, published=day) for n, day in enumerate(days)])
    for n, number in enumerate(numbers):
        for sign, is_so in (("=", float.__eq__), ("<", float.__lt__), (">=", float.__ge__)):
            expected = {f"n{m}" for m, other in enumerate(numbers) if is_so(float(other), float(number))}
            assert found(engine, [parse_condition(f"year{sign}{number!r}")]) == expected, (n, sign)
    assert found(engine, [parse_condition('published = "1700-01-01T00:00:00.000001"')]) == {"d0"}
    assert found(engine, [parse_condition('published < "1700-01-01T00:00:00.000001"')]) == {"d1"}
    assert found(engine, [parse_condition('published > "1700-01-01T00:00:00.000001"')]) == {"d2", "d3"}
    assert found(engine, [parse_condition('published >= "2999-12-31T23:59:59"')]) == {"d2"}
    engine.load([row("lists", {1: 1}, codes=(1234567, 0.1, 3, 2**53))])
    for code in ("1234567", "0.1", "3", "3.0", str(2**53)):
        assert found(engine, [parse_condition(f"codes has {code}")]) == {"lists"}, code
    assert found(engine, [parse_condition("codes has 1234568")]) == set()


def several_threads_at_once(make: Make) -> None:
    engine, index = make(), sample_index()
    engine.create(describe_index(index, "/there", None))
    batches = list(batches_of(index, None, 0, 25))
    with ThreadPoolExecutor(4) as pool:
        written = [pool.submit(engine.load, batch) for batch in batches * 2]
        asked = [pool.submit(found, engine) for _ in range(8)]
        for one in (*written, *asked):
            one.result()
        assert engine.count() == N_ROWS
        for one in [pool.submit(require_equal_rankings, engine, index, 10, 10) for _ in range(4)]:
            one.result()


def _records(n_records):
    random = Random(5)
    values = {
        "year": lambda: random.choice([-3, -2, -1, 0, 1, 2, 3, 0.5, -1.5]),
        "venue": lambda: random.choice(VENUES),
        "published": lambda: random.choice(list(DATES)),
        "tags": lambda: tuple(random.sample(TAGS, random.randint(1, 3))),
        "codes": lambda: tuple(random.sample(ELEMENTS["codes"], random.randint(1, 2))),
    }
    return [{key: draw() for key, draw in values.items() if random.random() < 0.7} for _ in range(n_records)]


def _asks_for_the_order_of_texts(tree):
    kind, *rest = tree
    if kind in ("and", "or"):
        return any(map(_asks_for_the_order_of_texts, rest[0]))
    if kind == "not":
        return _asks_for_the_order_of_texts(rest[0])
    return kind == "compare" and rest[0] == "venue" and rest[1] not in ("=", "!=")


def filters_are_those_of_memory(make: Make, text_order: bool = True, examples: int = 150) -> None:
    """`text_order`: the engine can compare texts by < and >; where it cannot, that is an error and never ignored."""
    engine, right = make(), MemoryEngine()
    rows = [row(f"r{n}", {1: 1 + n % 7}, **record) for n, record in enumerate(_records(120))]
    for one in (engine, right):
        one.create(description())
        one.load(rows)

    @settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(LEAVES | TREES)
    def answers_are_equal(tree):
        where = [parse_condition(as_text(tree, plain=False))]
        if not text_order and _asks_for_the_order_of_texts(tree):
            with pytest.raises(SettingError):
                found(engine, where)
            return
        assert found(engine, where) == found(right, where)

    answers_are_equal()
    several = [parse_condition(text) for text in ("year>=0", "venue=a or tags has new", "not published=2023-12")]
    assert found(engine, several) == found(right, several)


PROPERTIES = [
    rankings_are_those_of_the_local_engine, loading_twice_is_loading_once, a_row_is_replaced_as_a_whole,
    what_is_deleted_is_gone, descriptions_come_back, what_is_there_is_not_made_again, what_is_dropped_can_be_made_again,
    what_is_not_there_says_so, ids_and_titles_are_any_text, texts_of_metadata_are_any_text, numbers_are_exact,
    several_threads_at_once,
]  # fmt: skip

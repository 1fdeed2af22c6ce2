"""What PostgreSQL is told and what it says, without a server: texts, bytes, and one line an error."""

import json
import sys
from struct import unpack
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.errors import MissingExtraError
from lexigraft.engines.address import Address
from lexigraft.engines.conditions import AllOf, AnyOf, HoldsElement, InRange, Not, TextIs
from lexigraft.engines.engine import EngineError, Row, UnreachableError
from lexigraft.engines.postgres import PostgresEngine
from lexigraft.engines.postgres_errors import while_connecting, while_working
from lexigraft.engines.postgres_rows import copy_bytes, escaped, metadata_json, unescaped, vector_bytes, vector_text
from lexigraft.engines.postgres_sql import condition_sql

ADDRESS = Address("postgresql", "papers", "db.example", None, "search", "me", "hidden")
TEXTS = st.text(st.sampled_from("\0\1\2\3a'é\uffff😀"), max_size=8)
ATTACK = "x'; DROP TABLE papers; -- %s {0} \" \\"


@given(TEXTS, TEXTS)
def test_escapes_are_undone_and_keep_the_order(one, other):
    assert unescaped(escaped(one)) == one and "\0" not in escaped(one)
    assert (escaped(one) < escaped(other)) == (one < other)


@pytest.mark.parametrize("sign", ["=", "<", "<=", ">", ">="])
def test_no_value_stands_in_the_text(sign):
    """The text depends on the form of the condition alone."""

    def told(key, text):
        parts = HoldsElement(key, text), TextIs(key, sign, text), InRange(key, 1, 2), InRange("year", None, 3.5)
        return condition_sql(AnyOf((AllOf(parts), Not(TextIs(key, "=", text)))), {key: "date", "year": "number"})

    plain, _ = told("a", "b")
    for odd in (ATTACK, "%", "%s", "{}", "\0", "'", "\ud800", ""):
        text, values = told(odd, odd)
        assert text == plain and text.count("%s") == text.count("%") == len(values)


def test_conditions_are_true_or_false():
    """What has no value is not NULL, whose denial would be NULL too."""
    kinds = {"year": "number", "day": "date"}
    for test in (
        HoldsElement("tags", "a"), TextIs("venue", "=", "a"), TextIs("venue", "<", "a"), InRange("year", 1.0, 1.0),
        InRange("day", 1, None), InRange("year", None, None),
    ):  # fmt: skip
        text, _ = condition_sql(test, kinds)
        assert text.startswith("COALESCE(") and text.endswith(", false)")
        assert condition_sql(Not(test), kinds)[0] == f"(NOT {text})"
    assert 'COLLATE "C" <' in condition_sql(TextIs("venue", "<", "a"), kinds)[0]  # not by the database's language
    assert condition_sql(AllOf(()), kinds) == ("(true)", []) and condition_sql(AnyOf(()), kinds) == ("(false)", [])
    assert condition_sql(InRange("day", 5e15, None), kinds)[1] == ["day", 5 * 10**15]


def test_vectors():
    assert vector_text(np.array([0, 6], np.int32), np.array([3, 255], np.int32), 9) == "{1:3,7:255}/9"
    assert vector_text(np.array([], np.int32), np.array([], np.int32), 9) == "{}/9"
    row = Row("a", "", np.array([6, 2, 0], np.int32), np.array([255, 0, 3], np.uint32))
    assert unpack(">iiiiiff", vector_bytes(row, 9)) == (9, 2, 0, 0, 6, 3.0, 255.0)
    assert unpack(">iii", vector_bytes(Row("a", "", row.term_ids[:0], row.impacts[:0]), 9)) == (9, 0, 0)
    with pytest.raises(EngineError, match=r"16,001 terms.*prune the documents \(dk\)"):
        vector_bytes(Row("a", "", np.arange(16_001, dtype=np.int32), np.ones(16_001, np.uint32)), 20_000)


def test_rows():
    """Of two rows with the same id, the later one."""
    none = np.array([], np.int32), np.array([], np.uint32)
    rows = [Row("a", "old", *none), Row("b\0", "t\0", *none), Row("a", "new", *none, {"year": 3})]
    data = copy_bytes(rows, 9, {"year": "number"})
    assert data.startswith(b"PGCOPY\n\xff\r\n\0") and data.endswith(b"\xff\xff") and b"old" not in data
    assert b"\0\0\0\3b\1\1" in data and "t\ufffd".encode() in data and b'\1{"year": 3}' in data
    kinds = {"day": "date", "tags": "list", "codes": "list", "venue": "text"}
    stored = metadata_json({"day": "1970-01-02", "tags": ("a\0",), "codes": (1, 2.5), "venue": "x\0"}, kinds)
    assert json.loads(stored) == {
        "day": 86_400_000_000, "tags": ["a\1\1"], "codes": ["1", "2.5"], "venue": "x\1\1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        ('connection failed: connection to server at "1.2.3.4", port 5432 failed: Connection refused\n\tIs the server',
         UnreachableError, "db.example:5432 does not answer (Connection refused); is the server running?"),
        ("failed: FATAL:  the database system is starting up", UnreachableError, "starting up"),
        ("failed: FATAL:  sorry, too many clients already", UnreachableError, "too many clients"),
        ('connection to server at "certificate", port 1 failed: Connection refused', UnreachableError, "refused"),
        ("1: ::1 failed: FATAL:  role \"me\" does not exist\n2: 127.0.0.1 failed: refused", EngineError, "role"),
        ("connection timeout expired", UnreachableError, "timeout expired"),
        ('failed: FATAL:  password authentication failed for user "me"', EngineError, "PGPASSWORD"),
        # Of a server that dies while it greets: it is started again, and the load goes on.
        ("failed: FATAL:  terminating connection due to unexpected postmaster exit", UnreachableError, "not answer"),
        ("failed: fe_sendauth: no password supplied", EngineError, "LEXIGRAFT_ENGINE_SECRET"),
        ('failed: FATAL:  database "hidden" does not exist', EngineError, 'database "***" does not exist'),
        ("failed: server does not support SSL, but SSL was required", EngineError, "SSL was required"),
    ],
)  # fmt: skip
def test_connections_that_fail(said, kind, words):
    error = while_connecting(OSError(said), ADDRESS)
    assert type(error) is kind and words in str(error) and "\n" not in str(error) and "hidden" not in str(error)


@pytest.mark.parametrize(
    ("state", "kind", "words"),
    [
        (None, UnreachableError, "does not answer"), ("57P01", UnreachableError, "does not answer"),
        ("08006", UnreachableError, "does not answer"), ("40P01", UnreachableError, "does not answer"),
        ("53100", EngineError, "disk of the server is full"), ("42P01", EngineError, "no such collection"),
        ("42501", EngineError, "grant"), ("22P02", EngineError, "22P02"),
    ],
)  # fmt: skip
def test_statements_that_fail(state, kind, words):
    said = SimpleNamespace(sqlstate=state, diag=SimpleNamespace(message_primary="it\nfailed: hidden"))
    error = while_working(said, ADDRESS)
    assert type(error) is kind and words in str(error) and "\n" not in str(error) and "hidden" not in str(error)


def test_without_its_client(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"needs the package 'psycopg'.*engines"):
        PostgresEngine(ADDRESS)

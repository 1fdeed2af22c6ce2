"""What is wrong is answered with the right status and one line, in bounded time."""

import threading
import time

import pytest

from lexigraft.core.errors import ArtifactError, InputError, MissingExtraError
from lexigraft.serve.limits import Limits
from lexigraft.serve.refused import HIDDEN, refused_by
from tests.serving import InProcess

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b"{"),
        (400, b'{"query": NaN}'),
        (400, b"\xff\xfe"),
        (400, b"[" * 100_000),
        (400, b'{"query": "a", "k": ' + b"9" * 5000 + b"}"),
        (422, b"[]"),
        (422, b"null"),
        (422, b"{}"),
        (422, b'{"query": null}'),
        (422, b'{"query": 3}'),
        (422, b'{"query": ["a"]}'),
        (422, b'{"query": "a", "k": 0}'),
        (422, b'{"query": "a", "k": 101}'),
        (422, b'{"query": "a", "k": true}'),
        (422, b'{"query": "a", "k": 1.5}'),
        (422, b'{"query": "a", "k": "3"}'),
        (422, b'{"query": "a", "qk": -1}'),
        (422, b'{"query": "a", "qk": 2.5}'),
        (422, b'{"query": "a", "qk": 1e400}'),
        (422, b'{"query": "a", "qk": 1' + b"0" * 400 + b"}"),
        (422, b'{"query": "a", "weights": {"list": -1' + b"0" * 400 + b"}}"),
        (422, b'{"query": "a", "qk": "m1.5"}'),
        (422, b'{"query": "a", "qk": "m0.0"}'),
        (422, b'{"query": "a", "dk": [1]}'),
        (422, b'{"query": "a", "where": "x = 1"}'),
        (422, b'{"query": "a", "weights": {"list": -1}}'),
        (422, b'{"query": "a", "weights": {"list": 1e9}}'),
        (422, b'{"query": "a", "colour": "red"}'),
        (422, b'{"query": "a\\u0000b"}'),
        (422, b'{"query": "a\\u001b[31m"}'),
        (422, b'{"query": "a\\u0085"}'),
        (422, b'{"query": "\\ud800"}'),
        (422, b'{"query": "a", "without": ["\\udfff"]}'),
        (404, b'{"query": "a", "system": "esplade"}'),
        (422, b'{"query": "' + b"word " * 100_000 + b'"}'),
        (413, b'{"query": "' + b"a" * (1 << 20) + b'"}'),
    ],
)
def test_a_body_that_cannot_be(server, status, body):
    begun = time.process_time()  # of this process: others may keep the machine busy
    server.refused(status, "POST", "/search", content=body, headers=JSON)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("status", "address"),
    [
        (422, "/search"),
        (422, "/search?q=a&q=b"),
        (422, "/search?q=a&colour=red"),
        (422, "/search?q=a&k=ten"),
        (422, "/search?q=a&k=1e3"),
        (422, "/search?q=%00"),
        (422, "/systems?all=1"),
        (404, "/search?q=a&system=no"),
        (404, "/Search"),
        (404, "/search/"),
        (404, "/page/../app.py"),
        (404, "/page/%2e%2e/app.py"),
        (404, "/page//etc/passwd"),
        (414, "/search?q=" + "a" * 20_000),
        (422, "/search?q=" + "a+" * 4000),
    ],
)
def test_an_address_that_cannot_be(server, status, address):
    server.refused(status, "GET", address)


def test_methods_and_kinds_of_bodies(server):
    for method, path, allowed in (("GET", "/explain", "POST"), ("DELETE", "/search", "GET, HEAD, POST")):
        found = server.ask(method, path)
        assert found.status_code == 405 and sorted(found.headers["allow"].split(", ")) == allowed.split(", ")
        assert set(found.json()) == {"error"}
    assert server.ask("OPTIONS", "/search").status_code == 405
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        server.refused(415, "POST", "/search", content=b'{"query": "a"}', headers={"content-type": kind})
    assert server.ask("HEAD", "/healthz").status_code == 200


def test_a_body_without_a_length_is_not_read_to_its_end(server):
    read = []

    async def endless():
        while True:
            read.append(1)
            yield b" " * 65_536

    server.refused(413, "POST", "/search", content=endless(), headers=JSON)
    assert len(read) < 40


def test_too_many_and_too_long(run):
    small = InProcess([run], Limits(waiting=0, threads=1, seconds=0.05))
    small.service.work.n_begun = 1  # one thread, and it is busy
    found = small.ask("GET", "/systems")
    assert found.status_code == 429 and found.headers["retry-after"] == "1"
    small.service.work.n_begun = 0
    done = threading.Event()
    small.service.work._pool.submit(done.wait)  # it is busy until it was answered, however long that takes
    found = small.ask("GET", "/systems")
    done.set()
    assert found.status_code == 503 and "0.05 seconds" in found.json()["error"]
    small.service.close()


def test_before_it_is_ready_and_when_it_stops(run):
    early = InProcess([run])
    early.service.shelf, early.service.status = None, "opening"
    assert early.refused(503, "GET", "/healthz") == "opening"
    early.refused(503, "POST", "/search", json={"query": "a"})
    early.service.begin(early.shelf)
    assert early.get("/healthz") == {"status": "ready"}
    early.service.stop()
    assert early.refused(503, "GET", "/healthz") == "stopping"
    early.service.close()


def test_what_fails_inside_is_for_the_log(server, monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("secret /root/place")

    monkeypatch.setattr("lexigraft.serve.endpoints.describe", fail)
    assert "log" in server.refused(500, "GET", "/systems") and "secret" in caplog.text


def test_a_place_on_this_machine_is_told_to_nobody():
    for error in (ArtifactError("anything"), InputError("see /root/run"), InputError("there is ../x"),
                  MissingExtraError("it", "that", "install it")):  # fmt: skip
        refused = refused_by(error)
        assert refused.message == HIDDEN and refused.status == 503
    assert refused_by(InputError("year/month is <b>no</b> key; 1/2")).message == "year/month is <b>no</b> key; 1/2"
    assert refused_by(InputError("a\nb\x1b[31m\u2028c")).message.count("\n") == 0
    assert refused_by(InputError("/a/b, not /root/run"), given=["is = /a/b"]).message == HIDDEN


def test_the_clients_own_words_are_no_place(server):
    said = server.refused(422, "POST", "/search", json={"query": "a", "where": ["year = /a/b"]})
    assert "/a/b" in said
    assert "the condition" in server.refused(422, "POST", "/search", json={"query": "a", "where": ["I\\D1\\\\x"]})


def test_an_error_of_the_library_anywhere_is_no_fault_of_the_server(server, monkeypatch):
    def fail(*_):
        raise ArtifactError("run/judged/texts is damaged")

    monkeypatch.setattr("lexigraft.serve.asking.vectors_of", fail)
    assert server.refused(503, "POST", "/search", json={"query": "a"}) == HIDDEN


def test_where_no_system_has_terms(server, monkeypatch):
    monkeypatch.setattr("lexigraft.serve.embeddings.TermSystem", int)
    assert "has terms" in server.refused(422, "GET", "/info")
    assert "has terms" in server.refused(422, "POST", "/embed_sparse", json={"inputs": "a"})
    monkeypatch.setattr("lexigraft.serve.endpoints.info", lambda *_: next(iter(())))
    server.refused(500, "GET", "/info")


def test_terms_that_are_switched_off_are_bounded(server):
    server.refused(422, "POST", "/search", json={"query": "a", "without": [str(number) for number in range(201)]})

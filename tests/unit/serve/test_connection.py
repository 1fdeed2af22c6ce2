"""A connection is held in bounded time and space, whatever its client sends or leaves unread."""

import asyncio
import socket
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
import uvicorn
from uvicorn.server import ServerState

from lexigraft.serve import connection
from lexigraft.serve.connection import BoundedConnection
from lexigraft.serve.limits import LEAST_READ, LONGEST_HEAD, MOST_PIPELINED, is_left_to_indexes

HOST = b"Host: 127.0.0.1\r\n"
GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
CHUNKED = b"GET / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
SOON = 0.1  # seconds, in the place of the limits of a server


@pytest.fixture(autouse=True)
def short_limits(monkeypatch):
    monkeypatch.setattr(connection, "SLOWEST_HEAD", SOON)
    monkeypatch.setattr(connection, "SLOWEST_READ", SOON)


class Answers:
    """An application that answers each request with `content` when `go` is set, and reads no body."""

    def __init__(self, content=b"yes", waits=False):
        self.content, self.seen, self.go = content, [], asyncio.Event()
        if not waits:
            self.go.set()

    async def __call__(self, scope, receive, send):
        self.seen.append(scope)
        await self.go.wait()
        length = str(len(self.content)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        await send({"type": "http.response.body", "body": self.content})


@asynccontextmanager
async def listening(app):
    """A server, and what it keeps of its connections."""
    config = uvicorn.Config(app, http=BoundedConnection, ws="none", lifespan="off", log_config=None)
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: BoundedConnection(config, state, {}), "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], state
    finally:
        server.close()
        for one in list(state.connections):
            one.transport.abort()


async def all_of(reader):
    """What comes until the connection is closed, which it is soon."""
    try:
        return await asyncio.wait_for(reader.read(), 5)
    except ConnectionResetError:
        return b""


async def said_to(sent):
    """What is answered to bytes before the connection is closed."""
    async with listening(Answers(waits=True)) as (port, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        return await all_of(reader)


@pytest.mark.parametrize(
    "endless",
    [
        b"".join(b"a%d: value\r\n" % number for number in range(LONGEST_HEAD)),
        b"a: " + b"v" * 10 * LONGEST_HEAD,
    ],
    ids=["many", "one"],
)
def test_trailers_that_do_not_end(endless, monkeypatch):
    monkeypatch.setattr(connection, "SLOWEST_HEAD", 60)
    said = asyncio.run(said_to(CHUNKED + b"0\r\n" + endless))  # lost where it was closed while we were sending
    assert not said or connection.TOO_LONG.encode() in said


def test_trailers_are_dropped_and_a_long_body_is_none():
    async def ask():
        app = Answers(waits=True)
        async with listening(app) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            long = b"%x\r\n" % (3 * LONGEST_HEAD) + b" " * 3 * LONGEST_HEAD + b"\r\n"
            writer.write(CHUNKED + long + b"0\r\nx-later: 1\r\n\r\n")
            await asyncio.sleep(SOON / 2)
            app.go.set()
            assert (await reader.readuntil(b"yes")).startswith(b"HTTP/1.1 200")
        return [name for name, _ in app.seen[0]["headers"]]

    assert asyncio.run(ask()) == [b"host", b"transfer-encoding"]


def test_requests_that_are_sent_at_once():
    async def ask(number):
        app = Answers(waits=True)
        async with listening(app) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(GET * number)
            await asyncio.sleep(SOON / 4)
            app.go.set()
            if number > MOST_PIPELINED:
                return await all_of(reader), len(app.seen)
            found = b"".join([await asyncio.wait_for(reader.readuntil(b"yes"), 5) for _ in range(number)])
            return found, len(app.seen)

    found, asked = asyncio.run(ask(MOST_PIPELINED))
    assert found.count(b"200 OK") == asked == MOST_PIPELINED
    found, asked = asyncio.run(ask(3 * MOST_PIPELINED))
    assert found.count(b"HTTP/1.1") == 1 and connection.TOO_MANY.encode() in found and asked <= 1
    assert b"nosniff" in found


@pytest.mark.parametrize("rest", [b"x", b"x" * 100], ids=["a part", "all of it"])
def test_a_body_that_nobody_reads(rest):
    async def ask():
        async with listening(Answers()) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 100\r\n\r\n")
            await reader.readuntil(b"yes")
            writer.write(rest)
            assert await all_of(reader) == b""

    asyncio.run(ask())


@pytest.mark.parametrize("kind", ["", "Connection: close\r\n"])
def test_a_client_that_does_not_read(kind):
    async def ask():
        async with listening(Answers(b"a" * 8_000_000)) as (port, state):
            line = socket.socket()
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            line.connect(("127.0.0.1", port))
            line.sendall(GET.replace(HOST, HOST + kind.encode()))
            async with asyncio.timeout(5):
                while not state.total_requests and not state.connections:  # until it is there
                    await asyncio.sleep(SOON / 10)
                while state.connections:
                    await asyncio.sleep(SOON / 10)
            line.close()

    asyncio.run(ask())


def test_a_client_that_reads_slowly():
    """It keeps its connection as long as it reads some of what waits for it."""
    later, unsent, closed = [], [100 * LEAST_READ], []
    loop = SimpleNamespace(call_later=lambda _, do: later.append(do))
    one = BoundedConnection(uvicorn.Config(None, log_config=None), ServerState(), {}, loop)
    one.transport = SimpleNamespace(get_write_buffer_size=lambda: unsent[0], abort=lambda: closed.append(1))
    one._watch_reader()
    for read in (LEAST_READ, 2 * LEAST_READ):
        unsent[0] -= read
        later.pop()()
        assert not closed and len(later) == 1
    unsent[0] -= LEAST_READ - 1
    later.pop()()
    assert closed and not later


def test_more_connections_than_there_may_be(monkeypatch):
    monkeypatch.setattr(connection, "MOST_CONNECTIONS", 3)
    monkeypatch.setattr(connection, "SLOWEST_HEAD", 60)

    async def ask():
        async with listening(Answers()) as (port, state):
            pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
            assert await all_of(pairs[3][0]) == await all_of(pairs[4][0]) == b"" and len(state.connections) == 3
            pairs[0][1].write(GET)
            assert await pairs[0][0].readuntil(b"yes")

    asyncio.run(ask())


@pytest.mark.parametrize(("files", "first"), [(256, 192), (1024, 824), (65_536, 65_336)])
def test_some_files_are_left_for_indexes(monkeypatch, files, first):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert is_left_to_indexes(first) and not is_left_to_indexes(first - 1)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert not is_left_to_indexes(first)


def test_connections_leave_files_to_indexes(monkeypatch):
    monkeypatch.setattr(connection, "is_left_to_indexes", lambda file: file > 0)
    assert asyncio.run(said_to(b"")) == b""

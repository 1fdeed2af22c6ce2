"""Servers that are away, overloaded, too old, or refuse: each is told in one line, and what may pass is tried again."""

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lexigraft.engines.address import parse_address
from lexigraft.engines.engine import EngineError, UnreachableError
from lexigraft.engines.opening import open_engine
from tests.engines import contract
from tests.ports import free_port

pytestmark = pytest.mark.integration


@pytest.fixture
def port():
    return free_port()


def told(engine, do=lambda engine: engine.describe()):
    with pytest.raises(EngineError) as error:
        do(engine)
    engine.close()
    assert "\n" not in str(error.value) and "a-secret" not in str(error.value)
    return error.value


@pytest.fixture
def qdrant():
    """A server that answers as it is told to: (status, content) by the end of the path, or for all others."""
    pytest.importorskip("qdrant_client")
    answers, asked = {}, []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked.append((self.command, self.path, json.loads(body) if body else None))
            place = next((end for end in answers if end and self.path.endswith(end)), "")
            status, content = answers[place]
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.answers, server.asked = answers, asked
    answers["6333/"] = answers[""] = (200, {"title": "qdrant", "version": "1.15.0"})
    server.address = parse_address(f"qdrant://a-secret@127.0.0.1:{server.server_port}/papers?https=no&timeout=5")
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [(401, EngineError, "does not accept the key"), (403, EngineError, "does not accept the key"),
     (429, UnreachableError, "too much to do"), (503, UnreachableError, "too much to do"),
     (400, EngineError, "refuses"), (500, EngineError, "disk of .* is full")],
)  # fmt: skip
def test_qdrant_refuses(qdrant, status, kind, said):
    content = {"status": {"error": "No space left on device" if status == 500 else "a-secret\n is wrong"}}
    qdrant.answers["/exists"] = (status, content)
    error = told(open_engine(qdrant.address))
    assert type(error) is kind
    assert re.search(said, str(error))


def test_qdrant_is_too_old(qdrant):
    qdrant.answers[""] = (200, {"title": "qdrant", "version": "1.7.4"})
    assert "1.7.4" in str(error := told(open_engine(qdrant.address))) and "1.10" in str(error)


def test_something_else_listens(qdrant):
    qdrant.answers[""] = (200, ["hello"])
    assert "is it Qdrant" in str(told(open_engine(qdrant.address)))


def test_https_is_asked_of_what_has_none(qdrant):
    address = parse_address(str(qdrant.address).replace("://", "://a-secret@"))
    assert "?https=no" in str(told(open_engine(address)))


def test_qdrants_server_indexes_what_conditions_ask_for(qdrant):
    done = {"result": {"operation_id": 1, "status": "completed"}, "status": "ok", "time": 0.0}
    qdrant.answers |= {"/index?wait=true": (200, done), "/points?wait=true": (200, done)}
    qdrant.answers |= {"/exists": (200, {"result": {"exists": True}, "status": "ok", "time": 0.0})}
    text = json.dumps(contract.description().as_dict())
    point = {"id": 1, "payload": {"description": text}}
    qdrant.answers["__lexigraft/points"] = (200, {"result": [point], "status": "ok", "time": 0.0})
    engine = open_engine(qdrant.address)
    for _ in range(2):
        engine.load([contract.row("a", {1: 2}, "title", year=1)])
    engine.close()
    indexed = {body["field_name"]: body["field_schema"] for _, path, body in qdrant.asked if "/index?" in path}
    assert indexed["meta.year"] == "float" and indexed["meta.published"] == "integer"
    assert indexed["meta.venue"] == indexed["meta.tags"] == "keyword" and len(indexed) == len(contract.KINDS)
    assert sum("/index?" in path for _, path, _ in qdrant.asked) == len(contract.KINDS)
    (sent, _) = [body["points"] for _, path, body in qdrant.asked if path.endswith("papers/points?wait=true")]
    assert sent[0]["vector"] == {"terms": {"indices": [1], "values": [2.0]}}
    assert sent[0]["payload"] == {"row_id": "a", "title": "title", "meta": {"year": 1}}


@pytest.mark.parametrize(("scheme", "package"), [("qdrant", "qdrant_client"), ("milvus", "pymilvus")])
def test_nobody_answers(scheme, package, port):
    pytest.importorskip(package)
    error = told(open_engine(parse_address(f"{scheme}://127.0.0.1:{port}/papers?timeout=1")))
    assert isinstance(error, UnreachableError)
    assert f"127.0.0.1:{port} does not answer" in str(error) and "is the server running?" in str(error)


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [("UNAUTHENTICATED", EngineError, "does not accept"), ("UNAVAILABLE", UnreachableError, "does not answer")],
)
def test_milvus_refuses(code, kind, said, port):
    pytest.importorskip("pymilvus")
    grpc = pytest.importorskip("grpc")

    class Refusing(grpc.GenericRpcHandler):
        def service(self, _):
            return grpc.unary_unary_rpc_method_handler(
                lambda _, context: context.abort(getattr(grpc.StatusCode, code), "a-secret is wrong")
            )

    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((Refusing(),))
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    error = told(open_engine(parse_address(f"milvus://me:a-secret@127.0.0.1:{port}/papers?timeout=1")))
    server.stop(None)
    assert type(error) is kind and said in str(error)

"""A server as its user starts it: under load, while its index is replaced, when it is stopped, with clients of others,
and asked by a program that reads its own description and tries what it forbids. `make fuzz-serve` does more of it."""

import asyncio
import json
import os
import re
import signal
import socket
import sys
import time
from pathlib import Path

import httpx
import pytest

from bench.http_load import load, read_answer, request_of
from tests.fuzz.races import QUERIES, VERSIONS, prepare, replace
from tests.fuzz.serve import is_clean, try_schemas
from tests.fuzz.world import make_world
from tests.ports import free_port
from tests.serving import InProcess, served

pytestmark = pytest.mark.integration
REPLACEMENTS = 10
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A run with BM25, a model, a dense system and a hybrid, with texts and metadata."""
    folder = tmp_path_factory.mktemp("world")
    make_world(folder)
    return folder


@pytest.fixture(scope="module")
def server(world):
    wackiness = next(world.joinpath("wack").glob("*/queries"))
    with served(world / "run", world / "live", "--wackiness", wackiness) as found:
        yield found


def post(server, path, **body):
    found = httpx.post(server.address + path, json=body, timeout=60)
    assert found.status_code == 200, found.text
    return found.json()


def test_a_new_installation_answers_while_kernels_are_compiled(world, tmp_path, monkeypatch):
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    longest = 0.0
    with served(world / "run") as server:
        until = time.monotonic() + 15  # it takes most of a minute
        while time.monotonic() < until:
            begun = time.monotonic()
            post(server, "/search", query="kura mele", k=3)
            longest = max(longest, time.monotonic() - begun)
    assert longest < 5, "a compiler was waited for"


def test_every_system_answers_and_none_needs_torch(server):
    systems = httpx.get(f"{server.address}/systems").json()["systems"]
    assert [one["name"] for one in systems] == ["run/bm25", "run/esplade", "run/dense", "run/hybrid", "live"]
    assert [one["kind"] for one in systems] == ["terms", "terms", "dense", "hybrid", "terms"]
    for one in systems:
        assert post(server, "/search", query="kura mele", system=one["name"], k=3)["hits"]
    learned = next(one for one in systems if one["name"] == "run/esplade")
    assert {(point["qk"], point["dk"]) for point in learned["points"]} == {(0, 0), (0, 53)}
    for point in learned["points"]:
        asked = {"query": "kura mele", "system": "run/esplade", "qk": point["qk"], "dk": point["dk"]}
        found = post(server, "/search", **asked)
        why = post(server, "/explain", doc_id=found["hits"][0]["doc_id"], **asked)
        assert why["score"] == found["hits"][0]["score"] and any(one["document_words"] for one in why["contributions"])
    for kind in ("query", "document"):
        (vector,) = post(server, "/encode", texts=["kura mele"], system="run/esplade", **{"as": kind})["vectors"]
        assert len(vector) > 10
    scored = httpx.get(f"{server.address}/vocabulary?system=run/esplade&sort=wackiness").json()["terms"]
    assert scored[0]["wackiness"] == 1.0 or scored[0]["wackiness"] > scored[-1]["wackiness"]
    maps = Path(f"/proc/{server.process.pid}/maps")
    if maps.exists():
        assert not re.search(r"/(libtorch|torch/_C)", maps.read_text()) and "onnxruntime" in maps.read_text()


def test_many_connections(server):
    bodies = [json.dumps({"query": f"kura mele n{number}", "system": name}).encode()
              for number in range(20) for name in ("run/bm25", "run/esplade", "run/hybrid", "live")]  # fmt: skip
    seen = asyncio.run(load(server.address, bodies, 200, 8.0, lambda _, answer: "" if b'"hits":' in answer else "odd"))
    assert set(seen.statuses) <= {200, 429, 503} and seen.statuses[200] > 200, seen.as_json()
    assert not seen.broken and not seen.wrong, seen.as_json()
    text = httpx.get(f"{server.address}/metrics").text
    assert "lexigraft_work_begun 0.0" in text and "lexigraft_requests_in_flight 1.0" in text


def test_an_index_is_replaced_under_load(tmp_path):
    """Files of two versions have the same sizes: what was mixed would be a wrong answer, not an error."""
    prepare(tmp_path)
    right = {
        (name, query): InProcess([tmp_path / name / "index"]).post("/search", query=query)["hits"]
        for name in VERSIONS
        for query in QUERIES
    }
    told = set()

    def check(body, answer):
        query, hits = json.loads(body)["query"], json.loads(answer)["hits"]
        version = next((name for name in VERSIONS if right[name, query] == hits), "mixed")
        told.add(version)
        return "" if version != "mixed" else f"mixed: {hits[:1]}"

    async def both(address):
        bodies = [json.dumps({"query": query}).encode() for query in QUERIES]
        asking = asyncio.create_task(load(address, bodies, 20, REPLACEMENTS * 0.9 + 2, check))
        for number in range(REPLACEMENTS):
            await asyncio.sleep(0.9)
            await asyncio.to_thread(replace, tmp_path, list(VERSIONS)[(number + 1) % len(VERSIONS)], "swap")
        return await asking

    with served(tmp_path / "live" / "index") as server:
        seen = asyncio.run(both(server.address))
        text = httpx.get(f"{server.address}/metrics").text
    assert set(seen.statuses) == {200} and not seen.broken and not seen.wrong, seen.as_json()
    assert told == set(VERSIONS) and float(re.search(r"(?m)^lexigraft_refreshed_systems (\S+)", text)[1]) >= 5


def test_documents_that_are_added_are_found(world, server, lexigraft):
    added = lexigraft("index", "add", world / "live", "--data", world / "third")
    assert added.status == 0, added.stderr
    ids = [json.loads(line)["_id"] for line in (world / "third" / "corpus.jsonl").read_text().splitlines()]
    title = json.loads((world / "third" / "corpus.jsonl").read_text().splitlines()[0])["title"]
    ends, found = time.monotonic() + 30, []
    while ids[0] not in found and time.monotonic() < ends:
        time.sleep(0.2)
        found = [hit["doc_id"] for hit in post(server, "/search", query=title, system="live", k=100)["hits"]]
    assert ids[0] in found


async def _in_flight(address, n_requests, n_texts):
    """Requests that have begun when SIGTERM comes, and what became of them."""
    host, port = address.removeprefix("http://").split(":")
    pairs = [await asyncio.open_connection(host, int(port), limit=1 << 24) for _ in range(n_requests)]
    body = json.dumps({"texts": ["kura mele zane tosu " * 200] * n_texts, "system": "esplade", "as": "document"})
    for _, writer in pairs:
        writer.write(request_of(f"{host}:{port}", body.encode(), "/encode"))
        await writer.drain()
    return pairs, [asyncio.create_task(read_answer(reader)) for reader, _ in pairs]


def test_a_stop_lets_requests_end(world):
    async def stop(server):
        _open, asked = await _in_flight(server.address, 12, 16)
        await asyncio.sleep(0.3)  # they are taken, and not all of them answered
        server.process.send_signal(signal.SIGTERM)
        waiting = sum(not task.done() for task in asked)
        return waiting, await asyncio.gather(*asked)

    with served(world / "run") as server:
        waiting, answers = asyncio.run(stop(server))
        assert server.process.wait(60) == 0
    assert waiting and [status for status, _, _ in answers] == [200] * 12
    assert all(len(json.loads(body)["vectors"]) == 16 for _, body, _ in answers)


def test_a_stop_while_it_opens(world, tmp_path):
    import subprocess

    port = free_port()
    command = [sys.executable, "-m", "lexigraft", "serve", str(world / "run"), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0 and "Traceback" not in said


def test_what_cannot_be_served_is_one_line(tmp_path, world, lexigraft):
    for arguments, said in (
        (["serve", tmp_path / "absent", "--port", "0"], "there is no run"),
        (["serve", world / "data", "--port", "0"], "is a collection"),
        (["serve", world / "run", "--api-key-file", tmp_path / "no"], "cannot be read"),
        (["serve", world / "run", "--embed-as", "poem"], "query or document"),
        (["serve", world / "run", "--host", "no.such.host.invalid"], "cannot be listened at"),
    ):
        found = lexigraft(*arguments)
        assert found.status == 2 and said in found.stderr and len(found.stderr.strip().splitlines()) == 1


def test_raw_bytes_that_are_no_request(server):
    """Also what never ends: none of it keeps the server from answering others."""
    host, port = server.address.removeprefix("http://").split(":")
    for sent in (
        b"\x16\x03\x01\x02\x00\x01\x00" * 20,
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 300_000,
        b"GET /" + b"a" * 300_000,
        b"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 99999999\r\n\r\n{",
        b"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + b" " * 65536 + b"\r\n",
    ):  # fmt: skip
        with socket.create_connection((host, int(port)), 30) as line:
            line.settimeout(30)
            try:
                line.sendall(sent if b"chunked" not in sent else sent + (b"10000\r\n" + b" " * 65536 + b"\r\n") * 20)
                answer = line.recv(4096)
            except (ConnectionResetError, BrokenPipeError):
                continue  # it was closed while we were still sending
            assert re.match(rb"HTTP/1.1 4\d\d ", answer), (sent[:60], answer[:200])
    assert httpx.get(f"{server.address}/healthz").status_code == 200


def test_clients_of_text_embeddings_inference(server, monkeypatch):
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    from haystack.dataclasses import Document
    from haystack_integrations.components.embedders.huggingface_api import (
        HuggingFaceTEISparseDocumentEmbedder,
        HuggingFaceTEISparseTextEmbedder,
    )

    embedder = HuggingFaceTEISparseTextEmbedder(api_base_url=server.address, token=None)
    found = embedder.run("kura mele")["sparse_embedding"]
    (right,) = post(server, "/embed_sparse", inputs="kura mele")
    assert found.indices == [one["index"] for one in right] and found.values == [one["value"] for one in right]
    (named,) = post(server, "/encode", texts=["kura mele"])["vectors"]
    assert sorted(found.values) == sorted(one["weight"] for one in named)
    documents = HuggingFaceTEISparseDocumentEmbedder(api_base_url=f"{server.address}/document", token=None)
    (written,) = documents.run([Document(content="kura mele")])["documents"]
    (right,) = post(server, "/embed_sparse", inputs="kura mele", prompt_name="document")
    assert written.sparse_embedding.values == [one["value"] for one in right] != found.values


def test_an_assistant(world):
    from mcp import Client, StdioServerParameters

    async def ask():
        environment = {**os.environ}
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "lexigraft", "mcp", str(world / "run")], env=environment
        )
        async with Client(command) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            found = await client.call_tool("search", {"query": "kura mele", "k": 2, "where": ["year >= 2000"]})
            first = found.structured_content["hits"][0]
            why = await client.call_tool("explain", {"query": "kura mele", "doc_id": first["doc_id"]})
            wrong = await client.call_tool("explain", {"query": "kura mele", "doc_id": "no such"})
            return tools, found.structured_content, why.structured_content, wrong

    tools, found, why, wrong = asyncio.run(ask())
    assert set(tools) == {"search", "explain"} and tools["search"].input_schema["required"] == ["query"]
    assert len(found["hits"]) == 2 and found["hits"][0]["score"] == why["score"] and why["terms"][0]["share"] > 0
    assert wrong.is_error and "no document" in wrong.content[0].text and str(world) not in wrong.content[0].text


def test_what_the_description_says_holds(server):
    found = try_schemas(server.address, examples=2)
    assert is_clean(found), json.dumps(found, indent=1)[:3000]
    assert found["cases"] > 200

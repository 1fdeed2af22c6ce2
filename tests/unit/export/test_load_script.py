"""The script that loads OpenSearch or Elasticsearch, against a server that writes down what it is sent."""

import gzip
import json
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.engines.exported_files import lines_of

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")


@pytest.fixture
def server():
    """`server.sent` are (method, path, headers, body); `server.answer` is what a bulk request is told."""

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self):
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            web.sent.append((self.command, self.path, self.headers, body))
            told = web.answer if "_bulk" in self.path else b"{}"
            self.send_response(web.status)
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        do_POST = do_PUT  # noqa: N815

        def log_message(self, *_):
            pass

    web = HTTPServer(("127.0.0.1", 0), Handler)
    web.sent, web.answer, web.status = [], b'{"errors":false}', 200
    thread = threading.Thread(target=web.serve_forever)
    thread.start()
    yield web
    web.shutdown()
    thread.join()
    web.server_close()


def load(folder, server, **more):
    address = {"SERVER": f"http://127.0.0.1:{server.server_port}", "PATH": "/usr/bin:/bin", **more}
    return subprocess.run(["sh", folder / "load.sh"], env=address, capture_output=True, text=True, check=False)


def test_everything_is_sent(exported, server):
    folder, _, _ = exported("opensearch", name="passages")
    done = load(folder, server, CURL_OPTIONS="--user me:secret")
    assert done.returncode == 0, done.stderr
    (made, bulk, refreshed) = server.sent
    assert made[:2] == ("PUT", "/lexigraft") and json.loads(made[3]) == json.loads((folder / "index.json").read_text())
    assert bulk[1].startswith("/lexigraft/_bulk?") and bulk[2]["Content-Encoding"] == "gzip"
    assert bulk[2]["Content-Type"] == "application/x-ndjson" and bulk[2]["Authorization"].startswith("Basic ")
    lines = gzip.decompress(bulk[3]).decode().split("\n")
    assert lines.pop() == "" and [json.loads(line) for line in lines] == lines_of(folder, "bulk-*")
    assert refreshed[:2] == ("POST", "/lexigraft/_refresh")


@pytest.mark.parametrize(("answer", "status"), [(b'{"errors":true,"items":[{"index":{}}]}', 200), (b"too large", 413)])
def test_a_refusal_ends_it(answer, status, exported, server):
    folder, _, _ = exported("elasticsearch")
    server.answer, server.status = answer, status
    done = load(folder, server)
    assert done.returncode != 0 and not any("_refresh" in path for _, path, _, _ in server.sent)
    if status == 200:
        assert "bulk-00000.ndjson.gz" in done.stderr and '"errors":true' in done.stderr

"""Who may ask: names, origins, keys; and what browsers are told."""

import pytest

from lexigraft.core.errors import InputError, SettingError
from lexigraft.serve.access import access_for, host_name, read_keys
from tests.serving import InProcess

KEY = "0123456789abcdef-first"


@pytest.fixture(scope="module")
def keyed(run, tmp_path_factory):
    file = tmp_path_factory.mktemp("keys") / "keys"
    file.write_text(f"# ours\n{KEY}\n\nanother-key-of-many-letters\n")
    access = {"key_file": file, "origins": ["https://ours.example"], "allowed_hosts": ["search.example"]}
    return InProcess([run], access=access)


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1", True),
        ("127.0.0.1:8080", True),
        ("LOCALHOST:1", True),
        ("[::1]:8080", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("localhost@evil.example", False),
        ("[::1]evil.example", False),
        ("[::1]:80:80", False),
        ("", False),
    ],
)
def test_only_by_its_own_names(server, host, allowed):
    assert (server.ask("GET", "/healthz", headers={"host": host}).status_code == 200) == allowed


def test_names_that_were_allowed(keyed):
    assert keyed.ask("GET", "/healthz", headers={"host": "search.example:99"}).status_code == 200
    assert access_for("0.0.0.0", ["*"]).check("/", {"host": "anything"}) is None
    assert "0.0.0.0" not in access_for("0.0.0.0").hosts and "10.1.2.3" in access_for("10.1.2.3").hosts
    assert [host_name(host) for host in ("A:1", "[::1]:2", "::1", "x")] == ["a", "::1", "::1", "x"]
    written = access_for("2001:DB8::1", ["2001:db8:0::5", "[2001:db8::6]", "Ours.Example:80"])
    for host in ("[2001:db8::1]:80", "[2001:DB8::5]", "[2001:db8:0:0::6]:1", "ours.example"):
        written.check("/", {"host": host})


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:81", "http://[", "file://"])
def test_no_page_of_others(server, origin):
    said = server.ask("POST", "/search", json={"query": "list"}, headers={"origin": origin, "host": "127.0.0.1:80"})
    assert said.status_code == 403 and "access-control-allow-origin" not in said.headers


def test_its_own_page_and_allowed_ones(server, keyed):
    own = {"origin": "https://127.0.0.1:80", "host": "127.0.0.1:80"}  # a proxy may speak TLS
    assert server.ask("GET", "/systems", headers=own).status_code == 200
    theirs = {"origin": "https://ours.example", "authorization": f"Bearer {KEY}"}
    found = keyed.ask("GET", "/systems", headers=theirs)
    assert found.status_code == 200 and found.headers["access-control-allow-origin"] == "https://ours.example"
    assert found.headers["vary"] == "Origin"
    asked = keyed.ask("OPTIONS", "/search", headers={"origin": "https://ours.example"})  # browsers send no key with it
    assert asked.status_code == 204 and "content-type" in asked.headers["access-control-allow-headers"]
    assert "access-control-allow-origin" not in server.ask("GET", "/systems").headers


def test_keys(keyed, server):
    for headers in ({}, {"authorization": f"Bearer {KEY}x"}, {"authorization": "Basic abc"}, {"x-api-key": "é"}):
        found = keyed.ask("GET", "/systems", headers={name: value.encode() for name, value in headers.items()})
        assert found.status_code == 401 and found.headers["www-authenticate"] == "Bearer"
    for headers in ({"authorization": f"bearer {KEY}"}, {"x-api-key": "another-key-of-many-letters"}):
        assert keyed.ask("GET", "/systems", headers=headers).status_code == 200
    assert keyed.ask("GET", "/metrics").status_code == 401
    assert keyed.ask("GET", "/healthz").status_code == 200
    assert keyed.ask("GET", "/").status_code in (200, 404)  # which asks for a key itself


def test_files_of_keys_that_cannot_be(tmp_path):
    (tmp_path / "none").write_text("# nothing\n")
    (tmp_path / "short").write_text("secret\n")
    (tmp_path / "bytes").write_bytes(b"\xff" * 20)
    (tmp_path / "accents").write_text("clé-de-vingt-lettres\n", encoding="utf-8")
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbf" + KEY.encode())
    assert read_keys(tmp_path / "marked") == (KEY.encode(),)
    for name in ("none", "short", "bytes", "absent", "accents"):
        with pytest.raises(InputError, match=name):
            read_keys(tmp_path / name)


@pytest.mark.parametrize(
    "origin", ["ours.example", "https://a.b/c", "https://a.b?", "https://a.b/?c", "https://a.b#c", "https://u@a.b",
               "https://a.b:port", "https://[", "ftp://a.b", ""],
)  # fmt: skip
def test_what_is_no_origin(origin):
    with pytest.raises(SettingError, match="allow-origin"):
        access_for("127.0.0.1", origins=[origin])


def test_origins_as_browsers_write_them():
    given = ["https://Example.org:443/", "HTTP://example.org:80", "http://A.b:8080", "https://[2001:DB8::1]:443", "*"]
    written = {"https://example.org", "http://example.org", "http://a.b:8080", "https://[2001:db8::1]", "*"}
    assert access_for("127.0.0.1", origins=given).origins == written


def test_two_names_at_once(server):
    hosts = [("host", "127.0.0.1"), ("host", "127.0.0.1")]
    assert "more than one" in server.refused(400, "GET", "/healthz", headers=hosts)


def test_what_other_pages_fetch_without_saying_who_they_are(server, keyed):
    def status(site, mode, one=server, **named):
        headers = {"sec-fetch-site": site, "sec-fetch-mode": mode, **named}
        return one.ask("GET", "/healthz", headers=headers).status_code

    for site in ("cross-site", "same-site"):
        assert status(site, "no-cors") == status(site, "cors") == 403 and status(site, "navigate") == 200
    assert status("same-origin", "cors") == status("none", "navigate") == 200
    assert status("cross-site", "cors", keyed, origin="https://ours.example") == 200
    assert server.ask("GET", "/healthz").headers["cross-origin-resource-policy"] == "same-origin"
    shared = keyed.ask("GET", "/healthz", headers={"origin": "https://ours.example"})
    assert shared.headers["cross-origin-resource-policy"] == "cross-origin"


def test_what_is_not_to_be_kept(server):
    for path in ("/healthz", "/openapi.json", "/metrics", "/no", "/search", "/page/no.js"):
        assert server.ask("GET", path).headers["cache-control"] == "no-store"


def test_every_answer_tells_browsers_to_be_strict(server):
    for path in ("/healthz", "/no", "/", "/search"):
        headers = server.ask("GET", path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"


def test_the_page_and_its_files(run, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Search</title>")
    (tmp_path / "parts/a.js").write_text("export {}")
    (tmp_path / "secret.pem").write_text("no")
    (tmp_path / "out.css").symlink_to(tmp_path / "absent")
    server = InProcess([run], page=tmp_path)
    found = server.ask("GET", "/")
    assert found.headers["content-type"] == "text/html; charset=utf-8" and "Search" in found.text
    assert server.ask("GET", "/", headers={"if-none-match": found.headers["etag"]}).status_code == 304
    for known in (f"W/{found.headers['etag']}", f'"other", {found.headers["etag"]}'):
        assert server.ask("GET", "/", headers={"if-none-match": known}).status_code == 304
    assert server.ask("GET", "/page/parts/a.js").headers["content-type"] == "text/javascript; charset=utf-8"
    for name in ("secret.pem", "out.css", "parts", "", "../keys"):
        server.refused(404, "GET", f"/page/{name}")
    (tmp_path / "index.html").write_text("<!doctype html><title>Changed</title>")
    assert "Changed" in server.ask("GET", "/").text
    (tmp_path / "parts/b.js").write_text("export {}")
    assert server.ask("GET", "/page/parts/b.js").status_code == 200
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pathlib.Path.rglob", None)  # the folder is not listed again while it is the same
        assert server.ask("GET", "/page/parts/b.js").status_code == 200
    (tmp_path / "parts/b.js").unlink()
    server.refused(404, "GET", "/page/parts/b.js")
    assert "openapi" in InProcess([run], page=tmp_path / "absent").refused(404, "GET", "/")

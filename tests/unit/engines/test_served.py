"""A server over an engine answers as one over the local index does."""

import pytest

from lexigraft.engines.address import parse_address
from lexigraft.engines.engine import EngineError
from tests.serving import InProcess
from tests.unit.engines.conftest import ADDRESS


@pytest.fixture
def servers(run, engines, lexigraft):
    lexigraft("engine", "load", "--run", run, "--to", ADDRESS)
    return InProcess([parse_address(ADDRESS)]), InProcess([run])


def test_it_answers_as_the_local_one_does(servers):
    there, here = servers
    for body in [
        {"query": "sort a list"},
        {"query": "dates", "where": ["year >= 2001"], "k": 2},
        {"query": "sort lists in order", "without": ["sort"], "weights": {"list": 2.0}, "qk": 2},
    ]:
        found, right = there.post("/search", **body), here.post("/search", **body)
        for answer in (found, right):
            answer.pop("ms"), answer.pop("system")
        assert found == right and found["hits"][0]["matches"]
    asked = {"query": "sort a list", "doc_id": "d2"}
    found, right = there.post("/explain", **asked), here.post("/explain", **asked)
    assert found.pop("system") == "papers" and right.pop("system") == "bm25" and found == right
    (described,) = there.get("/systems")["systems"]
    assert (described["name"], described["n_documents"], described["has_texts"]) == ("papers", 6, True)
    assert "a-secret" not in str(there.get("/systems"))


def test_what_the_engine_cannot_do_is_refused(servers, engines):
    there, _ = servers
    assert "dk of papers" in there.refused(422, "POST", "/search", json={"query": "sort", "dk": 3})

    def search(*given):
        raise EngineError("localhost:6333 has no room left")

    engines["papers"].search = search
    assert "cannot be answered now" in there.refused(503, "POST", "/search", json={"query": "sort"})

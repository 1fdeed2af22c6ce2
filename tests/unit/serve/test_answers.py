"""What the endpoints answer for a run of BM25: the same as the library, in the shapes that are promised."""

import math
from types import SimpleNamespace

import pytest

from lexigraft.retrieve.retriever import Retriever
from lexigraft.serve.answer_schemas import HIT, SEARCH, VOCABULARY
from lexigraft.serve.asking import _hit
from lexigraft.serve.limits import Limits
from lexigraft.serve.metrics import Metrics
from lexigraft.serve.wackiness import GivenWackiness
from tests.scored_terms import write_scores
from tests.serving import InProcess
from tests.unit.serve.conftest import MARKUP

QUERY = "remove duplicate items but keep their order, quxily"


def test_health_and_what_there_is(server):
    assert server.get("/healthz") == {"status": "ready"}
    found = server.get("/systems")
    (system,) = found["systems"]
    assert (system["name"], system["run"], system["kind"], system["n_documents"]) == ("bm25", "run", "terms", 6)
    assert system["has_texts"] and system["recommended"] and found["measure"] == "MRR@10" and found["n_queries"] == 3
    (point,) = system["points"]
    assert point["chosen"] and 0 < point["MRR@10"] <= 1 and point["FLOPS"] > 0 and point["ms"] > 0
    kinds = {field["name"]: field["kind"] for field in system["fields"]}
    assert kinds == {"year": "number", "lang": "text", "open": "yes_or_no", "tags": "list", "day": "date"}
    values = {field["name"]: field["values"] for field in system["fields"]}
    assert values["year"] == [2000, 2001, 2002] and values["tags"][0] == "a" and values["day"][0] == "2020-01-01"


def test_a_search_says_what_the_library_says(server, run):
    found = server.post("/search", query=QUERY, k=3)
    answer = Retriever.open(run).answer(QUERY, 3)
    assert [(hit["doc_id"], hit["score"]) for hit in found["hits"]] == [(hit.doc_id, hit.score) for hit in answer.hits]
    assert {term["term"] for term in found["terms"]} == {term.term for term in answer.terms}
    assert all(term["kept"] and term["own"] and term["postings"] > 0 for term in found["terms"])
    assert found["unknown"] == ["quxily"] and set(found) == set(SEARCH["properties"])
    assert found["notices"] == list(answer.notices) == ["the vocabulary does not know: quxily"]
    first = found["hits"][0]
    assert math.isclose(sum(match["score"] for match in first["matches"]), first["score"], rel_tol=1e-9)
    marked = [first["snippet"]["text"][start:end] for start, end in first["snippet"]["marks"]]
    assert "duplicates" in [word.lower() for word in marked] and first["metadata"]["year"] == 2000
    touched = sum(term["postings"] for term in found["terms"])
    assert found["postings"] == touched and found["FLOPS"] == touched / 6
    assert first["passage"] is None
    linked = server.get("/search", params={"q": QUERY, "k": 3, "qk": "", "dk": "", "where": ""})
    assert linked["hits"] == found["hits"]


def test_a_query_without_a_known_word_is_told_what_is_near(server):
    found = server.post("/search", query="duplikates -grahps")
    assert found["hits"] == [] and found["notices"] == [
        '"-word" has no meaning here yet: read as plain words',
        "no word of the query is in the collection: duplikates, grahps; did you mean duplicates, graphs?",
    ]


def test_terms_are_switched_off_and_weighed(server):
    whole = server.post("/search", query="sort list order")
    names = [term["term"] for term in whole["terms"]]
    off = server.post("/search", query="sort list order", without=[names[0], "never heard of"])
    kept = {term["term"]: term["kept"] for term in off["terms"]}
    assert kept == {name: name != names[0] for name in names}
    assert names[0] not in {match["term"] for hit in off["hits"] for match in hit["matches"]}
    assert off["postings"] < whole["postings"]
    assert server.post("/search", query="sort", without=["sort"])["hits"] == []
    heavy = server.post("/search", query="sort list order", weights={"graph": 9.0, names[0]: 0})
    assert heavy["hits"][0]["doc_id"] == "d5" and heavy["terms"][0] == {
        "term": "graph", "weight": 9.0, "kept": True, "own": False, "postings": 1,
    }  # fmt: skip
    assert "no term" in server.refused(422, "POST", "/search", json={"query": "sort", "weights": {"quxily": 1}})


def test_prunings_of_a_query(server):
    cut = server.post("/search", query="sort a list in order", qk=1)
    assert sum(term["kept"] for term in cut["terms"]) == 1 and len(cut["terms"]) > 1 and cut["qk"] == 1
    assert server.post("/search", query="sort a list", qk="m0.5")["qk"] == "m0.5"
    assert "/systems lists" in server.refused(422, "POST", "/search", json={"query": "sort", "dk": 7})


def test_conditions(server):
    def found(*where):
        return {hit["doc_id"] for hit in server.post("/search", query="list dates order graph", where=where)["hits"]}

    assert found() == {"d1", "d2", "d3", "d4", "d5"}
    assert found("year >= 2001") == {"d2", "d3", "d5"} and found("year >= 2001", "open = true") == {"d5"}
    assert "color" in server.refused(422, "POST", "/search", json={"query": "list", "where": ["color = 3"]})
    server.refused(422, "POST", "/search", json={"query": "list", "where": ["((("]})


def test_an_explanation_adds_up_and_names_its_words(server):
    query = "keep the order of a list"
    hit = server.post("/search", query=query)["hits"][0]
    why = server.post("/explain", query=query, doc_id=hit["doc_id"])
    assert why["score"] == hit["score"] and why["title"] == hit["title"]
    assert math.isclose(sum(one["share"] for one in why["contributions"]), 1)
    for one in why["contributions"]:
        assert one["own_query"]
        for side, text in (("query_words", why["query_text"]), ("document_words", why["text"])):
            assert one[side] and all(text[start:end].lower().startswith(one["term"][:3]) for start, end, _ in one[side])
    assert why["only_document"] and not set(why["only_document"]) & {one["term"] for one in why["contributions"]}
    off = server.post("/explain", query=query, doc_id=hit["doc_id"], without=[why["contributions"][0]["term"]])
    assert len(off["contributions"]) == len(why["contributions"]) - 1
    assert server.post("/explain", query="graph", doc_id="d1")["contributions"] == []
    assert "no document" in server.refused(404, "POST", "/explain", json={"query": "order", "doc_id": "d99"})


def test_what_a_document_weighs_most_comes_first_though_nobody_asked_for_it(server):
    only = server.post("/explain", query="list", doc_id="d2")["only_document"]
    weights = []
    for name in only:
        documents = server.get("/vocabulary/term", params={"term": name})["documents"]
        weights += [one["weight"] for one in documents if one["doc_id"] == "d2"]
    assert len(weights) == len(only) > 3 and weights == sorted(weights, reverse=True) and len(set(weights)) > 1


def test_the_most_results_that_one_may_ask_for(server, run):
    assert server.get("/systems")["most_results"] == 100
    assert InProcess([run], Limits(results=15)).get("/systems")["most_results"] == 15


def test_whether_anybody_scored_the_terms(server, run, tmp_path):
    assert server.get("/vocabulary")["scored"] is False
    write_scores(tmp_path / "scores", Retriever.open(run).vocabulary, n_scored=0)
    found = InProcess([run], wackiness=GivenWackiness([tmp_path / "scores"])).get("/vocabulary")
    assert found["scored"] is True and set(found) == set(VOCABULARY["properties"])


def test_texts_become_terms(server):
    found = server.post("/encode", texts=["sort sort list", ""])
    assert found["vectors"][0][0] == {"term": "sort", "weight": 2.0} and found["vectors"][1] == []
    assert "only among" in server.refused(422, "POST", "/encode", json={"texts": ["a"], "as": "document"})
    embedded = server.post("/embed_sparse", inputs="sort sort list")
    assert sorted(one["value"] for one in embedded[0]) == [1.0, 2.0]
    assert len(server.post("/embed_sparse", inputs=["list", "sort"], truncate=True, prompt_name="query")) == 2
    assert server.get("/info")["max_client_batch_size"] == 64


def test_the_vocabulary(server):
    every = server.get("/vocabulary")
    counts = [term["postings"] for term in every["terms"]]
    assert counts == sorted(counts, reverse=True) and every["n_terms"] == len(every["terms"]) and every["pages"] == 1
    some = server.get("/vocabulary", params={"starts": "d", "sort": "term", "size": 2, "page": 2})
    names = [term["term"] for term in every["terms"] if term["term"].startswith("d")]
    assert [term["term"] for term in some["terms"]] == sorted(names)[2:4] and some["n_terms"] == len(names)
    back = server.get("/vocabulary", params={"sort": "term", "descending": "true"})
    assert [term["term"] for term in back["terms"]] == sorted((term["term"] for term in every["terms"]), reverse=True)
    term = server.get("/vocabulary/term", params={"term": "order"})
    assert {one["doc_id"] for one in term["documents"]} == {"d1", "d2"} and term["postings"] == 2
    assert term["wackiness"] is None and "order" not in {one["term"] for one in term["neighbours"]}
    assert {"list", "item"} <= {one["term"] for one in term["neighbours"]}
    server.refused(404, "GET", "/vocabulary/term", params={"term": "quxily"})


def test_the_report(server, run):
    (found,) = server.get("/report")["runs"]
    assert found["name"] == "run" and found["rows"][0]["system"] == "bm25" and found["measure"] == "MRR@10"


def test_markup_is_a_text_like_any_other(server):
    found = server.post("/search", query=f"sorting {MARKUP}", where=[f"lang != '{MARKUP}'"])
    assert MARKUP in found["hits"][0]["title"] and found["query"] == f"sorting {MARKUP}"
    raw = server.ask("POST", "/search", json={"query": f"sorting {MARKUP}"})
    assert raw.headers["content-type"] == "application/json" and raw.headers["x-content-type-options"] == "nosniff"


def test_the_description_names_what_there_is(server):
    found = server.get("/openapi.json")
    body = found["paths"]["/search"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["properties"]["system"]["anyOf"][0]["enum"] == ["bm25"] and body["additionalProperties"] is False
    for path, methods in found["paths"].items():
        for method in methods:
            assert server.ask(method.upper(), path, json={} if method == "post" else None).status_code in (200, 422)


def test_counts_for_prometheus(server):
    server.get("/healthz")
    text = server.ask("GET", "/metrics").text
    assert 'lexigraft_requests_total{path="/healthz",status="200"}' in text
    assert 'lexigraft_documents{system="bm25"} 6.0' in text and "process_resident_memory_bytes" in text
    server.ask("GET", "/no/such/path")
    assert 'path="other",status="404"' in server.ask("GET", "/metrics").text


@pytest.mark.parametrize("query", ["", " ", "?!", "한국어 순서를", "𝔘𝔫𝔦 🙂", "a" * 2000, "the of and"])
def test_odd_queries_have_answers(server, query):
    assert server.post("/search", query=query)["query"] == query


def test_a_hit_names_its_passage():
    nothing = {"snippet": None, "metadata": {}, "matches": (), "kinds": ()}
    document = SimpleNamespace(doc_id="d1", passage="d1#2", title="", score=1.0, **nothing)
    assert _hit(document)["passage"] == "d1#2" and set(_hit(document)) == set(HIT["properties"])


def test_systems_that_are_gone_are_not_counted():
    metrics = Metrics()
    assert b'{system="a"}' in metrics.text(0, 0, {"a": 1, "b": 2})
    found = metrics.text(0, 0, {"b": 2})
    assert b'{system="a"}' not in found and b'{system="b"} 2.0' in found

"""Haystack: the page's programs, our ranking in its pipelines and in Qdrant, pipelines that are written down, filters,
and odd input."""

import asyncio
import copy
import pickle

import pytest

import lexigraft as lg
from lexigraft.core.config import load_settings
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.integrations.indexing import index_records
from tests.frameworks import ASKED, MADE, ODD, run_programs, small_run

pytest.importorskip("haystack_integrations.document_stores.qdrant")
pytestmark = pytest.mark.integration

from haystack import Document, Pipeline  # noqa: E402
from haystack.core.errors import DeserializationError, PipelineRuntimeError  # noqa: E402
from haystack.document_stores.in_memory import InMemoryDocumentStore  # noqa: E402
from haystack.errors import FilterError  # noqa: E402
from haystack_integrations.components.retrievers.qdrant import QdrantSparseEmbeddingRetriever  # noqa: E402
from haystack_integrations.document_stores.qdrant import QdrantDocumentStore  # noqa: E402

from lexigraft.integrations.haystack import (  # noqa: E402
    LexigraftDocumentEmbedder,
    LexigraftRetriever,
    LexigraftTextEmbedder,
)

RECORDS = [
    {"docno": "a", "title": "Kur", "text": "kur mel", "year": 2020, "lang": "de", "draft": True},
    {"docno": "b", "text": "kur kur", "year": 2021, "lang": "en"},
    {"docno": "c", "text": "kur", "lang": 'a "b" \\'},
]


@pytest.fixture(autouse=True)
def no_telemetry(monkeypatch):
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return str(index_records(RECORDS, tmp_path_factory.mktemp("haystack") / "index"))


def plain(documents):
    return [(one.id, one.content, one.score) for one in documents]


def expected(query, k, **named):
    found = lg.Retriever.open(small_run(), **named).answer(query, k).hits
    return [(hit.doc_id, hit.text, hit.score) for hit in found]


def test_the_programs_of_the_page(tmp_path, monkeypatch):
    names = run_programs("Haystack", tmp_path, monkeypatch)
    found = lg.Retriever.open(small_run()).answer(names["question"], 3).hits
    assert all(hit.text in names["asked"]["prompt"]["prompt"] for hit in found)
    assert len(names["found"]) == 2 and names["found"][0].score >= names["found"][1].score


@pytest.mark.parametrize("system", ["bm25", "esplade"])
def test_documents_are_those_of_our_ranking(system):
    pipeline = Pipeline()
    pipeline.add_component("retriever", LexigraftRetriever(str(small_run()), top_k=5, system=system))
    read = Pipeline.loads(pipeline.dumps(), allowed_modules=["lexigraft"])
    for query in (*(one.text for one in ASKED[:8]), *ODD):
        for one in (pipeline, read):
            assert plain(one.run({"retriever": {"query": query}})["retriever"]["documents"]) == expected(
                query, 5, system=system
            )
    asked = pipeline.run_async({"retriever": {"query": ASKED[0].text, "top_k": 2}})
    assert plain(asyncio.run(asked)["retriever"]["documents"]) == expected(ASKED[0].text, 2, system=system)
    with pytest.raises(DeserializationError, match="allowlist"):
        Pipeline.loads(pipeline.dumps())


def test_what_is_written_down_is_all_there_is(index):
    for made in (
        LexigraftRetriever(
            index, 3, {"field": "year", "operator": ">", "value": 2}, ["year > 1"], None, 2, None, 0.5, False
        ),
        LexigraftTextEmbedder("m", qk=0.5),
        LexigraftDocumentEmbedder("m", 40, 8, False, ["title"], " "),
    ):
        data = made.to_dict()
        assert data["type"] == f"lexigraft.integrations.haystack.{type(made).__name__}"
        again = type(made).from_dict(data)
        assert again.to_dict() == data
        assert all(getattr(again, name) == value for name, value in data["init_parameters"].items())


def test_the_secret_of_an_address_is_not_written_down():
    address = "postgresql://me:hush@host/db/papers?sslmode=require"
    retriever, pipeline = LexigraftRetriever(address), Pipeline()
    pipeline.add_component("retriever", retriever)
    for written in (repr(retriever.to_dict()), pipeline.dumps(), repr(pipeline), repr(retriever)):
        assert "hush" not in written
    read = Pipeline.loads(pipeline.dumps(), allowed_modules=["lexigraft"]).get_component("retriever")
    assert read.path == "postgresql://me@host/db/papers?sslmode=require" and retriever.path == address


def test_copies_and_other_processes(index):
    retriever = LexigraftRetriever(str(small_run()), system="bm25", top_k=3)
    retriever.warm_up()
    wanted = expected(ASKED[0].text, 3, system="bm25")
    for one in (pickle.loads(pickle.dumps(retriever)), copy.copy(retriever), copy.deepcopy(retriever)):
        assert plain(one.run(ASKED[0].text)["documents"]) == wanted
    retriever.path, retriever.system = index, None
    assert {one.id for one in retriever.run("kur")["documents"]} == {"a", "b", "c"}


FILTERS = [
    ({"field": "meta.year", "operator": ">=", "value": 2021}, "b"),
    ({"field": "meta.year", "operator": "!=", "value": 2020}, "bc"),
    ({"field": "meta.lang", "operator": "in", "value": ["de", "en"]}, "ab"),
    ({"field": "meta.lang", "operator": "not in", "value": ["de"]}, "bc"),
    ({"field": "meta.lang", "operator": "==", "value": 'a "b" \\'}, "c"),
    ({"field": "meta.year", "operator": "==", "value": None}, "c"),
    ({"field": "meta.year", "operator": "!=", "value": None}, "ab"),
    ({"field": "meta.draft", "operator": "in", "value": [None]}, "bc"),
    ({"field": "meta.year", "operator": "in", "value": []}, ""),
    ({"field": "meta.year", "operator": "not in", "value": []}, "abc"),
    ({"operator": "OR", "conditions": [
        {"field": "meta.year", "operator": "<", "value": 2021}, {"field": "meta.lang", "operator": "==", "value": "en"},
    ]}, "ab"),
    ({"operator": "NOT", "conditions": [
        {"field": "meta.year", "operator": "==", "value": 2020}, {"field": "lang", "operator": "==", "value": "de"},
    ]}, "bc"),
]  # fmt: skip


@pytest.mark.parametrize(("filters", "found"), FILTERS)
def test_filters_find_what_haystack_finds(filters, found, index):
    store = InMemoryDocumentStore()
    meta = [{key: value for key, value in one.items() if key not in ("docno", "text")} for one in RECORDS]
    store.write_documents(
        [Document(id=one["docno"], content=one["text"], meta=of) for one, of in zip(RECORDS, meta, strict=True)]
    )
    assert {one.id for one in store.filter_documents(filters)} == set(found)
    for documents in (
        LexigraftRetriever(index).run("kur", filters=filters)["documents"],
        LexigraftRetriever(index, filters=filters).run("kur")["documents"],
    ):
        assert {one.id for one in documents} == set(found)


def test_meta_and_conditions_that_always_hold(index):
    retriever = LexigraftRetriever(
        index, where="year > 2000", filters={"field": "lang", "operator": "==", "value": "de"}
    )
    (found,) = retriever.run("kur")["documents"]
    assert found.meta == {"title": "Kur", "year": 2020, "lang": "de", "draft": "true"} and found.score > 0
    assert [one.id for one in retriever.run("kur", filters=FILTERS[1][0])["documents"]] == ["b"]


def test_qdrant_ranks_as_we_do():
    """Its weights are of 32 bits and those of the index of 16, so that scores agree to four digits."""
    writing, asking = Pipeline(), Pipeline()
    store = QdrantDocumentStore(":memory:", use_sparse_embeddings=True, recreate_index=True)
    embedder = LexigraftDocumentEmbedder(str(small_run()), progress_bar=False, batch_size=7)
    written = embedder.run([Document(content=one.text, meta={"name": one.doc_id}) for one in MADE])["documents"]
    store.write_documents(written)
    writing.add_component("embedder", embedder)
    asking.add_component("embedder", LexigraftTextEmbedder(str(small_run())))
    asking.add_component("retriever", QdrantSparseEmbeddingRetriever(store, top_k=10))
    asking.connect("embedder.sparse_embedding", "retriever.query_sparse_embedding")
    encoder, retriever = lg.SparseEncoder.open(small_run()), lg.Retriever.open(small_run())
    weights = encoder.encode_documents([one.text for one in MADE])
    for query in ASKED:
        exact = (weights @ encoder.encode_queries([query.text]).T).toarray()[:, 0]
        found = asking.run({"embedder": {"text": query.text}})["retriever"]["documents"]
        best = sorted((score for score in exact.tolist() if score), reverse=True)[:10]
        assert [one.score for one in found] == pytest.approx(best, rel=1e-5)
        ours = {hit.doc_id: hit.score for hit in retriever.search(query.text, k=100)}
        assert all(one.score == pytest.approx(ours[one.meta["name"]], rel=1e-3) for one in found)


def test_embeddings_of_documents():
    run = str(small_run())
    plain_one, titled = (
        LexigraftDocumentEmbedder(run, progress_bar=False),
        LexigraftDocumentEmbedder(run, progress_bar=False, meta_fields_to_embed=["title", "absent"]),
    )
    document = Document(content="kur mel", meta={"title": "vip"})
    (without,), (with_title,) = (one.run([document])["documents"] for one in (plain_one, titled))
    (joined,) = plain_one.run([Document(content="vip kur mel")])["documents"]
    assert with_title.sparse_embedding == joined.sparse_embedding != without.sparse_embedding
    assert document.sparse_embedding is None and without.id == document.id
    assert plain_one.run([])["documents"] == []
    rows = plain_one.run([Document(content=text) for text in ("", None, *ODD[:4])])["documents"]
    assert rows[0].sparse_embedding.indices == [] == rows[1].sparse_embedding.indices
    few = LexigraftDocumentEmbedder(run, dk=2, progress_bar=False).run([document])["documents"]
    assert len(few[0].sparse_embedding.indices) == 2


def test_progress_is_shown_unless_not_wanted(capfd):
    for shown in (True, False):
        LexigraftDocumentEmbedder(str(small_run()), progress_bar=shown).run([Document(content="kur")])
        said = capfd.readouterr()
        assert not said.out and ("encoding" in said.err) is shown


def test_wrong_arguments_are_one_line(index, tmp_path):
    run = str(small_run())
    text, documents = LexigraftTextEmbedder(run), LexigraftDocumentEmbedder(run)
    for make, kind, said in (
        (lambda: LexigraftRetriever(index, top_k=0), SettingError, "top_k = 0 is not allowed"),
        (lambda: LexigraftRetriever(index).run("kur", top_k=-1), SettingError, "top_k = -1 is not allowed"),
        (lambda: LexigraftRetriever(index).run(None), TypeError, "expects a string as query, not None"),
        (lambda: LexigraftRetriever(index).run("kur", filters={"year": 1}), FilterError, "is no filter"),
        (lambda: LexigraftRetriever(index, filters=["year"]), FilterError, "is no filter"),
        (
            lambda: LexigraftRetriever(index).run("kur", filters=FILTERS[0][0] | {"field": "x"}),
            FilterError,
            "no key 'x'",
        ),
        (
            lambda: LexigraftRetriever(index).run("kur", filters=FILTERS[0][0] | {"value": "soon"}),
            FilterError,
            "'soon' is none",
        ),
        (lambda: LexigraftRetriever(index, where="x = 1").run("kur"), FilterError, "no key 'x'"),
        (lambda: LexigraftRetriever(str(tmp_path / "none")).run("kur"), ArtifactError, "there is no run at"),
        (lambda: LexigraftRetriever(str(tmp_path)).warm_up(), ArtifactError, "holds nothing"),
        (lambda: LexigraftTextEmbedder(index).warm_up(), ArtifactError, "index"),
        (lambda: LexigraftTextEmbedder("nowhere").run("kur"), ArtifactError, "neither a model nor a run with one"),
        (lambda: LexigraftTextEmbedder(run, qk=-1), SettingError, "qk = -1"),
        (lambda: text.run(["kur"]), TypeError, "expects a string"),
        (lambda: documents.run("kur"), TypeError, "expects a list of Documents"),
        (lambda: documents.run(["kur"]), TypeError, "expects a list of Documents"),
        (lambda: LexigraftDocumentEmbedder(run, batch_size=0), SettingError, "batch_size = 0"),
    ):
        with pytest.raises(kind, match=said) as raised:
            make()
        assert "\n" not in str(raised.value)
    given = str(index_records([{"docno": "a", "toks": {"kur": 1}}], tmp_path / "given"))
    settings = load_settings(values={"index.texts": "no"})
    titled = [{"docno": "a", "title": "Kur", "text": "kur"}]
    silent = str(index_records(titled, tmp_path / "silent", settings=settings))
    with pytest.raises(ArtifactError, match=r"keeps no texts; .*texts=False"):
        LexigraftRetriever(silent).warm_up()
    with pytest.raises(InputError, match="vectors that were given"):
        LexigraftRetriever(given, texts=False).run("kur")
    (shown,) = LexigraftRetriever(silent, texts=False).run("kur")["documents"]
    assert shown.content == "Kur"
    pipeline = Pipeline()
    pipeline.add_component("retriever", LexigraftRetriever(str(tmp_path / "none")))
    with pytest.raises((PipelineRuntimeError, ArtifactError), match="there is no run at"):
        pipeline.run({"retriever": {"query": "kur"}})

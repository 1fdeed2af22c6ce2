"""LangChain: the page's programs, our ranking in its retriever and in Qdrant, and odd input."""

import asyncio
import copy
import pickle
import subprocess
import sys
import uuid

import pytest

import lexigraft as lg
from lexigraft.core.config import load_settings
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.integrations.indexing import index_records
from tests.frameworks import ASKED, MADE, ODD, run_programs, small_run

pytest.importorskip("langchain_qdrant")
pytestmark = pytest.mark.integration

from langchain_core.documents import Document  # noqa: E402
from langchain_core.load import dumps  # noqa: E402
from langchain_qdrant import QdrantVectorStore, RetrievalMode  # noqa: E402
from pydantic import ValidationError  # noqa: E402

from lexigraft.integrations.langchain import LexigraftRetriever  # noqa: E402
from lexigraft.integrations.langchain_qdrant import LexigraftSparseEmbeddings  # noqa: E402

WITHOUT_TORCH = """
import sys
from lexigraft.integrations.langchain import LexigraftRetriever
from lexigraft.integrations.langchain_qdrant import LexigraftSparseEmbeddings
assert len(LexigraftRetriever(path=sys.argv[1]).invoke("kur mel")) == 4
assert LexigraftSparseEmbeddings(sys.argv[1]).embed_query("kur mel").indices
print([name for name in ("torch", "transformers") if name in sys.modules])
"""


def plain(documents):
    return [(one.id, one.page_content, one.metadata["score"], one.metadata["rank"]) for one in documents]


def expected(query, k, **named):
    found = lg.Retriever.open(small_run(), **named).answer(query, k).hits
    return [(hit.doc_id, hit.text, hit.score, hit.rank) for hit in found]


def test_the_programs_of_the_page(tmp_path, monkeypatch):
    names = run_programs("LangChain", tmp_path, monkeypatch)
    found = lg.Retriever.open(small_run()).answer("How do I sort a list?", 3).hits
    assert names["asked"].to_string().endswith("\n".join(hit.text for hit in found) + "\n\nHow do I sort a list?")
    assert [one.id for one in names["best"]] == [found[0].doc_id]
    assert len(names["found"]) == 2


@pytest.mark.parametrize("system", ["bm25", "esplade"])
def test_documents_are_those_of_our_ranking(system):
    retriever = LexigraftRetriever(path=str(small_run()), system=system, k=5)
    queries = [one.text for one in ASKED[:8]]
    wanted = [expected(query, 5, system=system) for query in queries]
    assert [plain(retriever.invoke(query)) for query in queries] == wanted
    assert list(map(plain, retriever.batch(queries))) == wanted
    assert list(map(plain, asyncio.run(retriever.abatch(queries)))) == wanted
    assert (
        plain(asyncio.run(retriever.ainvoke(queries[0], k=2)))
        == wanted[0][:2]
        == plain(retriever.invoke(queries[0], k=2))
    )
    assert all(isinstance(one, Document) for one in retriever.invoke(queries[0]))


def test_metadata_and_conditions(tmp_path):
    records = [
        {"docno": "a", "title": "Kur", "text": "kur mel", "year": 2020, "tags": ["x", "y"], "score": "own"},
        {"docno": "b", "text": "kur kur", "year": 2021},
    ]
    retriever = LexigraftRetriever(path=index_records(records, tmp_path / "index"), where="year >= 2020")
    first = next(one for one in retriever.invoke("kur") if one.id == "a")
    assert {**first.metadata, "score": 0, "rank": 0} == {
        "title": "Kur", "year": 2020, "tags": ["x", "y"], "score": 0, "rank": 0,
    }  # fmt: skip
    assert isinstance(first.metadata["score"], float)
    assert [one.id for one in retriever.invoke("kur", where="year > 2020")] == ["b"]
    assert [one.id for one in asyncio.run(retriever.ainvoke("kur", where=["year = 2020", 'tags has "x"']))] == ["a"]


def test_copies_and_other_processes(tmp_path):
    retriever = LexigraftRetriever(path=small_run(), system="bm25", k=3)
    wanted = expected(ASKED[0].text, 3, system="bm25")
    copies = [pickle.loads(pickle.dumps(retriever)), copy.copy(retriever), copy.deepcopy(retriever)]
    copies += [retriever.model_copy(), retriever.model_copy(deep=True)]
    for one in copies:
        assert one == retriever or one.path == retriever.path
        assert plain(one.invoke(ASKED[0].text)) == wanted
    other = retriever.model_copy(update={"system": "esplade"})
    assert plain(other.invoke(ASKED[0].text)) == expected(ASKED[0].text, 3, system="esplade") != wanted
    path = index_records([{"docno": "other", "text": ASKED[0].text}], tmp_path / "index")
    moved = retriever.model_copy(update={"path": path, "system": None})
    assert [one.id for one in moved.invoke(ASKED[0].text)] == ["other"]
    assert plain(retriever.invoke(ASKED[0].text)) == wanted


def test_the_secret_of_an_address_is_not_shown():
    address = "postgresql://me:hush@host/db/papers?sslmode=require"
    retriever = LexigraftRetriever(path=small_run()).model_copy(update={"path": address})
    for shown in (repr(retriever), str(retriever), dumps(retriever), dumps({"asked": retriever | print})):
        assert "me@host/db/papers" in shown and "hush" not in shown
    written = retriever.model_dump()
    assert written["path"] == "postgresql://me@host/db/papers?sslmode=require" and retriever.path == address
    with pytest.raises(ValidationError, match="leave out dk") as raised:
        LexigraftRetriever(path=address, dk=3)
    assert "hush" not in str(raised.value)


def test_a_retriever_that_is_open():
    with lg.Retriever.from_texts(["the cat sat", "a dog"]) as opened:
        retriever = LexigraftRetriever(path=opened)
        for one in (retriever, copy.copy(retriever), copy.deepcopy(retriever)):
            assert [one.page_content for one in one.invoke("cats")] == ["the cat sat"]
        assert opened.name in repr(retriever)
        with pytest.raises(SettingError, match="is open in this process; give its path"):
            pickle.dumps(retriever)
        with pytest.raises(ValidationError, match="is open already; leave out system, qk and dk"):
            LexigraftRetriever(path=opened, qk=3)


def test_qdrant_ranks_as_we_do():
    """Its weights are of 32 bits and those of the index of 16, so that scores agree to four digits."""
    texts, ids = [one.text for one in MADE], [str(uuid.uuid4()) for _ in MADE]
    names = [{"name": one.doc_id} for one in MADE]
    model = LexigraftSparseEmbeddings(small_run())
    store = QdrantVectorStore.from_texts(
        texts, metadatas=names, ids=ids, sparse_embedding=model, retrieval_mode=RetrievalMode.SPARSE,
        location=":memory:", collection_name="made",
    )  # fmt: skip
    encoder, retriever = lg.SparseEncoder.open(small_run()), lg.Retriever.open(small_run())
    weights = encoder.encode_documents(texts)
    for query in ASKED:
        scores = (weights @ encoder.encode_queries([query.text]).T).toarray()[:, 0]
        exact = {one.doc_id: score for one, score in zip(MADE, scores, strict=True) if score}
        found = [(one.metadata["name"], score) for one, score in store.similarity_search_with_score(query.text, k=10)]
        assert [score for _, score in found] == pytest.approx(sorted(exact.values(), reverse=True)[:10], rel=1e-5)
        assert dict(found) == pytest.approx({name: exact[name] for name, _ in found}, rel=1e-5)
        ours = {hit.doc_id: hit.score for hit in retriever.search(query.text, k=100)}
        assert all(score == pytest.approx(ours[name], rel=1e-3) for name, score in found)
    few = LexigraftSparseEmbeddings(small_run(), qk=2, dk=3)
    assert len(few.embed_query("kur mel").indices) == 2
    assert {len(row.indices) for row in few.embed_documents(texts)} == {3}


def test_embeddings_of_odd_texts():
    model = LexigraftSparseEmbeddings(small_run(), batch_size=2)
    assert model.embed_documents([]) == []
    rows = model.embed_documents(list(ODD))
    assert len(rows) == len(ODD) and rows[0].indices == [] == model.embed_query("").indices
    assert asyncio.run(model.aembed_documents(list(ODD))) == rows
    for row in rows:
        assert len(set(row.indices)) == len(row.values) and all(value > 0 for value in row.values)
    for wrong in (None, 3, b"kur"):
        with pytest.raises(InputError, match="give a string"):
            model.embed_query(wrong)
    with pytest.raises(InputError, match="give a list of texts"):
        model.embed_documents("kur")
    with pytest.raises(ArtifactError, match="neither a model nor a run with one"):
        LexigraftSparseEmbeddings("nowhere")


def test_no_torch():
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, small_run()], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_odd_queries_and_arguments(tmp_path):
    retriever = LexigraftRetriever(path=small_run(), system="bm25")
    for query in ODD:
        assert plain(retriever.invoke(query)) == expected(query, 4, system="bm25")
    given = index_records([{"docno": "a", "toks": {"kur": 1}}], tmp_path / "given")
    settings = load_settings(values={"index.texts": "no"})
    silent = index_records([{"docno": "a", "title": "Kur", "text": "kur"}], tmp_path / "silent", settings=settings)
    (shown,) = LexigraftRetriever(path=silent, texts=False).invoke("kur")
    assert shown.page_content == "Kur"
    for make, kind, said in (
        (lambda: LexigraftRetriever(path=tmp_path / "none"), ArtifactError, "there is no run at"),
        (lambda: LexigraftRetriever(path=tmp_path), ArtifactError, "holds given"),
        (lambda: LexigraftRetriever(path=silent), ArtifactError, "keeps no texts; .*texts=False"),
        (lambda: LexigraftRetriever(path=small_run(), system="none"), ArtifactError, "has no system 'none'"),
        (lambda: retriever.invoke(None), InputError, "the query is None"),
        (lambda: retriever.invoke("kur", k=0), SettingError, "k = 0 is not allowed"),
        (lambda: retriever.invoke("kur", where="year > 3"), ArtifactError, "there are no metadata"),
        (lambda: LexigraftRetriever(path=given, texts=False), ValidationError, "vectors that were given"),
    ):
        with pytest.raises(kind, match=said) as raised:
            make()
        assert kind is ValidationError or "\n" not in str(raised.value)  # pydantic's own has lines
    for named in ({"k": 0}, {"k": "many"}, {"colour": 1}, {"path": 7}, {"path": given}):
        with pytest.raises(ValidationError):
            LexigraftRetriever(**{"path": small_run(), **named})

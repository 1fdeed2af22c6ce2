"""PyTerrier: the page's programs, and what pipelines, inspections and odd frames make of our transformers."""

import pickle
import subprocess
import sys

import pytest

import lexigraft as lg
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from tests.frameworks import ASKED, ODD, run_programs, small_run

pytest.importorskip("pyterrier")
pytestmark = pytest.mark.integration

import pandas as pd  # noqa: E402
import pyterrier as pt  # noqa: E402

from lexigraft.integrations.pyterrier import (  # noqa: E402
    LexigraftDocumentEncoder,
    LexigraftIndexer,
    LexigraftQueryEncoder,
    LexigraftRetriever,
)

QUERIES = pd.DataFrame([[one.query_id, one.text] for one in ASKED], columns=["qid", "query"])
RECORDS = [
    {"docno": "d1", "text": "kur mel tos", "year": 2020, "score": 7, "query": "own"},
    {"docno": "d2", "text": "kur kura of vip", "year": 2021},
]
WITHOUT_JAVA = """
import sys
import pyterrier as pt
from lexigraft.integrations.pyterrier import LexigraftQueryEncoder, LexigraftRetriever
assert len(LexigraftRetriever(sys.argv[1], k=3).search("kur mel")) == 3
assert LexigraftQueryEncoder(sys.argv[1]).search("kur mel").query_toks[0]
print([name for name in ("jnius", "torch", "transformers") if name in sys.modules], pt.java.started())
"""


def ranked(frame):
    return [(row.qid, row.docno, row.score, row.rank) for row in frame.itertuples()]


def expected(queries, k=10, **named):
    retriever = lg.Retriever.open(small_run(), **named)
    found = retriever.search_many(queries["query"].tolist(), k)
    return [
        (qid, hit.doc_id, hit.score, hit.rank - 1)
        for qid, hits in zip(queries["qid"], found, strict=True)
        for hit in hits
    ]


def test_the_programs_of_the_page(tmp_path, monkeypatch):
    names = run_programs("PyTerrier", tmp_path, monkeypatch)
    assert names["table"]["name"].tolist() == ["bm25", "model", "both"] and names["table"]["nDCG@10"][0] == 1
    ours = lg.Retriever.open("indexes/model").search("sorting lists")
    assert [hit.doc_id for hit in ours] == names["model"].search("sorting lists")["docno"].tolist()
    encoder = lg.SparseEncoder.open("runs/quickstart")
    texts = [one["text"] for one in names["documents"]]
    weights = (encoder.encode_documents(texts) * 100).rint() @ (
        encoder.encode_queries(["sorting lists"]) * 100
    ).rint().T
    assert sorted(names["found"]["score"]) == sorted(weights.toarray()[:, 0].tolist())


@pytest.mark.parametrize("system", ["bm25", "esplade"])
def test_rankings_are_ours(system):
    found = LexigraftRetriever(small_run(), k=10, system=system)(QUERIES)
    assert list(found.columns) == ["qid", "query", "docno", "score", "rank"]
    assert ranked(found) == expected(QUERIES, system=system)
    assert found.dtypes["rank"] == "int64" and found.dtypes["score"] == "float64"


def test_pipelines():
    bm25, model = (LexigraftRetriever(small_run(), k=20, system=system) for system in ("bm25", "esplade"))
    cut = bm25 % 3
    assert ranked(cut(QUERIES)) == expected(QUERIES, 3, system="bm25") == ranked(cut.compile()(QUERIES))
    assert cut.compile().k == 3 and bm25.k == 20 and (bm25 % 30).compile()(QUERIES).equals(bm25(QUERIES))
    both = (bm25 + 2 * model).search("kur mela")
    one, other = (lg.Retriever.open(small_run(), system).search("kur mela", k=20) for system in ("bm25", "esplade"))
    sums = {hit.doc_id: hit.score for hit in one}
    for hit in other:
        sums[hit.doc_id] = sums.get(hit.doc_id, 0) + 2 * hit.score
    assert dict(zip(both["docno"], both["score"], strict=True)) == pytest.approx(sums)
    assert pickle.loads(pickle.dumps(bm25))(QUERIES).equals(bm25(QUERIES))
    assert hash(bm25) == hash(pickle.loads(pickle.dumps(bm25))) != hash(model)
    model.set_parameter("qk", 1)
    assert ranked(model(QUERIES)) == expected(QUERIES, 20, qk=1)
    table = pt.Experiment(
        [bm25, model], QUERIES, pd.DataFrame({"qid": ["a00"], "docno": ["m00"], "label": [1]}), [pt.measures.AP]
    )
    assert len(table) == 2


def test_what_it_takes_and_gives_can_be_inspected():
    retriever = LexigraftRetriever(small_run(), fields=["text", "title"])
    outputs = ["qid", "query", "docno", "score", "rank", "text", "title"]
    assert pt.inspect.transformer_outputs(retriever, ["qid", "query"]) == outputs
    assert pt.inspect.transformer_inputs(retriever) == [["qid", "query_toks"], ["qid", "query"]]
    encoder = LexigraftQueryEncoder(small_run())
    assert pt.inspect.transformer_outputs(encoder >> retriever, ["qid", "query"])[2] == "query_toks"
    assert pt.inspect.indexer_inputs(LexigraftIndexer("nowhere")) == [["docno", "text"], ["docno", "toks"]]


def test_columns_of_queries_are_kept_and_those_of_documents_added(tmp_path):
    path = LexigraftIndexer(tmp_path / "index").index(RECORDS)
    queries = pd.DataFrame(
        {"qid": ["b", "a", "b"], "query": ["vip", "kur", ""], "by": ["x", "y", "z"]}, index=[5, 5, 1]
    )
    retriever = LexigraftRetriever(path, fields=["year", "text"], where="year >= 2000")
    found = retriever(queries)
    assert list(found.index) == [0, 1, 2] and found["by"].tolist() == ["x", "y", "y"]
    assert sorted(zip(found["docno"], found["year"], found["text"], strict=True))[1:] == [
        ("d2", 2021, "kur kura of vip"), ("d2", 2021, "kur kura of vip"),
    ]  # fmt: skip
    assert list(LexigraftRetriever(path, where="year < 2021").search("kur")["docno"]) == ["d1"]
    assert LexigraftRetriever(path, fields="year").search("vip")["year"].tolist() == [2021]


def test_vectors_of_queries_and_documents(tmp_path):
    """An index of the toks that our encoder wrote ranks as one that the model made, but for what bits round."""
    encoder = LexigraftDocumentEncoder(small_run())
    (encoder >> LexigraftIndexer(tmp_path / "toks")).index(RECORDS)
    LexigraftIndexer(tmp_path / "model", model=small_run()).index(RECORDS)
    queries = LexigraftQueryEncoder(small_run(), keep=3)
    by_toks = (queries >> LexigraftRetriever(tmp_path / "toks", fields=["year"]))(QUERIES)
    by_text = LexigraftRetriever(tmp_path / "model", qk=3)(QUERIES)
    assert by_toks["qid"].tolist() == by_text["qid"].tolist() and set(by_toks["year"]) == {2020, 2021}
    scores = [
        dict(zip(zip(one["qid"], one["docno"], strict=True), one["score"], strict=True)) for one in (by_toks, by_text)
    ]
    assert scores[0] == pytest.approx(scores[1], rel=1e-3)
    assert all(0 < len(toks) <= 3 for toks in queries(QUERIES)["query_toks"])
    whole = LexigraftQueryEncoder(small_run(), scale=100)(QUERIES)["query_toks"]
    assert all(isinstance(weight, int) and weight > 0 for toks in whole for weight in toks.values())


def test_no_java_and_no_torch():
    done = subprocess.run([sys.executable, "-c", WITHOUT_JAVA, small_run()], capture_output=True, text=True)
    assert done.stdout.split("\n")[0] == "[] False", done.stderr


def test_progress_is_shown_when_asked_for(capfd, tmp_path):
    LexigraftIndexer(tmp_path / "index", verbose=True).index(RECORDS)
    LexigraftRetriever(tmp_path / "index", verbose=True)(QUERIES)
    LexigraftQueryEncoder(small_run(), verbose=True)(QUERIES)
    shown = capfd.readouterr()
    assert (
        not shown.out and "reading documents" in shown.err and "LexigraftRetriever" in shown.err and "1/1" in shown.err
    )


def test_the_secret_of_an_address_is_not_shown(tmp_path):
    retriever = LexigraftRetriever(LexigraftIndexer(tmp_path / "index").index(RECORDS))
    assert str(tmp_path / "index") in repr(retriever)
    retriever.set_parameter("path", "postgresql://me:hush@host/db/papers")
    for shown in (repr(retriever), str(retriever), repr(retriever % 10)):
        assert "me@host/db/papers" in shown and "hush" not in shown


@pytest.mark.parametrize("system", ["bm25", "esplade"])
def test_odd_queries(system):
    retriever = LexigraftRetriever(small_run(), k=5, system=system)
    texts = [text for text in ODD if text.isprintable() or text.isascii()]  # pandas holds no lone surrogates
    queries = pd.DataFrame({"qid": [str(place) for place in range(len(texts))], "query": texts})
    found = retriever(queries)
    assert ranked(found) == expected(queries, 5, system=system) and "0" not in set(found["qid"])
    for empty in (queries[:0], queries[:1]):
        assert list(retriever(empty).columns) == ["qid", "query", "docno", "score", "rank"] and not len(
            retriever(empty)
        )
    encoded = LexigraftQueryEncoder(small_run())(queries)
    assert encoded["query_toks"][0] == {} and len(LexigraftQueryEncoder(small_run())(queries[:0])) == 0


def wrong_frames():
    yield pd.DataFrame({"qid": ["1"], "text": ["kur"]}), pt.validate.InputValidationError, "does not match required"
    yield pd.DataFrame({"query": ["kur"]}), pt.validate.InputValidationError, "does not match required"
    given = pd.DataFrame({"qid": ["1"], "query": ["kur"], "docno": ["d"]})
    yield given, pt.validate.InputValidationError, "does not match required"
    yield pd.DataFrame({"qid": ["1"], "query": [None]}), InputError, "query '1' is None|query '1' is nan"
    yield pd.DataFrame({"qid": ["1"], "query": [3]}), InputError, "query '1' is 3"
    yield pd.DataFrame({"qid": ["1"], "query_toks": ["kur"]}), InputError, "has 'kur' as query_toks"
    yield pd.DataFrame({"qid": ["1"], "query_toks": [{"kur": -1.0}]}), InputError, "term 'kur' of a query weighs -1.0"


@pytest.mark.parametrize(("frame", "kind", "said"), list(wrong_frames()))
def test_wrong_frames_are_one_line(frame, kind, said):
    with pytest.raises(kind, match=said) as raised:
        LexigraftRetriever(small_run())(frame)
    assert "\n" not in str(raised.value)


def test_wrong_arguments_are_one_line(tmp_path):
    index = LexigraftIndexer(tmp_path / "index").index(RECORDS)
    for make, kind, said in (
        (lambda: LexigraftRetriever(tmp_path / "none"), ArtifactError, "there is no run at"),
        (lambda: LexigraftRetriever(tmp_path), ArtifactError, "holds index"),
        (lambda: LexigraftRetriever(index, k=0), SettingError, "k = 0 is not allowed"),
        (lambda: LexigraftRetriever(index, k=2.5), SettingError, r"k = 2\.5 is not allowed"),
        (lambda: LexigraftRetriever(index, fields=["colour"]), InputError, "has no field 'colour'"),
        (lambda: LexigraftRetriever(index, fields=["text", "score"]), InputError, "'score' is a column of PyTerrier's"),
        (lambda: LexigraftRetriever(index, fields="query"), InputError, "'query' is a column of PyTerrier's own"),
        (lambda: LexigraftRetriever(index, where="colour = red").search("kur"), SettingError, "no key 'colour'"),
        (lambda: LexigraftRetriever(small_run(), system="none"), ArtifactError, "has no system 'none'"),
        (lambda: LexigraftQueryEncoder(index), ArtifactError, "index"),
        (lambda: LexigraftQueryEncoder(small_run(), scale=-1), SettingError, "scale = -1"),
        (lambda: LexigraftQueryEncoder(small_run())(pd.DataFrame({"query": [None]})), InputError, "text 0 is"),
        (lambda: LexigraftQueryEncoder(small_run())(QUERIES[["qid"]]), pt.validate.InputValidationError, "'query'"),
        (lambda: LexigraftDocumentEncoder(small_run())(QUERIES), pt.validate.InputValidationError, "'text'"),
        (lambda: LexigraftIndexer(index).index(RECORDS), ArtifactError, "is there already"),
        (lambda: LexigraftIndexer(tmp_path / "x", set={"lexical.k9": 1}), SettingError, "k9"),
        (lambda: LexigraftIndexer(tmp_path / "x", model=tmp_path).index(RECORDS), ArtifactError, "neither a model"),
    ):
        with pytest.raises(kind, match=said) as raised:
            make()
        assert "\n" not in str(raised.value)
    assert LexigraftIndexer(index, overwrite=True).index(RECORDS[:1]) == index
    assert len(LexigraftRetriever(index).search("kur")) == 1

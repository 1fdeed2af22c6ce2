"""Streams of documents to indexes: by BM25, and with the vectors that they bring."""

import json
import math
from datetime import date

import numpy as np
import pytest

from lexigraft.core.config import load_settings
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.integrations.found import (
    documents_of_rows,
    hits_of_rows,
    require_encoder,
    require_fields,
    row_of,
    value_of,
)
from lexigraft.integrations.indexing import index_records, is_missing
from lexigraft.retrieve.finding import Asked
from lexigraft.retrieve.retriever import Retriever
from lexigraft.search.overlap import TERMS

RECORDS = [
    {"docno": "d1", "text": "the cat sat on the mat", "year": 2020, "url": "x", "seen": date(2024, 3, 1)},
    {
        "docno": "d2",
        "title": "Dogs",
        "text": "a dog and a cat",
        "year": np.int64(2021),
        "url": math.nan,
        "seen": np.float32("nan"),
    },
    {"docno": "d3", "title": None, "text": "", "tags": ["a", "b"]},
]
TOKS = [
    {"docno": "d1", "toks": {"cat": 200, "mat": 3}, "text": "cats", "year": 2020},
    {"docno": "d2", "toks": {"dog": 5, "cat": 7, "none": 0}},
    {"docno": "d3", "toks": {}},
]


def ids(hits):
    return [hit.doc_id for hit in hits]


def test_an_index_of_texts_is_that_of_a_collection(tmp_path):
    retriever = Retriever.open(index_records(iter(RECORDS), tmp_path / "made/here/index"))
    plain = Retriever.from_texts([one["text"] for one in RECORDS], ["d1", "d2", "d3"], ["", "Dogs", ""])
    assert ids(retriever.search("cat dogs")) == ids(plain.search("cat dogs")) == ["d2", "d1"]
    assert ids(retriever.search("cat", where="year >= 2021")) == ["d2"]
    first, second = retriever.answer("cat").hits
    assert {first.doc_id: first.metadata, second.doc_id: second.metadata} == {
        "d1": {"year": 2020, "url": "x", "seen": "2024-03-01"}, "d2": {"year": 2021},
    }  # fmt: skip
    assert not list(tmp_path.glob("made/here/.*"))  # nothing is left of the way there


def test_what_is_there_stays_without_a_word_to_the_contrary(tmp_path):
    path = index_records(RECORDS, tmp_path / "index")
    with pytest.raises(ArtifactError, match="is there already; give another path, or overwrite=True"):
        index_records(RECORDS[:1], path)
    assert Retriever.open(path).n_documents == 3
    index_records(RECORDS[:1], path, replace=True)
    assert Retriever.open(path).n_documents == 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    with pytest.raises(ArtifactError):
        index_records(RECORDS, tmp_path / "mine", replace=True)
    assert (tmp_path / "mine/letter.txt").read_text() == "dear"


def test_whole_weights_stay_what_they_are(tmp_path):
    retriever = Retriever.open(index_records(TOKS, tmp_path / "index"))
    asked = Asked(10, (), 0.0, 0, TERMS)
    row = row_of(retriever, {"cat": 2, "dog": 10, "unknown": 4, "mat": 0})
    assert [(hit.doc_id, hit.score) for hit in hits_of_rows(retriever, [row], asked)[0]] == [
        ("d1", 400.0),
        ("d2", 64.0),
    ]
    shown = documents_of_rows(retriever, [row], asked)[0]
    assert [value_of(one, "year") for one in shown] == [2020, None] and shown[0].text == "cats"
    assert not ids(hits_of_rows(retriever, [row_of(retriever, {})], asked)[0])
    with pytest.raises(InputError, match="made of vectors that were given"):
        require_encoder(retriever)


@pytest.mark.parametrize("largest", [255, 65535])
def test_whole_weights_of_queries_give_whole_sums(largest, tmp_path):
    toks = [{"docno": "a", "toks": {"x": largest, "y": 1}}, {"docno": "b", "toks": {"x": 3, "y": largest - 1}}]
    retriever = Retriever.open(index_records(toks, tmp_path / "index"))
    for weights in ({"x": 1, "y": 255}, {"x": 1, "y": 256}, {"x": 65535, "y": 7}):
        found = hits_of_rows(retriever, [row_of(retriever, weights)], Asked(10, (), 0.0, 0, TERMS))[0]
        assert {hit.doc_id: hit.score for hit in found} == {
            one["docno"]: float(sum(weights[term] * weight for term, weight in one["toks"].items())) for one in toks
        }


@pytest.mark.parametrize(("largest", "bits"), [(255, 16), (256, 16), (65535, 16), (0.5, 16), (70000, 16)])
def test_weights_get_the_bits_that_they_need(largest, bits, tmp_path):
    toks = [{"docno": "a", "toks": {"x": largest, "y": 1}}, {"docno": "b", "toks": {"x": 1 if largest >= 1 else 0.25}}]
    retriever = Retriever.open(index_records(toks, tmp_path / "index"))
    assert retriever.opened.index.segments[0].index.meta.bits == bits
    found = hits_of_rows(retriever, [row_of(retriever, {"x": 1})], Asked(10, (), 0.0, 0, TERMS))[0]
    exact = largest == int(largest) and largest < 2**16
    assert [hit.score for hit in found] == pytest.approx([largest, toks[1]["toks"]["x"]], abs=0 if exact else 2)


def test_the_same_documents_give_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        index_records(TOKS, tmp_path / name)
    files = sorted(file.name for file in (tmp_path / "one").iterdir() if file.name != "manifest.json")
    assert files and all((tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in files)


def test_settings_are_taken(tmp_path):
    plain = load_settings(values={"lexical.stemmer": "none"})
    retriever = Retriever.open(index_records(RECORDS, tmp_path / "index", settings=plain))
    assert not retriever.search("cats") and retriever.search("cat")


WRONG = [
    ([], "no documents to index"),
    (["d1"], "document 0 is 'd1'; give mappings"),
    ([{"text": "a"}], "document 0 has None as docno"),
    ([{"docno": 7, "text": "a"}], "document 0 has 7 as docno"),
    ([{"docno": "", "text": "a"}], "has '' as docno"),
    ([{"docno": "a"}], "document 'a' has None as text"),
    ([{"docno": "a", "text": math.nan}], "document 'a' has nan as text"),
    ([{"docno": "a", "text": "x", "title": 3}], "has 3 as title"),
    (
        [{"docno": "a", "text": "x"}, {"docno": "b", "text": "x", "toks": {}}],
        "document 'b' has toks, and others differ",
    ),
    ([{"docno": "a", "toks": {}}, {"docno": "b", "text": "x"}], "document 'b' has no toks, and others differ"),
    ([{"docno": "a", "toks": "cat"}], "has 'cat' as toks"),
    ([{"docno": "a", "toks": {"cat": -1}}], "gives term 'cat' the weight -1"),
    ([{"docno": "a", "toks": {"cat": math.nan}}], "the weight nan"),
    ([{"docno": "a", "toks": {"cat": math.inf}}], "the weight inf"),
    ([{"docno": "a", "toks": {"cat": "1"}}], "the weight '1'"),
    ([{"docno": "a", "toks": {"cat": True}}], "the weight True"),
    ([{"docno": "a", "toks": {"": 1}}], "gives term '' the weight 1"),
    ([{"docno": "a", "text": "x"}, {"docno": "a", "text": "y"}], "'a'"),
    ([{"docno": "a", "toks": {"x": 1}}, {"docno": "a", "toks": {"y": 1}}], "'a' appears twice"),
]


@pytest.mark.parametrize("value", [None, math.nan, *(kind("nan") for kind in (np.float16, np.float32, np.float64))])
def test_what_has_no_value(value):
    assert is_missing(value) and not is_missing(np.float32(0)) and not is_missing("") and not is_missing(0)


@pytest.mark.parametrize(("records", "said"), WRONG, ids=[json.dumps(records, default=str) for records, _ in WRONG])
def test_what_cannot_be_indexed_leaves_nothing(records, said, tmp_path):
    with pytest.raises(InputError, match=said) as raised:
        index_records(records, tmp_path / "index")
    assert "\n" not in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_a_stream_that_breaks_leaves_nothing(tmp_path):
    def stream():
        yield TOKS[0]
        raise OSError("the network went away")

    with pytest.raises(OSError, match="went away"):
        index_records(stream(), tmp_path / "index")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("weights", [{"cat": -1}, {"cat": math.nan}, {"cat": "x"}, {"cat": None}, {"cat": math.inf}])
def test_query_weights_that_are_none(weights, tmp_path):
    retriever = Retriever.open(index_records(TOKS, tmp_path / "index"))
    with pytest.raises(InputError, match="term 'cat' of a query weighs"):
        row_of(retriever, weights)


def test_fields_that_no_document_has(tmp_path):
    retriever = Retriever.open(index_records(RECORDS, tmp_path / "index"))
    require_fields(retriever, ["text", "title", "year", "tags"])
    with pytest.raises(InputError, match="has no field 'colour'; one of seen, tags, text, title, url, year"):
        require_fields(retriever, ["colour"])
    silent = load_settings(values={"index.texts": "no"})
    without = Retriever.open(index_records(RECORDS, tmp_path / "silent", settings=silent))
    with pytest.raises(ArtifactError, match=r"keeps no texts; .*or leave out the field 'text'"):
        require_fields(without, ["text"])

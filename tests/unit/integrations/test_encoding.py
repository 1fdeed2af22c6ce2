"""A model's rows for frameworks: those of its encoder, in batches, cut, from many threads, and after a pickle."""

import copy
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import sleep

import pytest

from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.integrations.encoding import RowEncoder
from lexigraft.integrations.indexing import index_records
from lexigraft.retrieve.retriever import Retriever
from lexigraft.retrieve.sparse_encoder import SparseEncoder
from lexigraft.vectors.text_encoder import TextEncoder
from tests.shards import write_model

TEXTS = ["kur mel tos", "", "vip zan of kur", "fod gix mela", "?!", "bru kura melmel"] * 3


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("model"))


@pytest.mark.parametrize("are_queries", [True, False])
def test_rows_are_those_of_the_encoder(model, are_queries):
    encoder = SparseEncoder.open(model)
    whole = encoder.encode_queries(TEXTS) if are_queries else encoder.encode_documents(TEXTS)
    rows = list(RowEncoder(model, are_queries, batch_size=4).rows(TEXTS))
    assert len(rows) == len(TEXTS) and not rows[1].indices and rows[0].indices
    for number, (indices, values) in enumerate(rows):
        assert indices == sorted(indices) == whole[number].indices.tolist()
        assert values == pytest.approx(whole[number].data.tolist(), abs=1e-6)
    named = next(RowEncoder(encoder, are_queries).named(iter(rows)))
    assert sorted(named.items()) == sorted(encoder.decode(whole[0])[0])


def test_rows_are_cut(model):
    whole, three = (list(RowEncoder(model, False, keep).rows(TEXTS)) for keep in (0, 3))
    for cut, row in zip(three, whole, strict=True):
        heaviest = sorted(zip(row.values, row.indices, strict=True), key=lambda one: (-one[0], one[1]))[:3]
        assert cut.indices == sorted(index for _, index in heaviest)
    assert list(RowEncoder(model, False, "m0.5").rows([])) == []


def test_threads_and_processes(model):
    encoder = RowEncoder(model, True)
    expected = list(encoder.rows(TEXTS))
    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(lambda _: list(encoder.rows(TEXTS)), range(16)))
    assert list(pickle.loads(pickle.dumps(encoder)).rows(TEXTS)) == expected


def test_queries_and_documents_of_one_encoder_from_two_threads(model, monkeypatch):
    """Both are read with one reader, whose memory is one thread's at a time: no two may be in there together."""
    one = copy.copy(SparseEncoder.open(model))
    calls = [
        partial(RowEncoder(one, True)._batch, TEXTS), partial(RowEncoder(one, False)._batch, TEXTS),
        partial(one.encode_queries, TEXTS), partial(one.encode_documents, TEXTS),
        partial(copy.copy(one).encode_queries, TEXTS),
    ]  # fmt: skip
    inside, most, encode = [], [], TextEncoder.encode

    def slowly(encoder, texts):
        inside.append(encoder)
        most.append(len(inside))
        sleep(0.01)  # time for another one to come in
        found = encode(encoder, texts)
        inside.pop()
        return found

    monkeypatch.setattr(TextEncoder, "encode", slowly)
    with ThreadPoolExecutor(len(calls)) as pool:
        for done in [pool.submit(lambda call: list(call()), call) for call in calls * 2]:
            done.result()
    assert most == [1] * len(calls) * 2


@pytest.mark.parametrize("text", [None, 3, math.nan, b"kur", ["kur"]])
def test_what_is_no_text(text, model):
    with pytest.raises(InputError, match=r"text 1 is .*; give a string"):
        list(RowEncoder(model, True).rows(["kur", text]))


def test_what_cannot_encode(model, tmp_path):
    with pytest.raises(InputError, match="one string; give a list"):
        list(RowEncoder(model, True).rows("kur"))
    with pytest.raises(ArtifactError, match="neither a model nor a run with one"):
        RowEncoder(tmp_path, True).open()
    with pytest.raises(SettingError, match="batch_size = 0"):
        RowEncoder(model, True, batch_size=0)
    with pytest.raises(SettingError, match="qk = -1"):
        RowEncoder(model, True, keep=-1)


RECORDS = [{"docno": f"d{number}", "text": text} for number, text in enumerate(TEXTS[:6])]


def test_vectors_of_a_model_that_documents_bring_are_searched_by_its_queries(model, tmp_path):
    written = RowEncoder(model, False)
    toks = [
        {**record, "toks": row} for record, row in zip(RECORDS, written.named(written.rows(TEXTS[:6])), strict=True)
    ]
    given = Retriever.open(index_records(toks, tmp_path / "given", model))
    made = Retriever.open(index_records(RECORDS, tmp_path / "made", model))
    for query in ("kur of mela", "bru", ""):
        assert given.search(query) == made.search(query)
    assert made.search("kur of mela") and made.vocabulary.fingerprint == given.vocabulary.fingerprint
    with pytest.raises(InputError, match=r"document 'x' has the term 'cat', which .* does not know"):
        index_records([{"docno": "x", "toks": {"cat": 1}}], tmp_path / "other", model)
    with pytest.raises(ArtifactError, match="neither a model nor a run with one"):
        index_records(RECORDS, tmp_path / "other", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["given", "made"]

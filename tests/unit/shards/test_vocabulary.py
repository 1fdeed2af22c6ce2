"""A vocabulary learned by shards is the one that is learned at once, to the byte."""

import pytest

from lexigraft.core.settings import ModelSettings, Settings, VocabSettings
from lexigraft.learn.unigrams import make_unigrams
from lexigraft.shards.running import Where
from lexigraft.shards.vocabulary import learn_by_shards
from lexigraft.vectors import encode as vectors_encode
from tests.families import write_backbone
from tests.shards import contents, write_corpus


@pytest.mark.parametrize("n_shards", [1, 4])
def test_the_same_bytes(tmp_path, monkeypatch, n_shards):
    monkeypatch.setattr(vectors_encode, "READ_AHEAD", 7)
    backbone = write_backbone("bert", tmp_path)
    data = write_corpus(tmp_path / "data", 50)
    # A query that trains has words of its own, which count too.
    (data / "queries.jsonl").write_text('{"_id": "q1", "text": "kurmel kurmel"}\n')
    (data / "qrels").mkdir()
    (data / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    settings = Settings(model=ModelSettings(backbone=str(backbone)), vocab=VocabSettings(size=30))
    make_unigrams(str(data), tmp_path / "at_once", settings)
    facts = make_unigrams(str(data), tmp_path / "joined", settings, learn=learn_by_shards(Where(n_shards, workers=1)))
    assert contents(tmp_path / "joined") == contents(tmp_path / "at_once")
    assert facts["terms"] > 5 and facts["documents"] == 50
    assert not (tmp_path / ".joined.shards").exists()

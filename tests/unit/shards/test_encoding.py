"""Encoding by shards: cut anywhere, stopped anywhere, the vectors are those of one process, to the byte."""

import json
import shutil

import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.core.settings import DataSettings, Settings
from lexigraft.core.types import Document
from lexigraft.shards import running
from lexigraft.shards.encode import EncodeShards
from lexigraft.shards.encoding import encode_by_shards, folder_of_shards
from lexigraft.shards.running import Where
from lexigraft.shards.texts import open_texts, write_texts
from lexigraft.stages.standalone import encode
from lexigraft.vectors import encode as vectors_encode
from tests.conftest import Manifest, write_artifact
from tests.shards import contents, write_corpus, write_model

N_DOCUMENTS = 50


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def few_at_once(monkeypatch):
    """Batches of seven documents, so that fifty are eight batches."""
    monkeypatch.setattr(vectors_encode, "READ_AHEAD", 7)


@pytest.fixture
def data(tmp_path):
    return str(write_corpus(tmp_path / "data", N_DOCUMENTS))


@pytest.mark.parametrize("n_shards", [3, 100])
@pytest.mark.parametrize("in_passages", [False, True])
def test_the_same_bytes_in_any_number_of_shards(tmp_path, model, data, few_at_once, n_shards, in_passages):
    settings = Settings(data=DataSettings(passage_words=6, passage_overlap=2)) if in_passages else Settings()
    encode(data, model, tmp_path / "whole", settings)
    encode(data, model, tmp_path / "joined", settings, write=encode_by_shards(Where(n_shards, workers=1)))
    assert contents(tmp_path / "joined") == contents(tmp_path / "whole")
    assert not folder_of_shards(tmp_path / "joined").exists()


def test_the_sums_would_differ_in_another_order(tmp_path, model, data, few_at_once):
    """The test above can fail: the shares of documents that are read are no whole numbers."""
    encode(data, model, tmp_path / "whole", Settings())
    facts = json.loads((tmp_path / "whole" / "meta.json").read_text())["encoding"]
    assert facts["shares_read"] != int(facts["shares_read"]) and facts["read_whole"] < facts["documents"]


class StoppedError(Exception):
    pass


def stopping_after(monkeypatch, n_shards):
    """Whoever makes shards stops after so many."""
    made, usual = [], running.make_shard

    def make(work, number):
        if len(made) == n_shards:
            raise StoppedError
        made.append(number)
        return usual(work, number)

    monkeypatch.setattr(running, "make_shard", make)
    return made


def test_goes_on_after_a_stop(tmp_path, model, data, few_at_once, monkeypatch):
    write = encode_by_shards(Where(4, workers=1))
    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        stopping_after(patch, 2)
        encode(data, model, tmp_path / "joined", Settings(), write=write)
    assert not (tmp_path / "joined").exists()
    made = stopping_after(monkeypatch, 99)
    encode(data, model, tmp_path / "joined", Settings(), write=write)
    assert made == [2, 3]
    encode(data, model, tmp_path / "whole", Settings())
    assert contents(tmp_path / "joined") == contents(tmp_path / "whole")


def stopped_half_way(tmp_path, model, data, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        stopping_after(patch, 2)
        encode(data, model, tmp_path / "joined", Settings(), write=encode_by_shards(Where(4, workers=1)))
    return folder_of_shards(tmp_path / "joined") / "vectors"


def test_a_damaged_shard_is_made_again(tmp_path, model, data, few_at_once, monkeypatch):
    shards = stopped_half_way(tmp_path, model, data, monkeypatch)
    weights = shards / "00001" / "weights.npy"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\0")
    made = stopping_after(monkeypatch, 99)
    encode(data, model, tmp_path / "joined", Settings(), write=encode_by_shards(Where(4, workers=1)))
    assert made == [1, 2, 3]
    encode(data, model, tmp_path / "whole", Settings())
    assert contents(tmp_path / "joined") == contents(tmp_path / "whole")


def test_shards_of_other_inputs_are_named(tmp_path, model, data, few_at_once, monkeypatch):
    shards = stopped_half_way(tmp_path, model, data, monkeypatch)
    with pytest.raises(ArtifactError, match=r"00000 was made of other inputs \(of: 4 there, 3 now\)"):
        encode(data, model, tmp_path / "joined", Settings(), write=encode_by_shards(Where(3, workers=1)))
    shutil.rmtree(tmp_path / "data")
    other = str(write_corpus(tmp_path / "data", N_DOCUMENTS, seed=1))
    with pytest.raises(ArtifactError, match=r"was made of other inputs \(texts: .*; remove .*joined.shards/vec"):
        encode(other, model, tmp_path / "joined", Settings(), write=encode_by_shards(Where(4, workers=1)))
    assert (shards / "00000").is_dir()  # nothing was lost


def test_the_first_who_is_done_counts(tmp_path, model, few_at_once, monkeypatch):
    """Two at one shard at the same time, as where a machine was given up for lost and is not."""
    with write_artifact(tmp_path / "texts", Manifest("texts of shards", 1, {})) as folder:
        write_texts([[Document("d1", "", "kur mel")]], folder)
    work = EncodeShards(tmp_path / "texts", tmp_path / "shards", 1, model, fingerprint_of(model), False, 8)
    (tmp_path / "shards").mkdir()
    usual, made = EncodeShards.make, []

    def late(self, number, folder):
        usual(self, number, folder)
        monkeypatch.setattr(EncodeShards, "make", usual)
        running.make_shard(work, number)  # somebody else, meanwhile
        made.append((tmp_path / "shards" / "00000").stat().st_ino)

    monkeypatch.setattr(EncodeShards, "make", late)
    running.make_shard(work, 0)
    assert made == [(tmp_path / "shards" / "00000").stat().st_ino]
    assert not any((tmp_path / "shards" / ".attempts").iterdir())


def fingerprint_of(model):
    from lexigraft.core.artifact import read_manifest

    return read_manifest(model).fingerprint


def test_texts_come_back_as_they_were(tmp_path):
    batches = [[Document("a", "ä\n", "x\u2028y\ud800"), Document("b", "", "")], [Document("c", "t", "\0 \x85")]]
    with write_artifact(tmp_path / "texts", Manifest("texts of shards", 1, {})) as folder:
        write_texts(batches, folder)
    texts = open_texts(tmp_path / "texts")
    (whole,) = texts.cut(1)
    assert list(texts.read(whole)) == batches and (whole.first_row, whole.last_row) == (0, 3)
    first, second = texts.cut(2)
    assert [list(texts.read(first)), list(texts.read(second))] == [batches[:1], batches[1:]]
    assert texts.digest(first) != texts.digest(second)


def test_changed_texts_are_refused(tmp_path):
    with write_artifact(tmp_path / "texts", Manifest("texts of shards", 1, {})) as folder:
        write_texts([[Document("a", "", "kur")], [Document("b", "", "mel")]], folder)
    file = tmp_path / "texts" / "texts.jsonl"
    file.write_bytes(file.read_bytes().replace(b"mel", b"mal"))
    texts = open_texts(tmp_path / "texts")
    first, second = texts.cut(2)
    assert len(list(texts.read(first))) == 1
    with pytest.raises(ArtifactError, match="does not match its checksum"):
        list(texts.read(second))


@pytest.mark.parametrize(("n_shards", "expected"), [(1, [4]), (2, [2, 2]), (3, [2, 1, 1]), (9, [1, 1, 1, 1])])
def test_shards_are_about_as_large(tmp_path, n_shards, expected):
    with write_artifact(tmp_path / "texts", Manifest("texts of shards", 1, {})) as folder:
        write_texts([[Document(str(number), "", "kur")] for number in range(4)], folder)
    assert [shard.n_rows for shard in open_texts(tmp_path / "texts").cut(n_shards)] == expected

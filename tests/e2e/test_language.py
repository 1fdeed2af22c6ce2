"""The language of a collection is guessed once, said, kept by what is made, and obeyed by whoever reads or adds."""

import json
import sys
from dataclasses import asdict

import pytest

from lexigraft.core.settings import LexicalSettings, Settings, VocabSettings
from lexigraft.core.types import Document
from lexigraft.index.live.state import read_state
from lexigraft.index.store import open_index
from lexigraft.retrieve.retriever import Retriever
from lexigraft.vectors.deciding_words import decide_by_stream, decide_words
from tests.guessing import needs_cld2

GERMAN = ["Roter Schuh", "Blauer Hut aus Filz", "Wanderstiefel, Leder, braun", "Grüne Regenjacke", "Warme Wollmütze"]
ENGLISH = ["Red shoes", "A blue hat of felt", "Walking boots, leather, brown", "Green rain jacket", "Warm woollen cap"]
KOREAN = ["빨간 신발을 샀다", "파란 모자는 예쁘다", "학교에서 공부했습니다", "Python 함수", "비가 온다"]
BM25 = ("--set", 'run.systems=["bm25"]')


def write(folder, texts, first=0):
    folder.mkdir()
    rows = [json.dumps({"_id": f"d{number}", "text": text}) for number, text in enumerate(texts, first)]
    (folder / "corpus.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def found(place, query, **options):
    return [hit.doc_id for hit in Retriever.open(place, **options).search(query)]


def read_by(index):
    said = open_index(index).meta.query_encoder
    return said["stemmer"], said["stopwords"]


@needs_cld2
def test_a_run_reads_german_as_german(tmp_path, lexigraft):
    source, run = write(tmp_path / "docs", GERMAN), tmp_path / "run"
    made = lexigraft("run", "--data", source, "--out", run, *BM25)
    assert made.stderr.count("language: German (") == 1
    assert "set lexical.stemmer and vocab.stemmer to choose another" in " ".join(made.stderr.split())
    assert found(run, "schuhe", system="bm25") == ["d0"]
    settings = json.loads((run / "settings.json").read_text())
    assert settings["lexical"]["stemmer"] == settings["vocab"]["stemmer"] == "german"
    assert settings["lexical"]["stopwords"] == "german"
    vectors = run / "judged" / "bm25" / "vectors" / "manifest.json"
    before, written = vectors.read_bytes(), vectors.stat().st_mtime_ns
    assert lexigraft("run", "--data", source, "--out", run, *BM25).status == 0
    assert (vectors.read_bytes(), vectors.stat().st_mtime_ns) == (before, written)  # nothing is done twice
    said = ("--set", "lexical.stemmer=german", "--set", "vocab.stemmer=german")
    told = lexigraft("run", "--data", source, "--out", run, *BM25, *said)
    assert "language:" not in told.stderr and vectors.stat().st_mtime_ns == written  # it is what was guessed
    lexigraft("run", "--data", source, "--out", run, *BM25, "--set", "lexical.stemmer=english")
    assert found(run, "schuhe", system="bm25") == []


@needs_cld2
def test_an_index_and_its_shards(tmp_path, lexigraft):
    source = write(tmp_path / "docs", GERMAN)
    once, shards = tmp_path / "once", tmp_path / "shards"
    assert "language: German (" in lexigraft("index", "--data", source, "--out", once).stderr
    assert lexigraft("index", "--data", source, "--out", shards, "--shards", 2, "--workers", 1).status == 0
    assert found(once, "schuhe") == found(shards, "schuhe") == ["d0"]
    assert {file.name: file.read_bytes() for file in once.glob("*.npy")} == {
        file.name: file.read_bytes() for file in shards.glob("*.npy")
    }
    assert read_by(once) == read_by(shards) == ("german", "german")
    none = tmp_path / "none"
    set_ = lexigraft("index", "--data", source, "--out", none, "--set", "lexical.stemmer=none")
    assert "language:" not in set_.stderr and read_by(none) == ("none", "english")
    assert found(none, "schuhe") == []


@needs_cld2
def test_a_live_index_keeps_the_language_it_began_with(tmp_path, lexigraft):
    live = tmp_path / "live"
    first = lexigraft("index", "add", live, "--data", write(tmp_path / "one", GERMAN))
    assert "language: German (" in first.stderr
    more = lexigraft("index", "add", live, "--data", write(tmp_path / "two", ENGLISH, first=10))
    assert more.status == 0 and "language:" not in more.stderr
    assert read_state(live).query_encoder["stemmer"] == "german"
    assert lexigraft("index", "add", live, "--data", write(tmp_path / "six", ["Neue Schuhe"], first=20)).status == 0
    assert set(found(live, "schuh")) == {"d0", "d20"}
    other = write(tmp_path / "other", ["Ein Hut"], first=30)
    assert lexigraft("index", "add", live, "--data", other, "--set", "lexical.stemmer=english").status == 2
    assert lexigraft("index", "add", live, "--data", other, "--set", "lexical.stemmer=german").status == 0


@needs_cld2
def test_texts_in_memory():
    german = Retriever.from_texts(GERMAN)
    assert [hit.doc_id for hit in german.search("schuhe")] == ["0"]
    german.add(["Die Schuhe"], ids=["neu"])
    assert {hit.doc_id for hit in german.search("schuhs")} == {"0", "neu"}
    english = Retriever.from_texts(GERMAN, settings=LexicalSettings(stemmer="english"))
    assert [hit.doc_id for hit in english.search("schuhe")] == []


@needs_cld2
def test_korean_is_not_stemmed_as_english(tmp_path, lexigraft):
    index = tmp_path / "index"
    told = lexigraft("index", "--data", write(tmp_path / "docs", KOREAN), "--out", index).stderr
    assert "language: Korean (" in told and "no stemmer, stop-words none" in " ".join(told.split())
    assert read_by(index) == ("none", "none")


@pytest.mark.parametrize("texts", [ENGLISH, ["Red shoe"], ["a", "b"], []])
def test_what_is_english_or_tells_nothing_is_as_if_english_was_set(texts):
    decided = decide_words(Settings(), [Document(str(at), "", text) for at, text in enumerate(texts)])
    for part, section in ((decided.lexical, LexicalSettings), (decided.vocab, VocabSettings)):
        assert part.decided() == section(stemmer="english").decided() == section().decided()


def test_without_the_library_all_is_read_as_english_and_says_so(tmp_path, lexigraft, monkeypatch):
    monkeypatch.setitem(sys.modules, "pycld2", None)
    source = write(tmp_path / "docs", GERMAN)
    made = [
        lexigraft("index", "--data", source, "--out", tmp_path / "index"),
        lexigraft("index", "add", tmp_path / "live", "--data", source),
        lexigraft("run", "--data", source, "--out", tmp_path / "run", *BM25),
        lexigraft("data", "look", source / "corpus.jsonl"),
    ]
    for one in made:
        said = " ".join((one.stderr + one.stdout).split())
        assert one.status == 0 and "language: unsure (to tell it needs: pip install pycld2): stemmer english" in said
    assert read_by(tmp_path / "index") == ("english", "english")
    assert found(tmp_path / "index", "schuh") == found(tmp_path / "live", "schuh") == found(tmp_path / "run", "schuh")


@needs_cld2
def test_a_mixed_collection_names_its_shares(tmp_path, lexigraft):
    german = "Der Hund ist im Garten und spielt mit dem Ball. Das Kind wird nicht müde, auch wenn es lange läuft."
    english = "The dog is in the garden and plays with the ball. The child does not get tired."
    source = write(tmp_path / "docs", [german, english, german, english])
    told = " ".join(lexigraft("index", "--data", source, "--out", tmp_path / "index").stderr.split())
    assert "language: mostly German (" in told and ", English " in told
    assert read_by(tmp_path / "index") == ("german", "german")


@needs_cld2
def test_a_stream_is_decided_by_its_beginning_and_loses_nothing():
    documents = [Document(str(number), "", GERMAN[number % 5]) for number in range(5000)]
    documents += [Document(str(number), "", ENGLISH[number % 5]) for number in range(5000, 12000)]
    read, again = decide_by_stream(Settings(), iter(documents))
    assert list(again) == documents
    assert read == decide_words(Settings(), documents)
    assert read.lexical.stemmer == read.vocab.stemmer == "german"
    stopped = decide_words(Settings(lexical=LexicalSettings(stopwords="none")), documents)
    assert asdict(stopped.lexical) == asdict(LexicalSettings(stemmer="german", stopwords="none"))


@needs_cld2
def test_no_text_hides_a_word_behind_what_is_not_seen():
    hidden = [
        "\u200dSchuh aus Leder",
        "\u200fSchuh\u200e aus Holz",
        "\u200bSchuh aus Filz",
        "Sch\u00aduh \ufeffaus Stoff",
    ]
    shoes = Retriever.from_texts(hidden)
    for query in ("schuh", "\u200dschuh", "\u2067schuhe\u2069", "\ufeffschuh", "sch\u200cuh"):
        assert {hit.doc_id for hit in shoes.search(query)} == {"0", "1", "2", "3"}, ascii(query)

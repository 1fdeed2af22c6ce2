"""`cafe` finds `Café` wherever texts are searched, code is cut at its capitals, and what is older keeps its rule."""

import json

import pytest
from typer.testing import CliRunner

from lexigraft.cli.app import app
from lexigraft.core.settings import LexicalSettings, WordsSettings
from lexigraft.index.store import open_index
from lexigraft.retrieve.retriever import Retriever

TEXTS = {"a": "The Café in Łódź is open.", "b": "Tea rooms of YouTube stars", "c": "Naïve readers of novels"}
CODE = {
    "a": "def parseHTTPResponse(raw_bytes): return json.loads(raw_bytes)",
    "b": "class HashMap: def getValue(self, key_name): pass",
}


def invoke(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def write(folder, texts):
    folder.mkdir()
    rows = [json.dumps({"_id": doc_id, "title": "", "text": text}) for doc_id, text in texts.items()]
    (folder / "corpus.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def found(retriever, query):
    return [hit.doc_id for hit in retriever.search(query)]


def test_a_run_finds_words_without_their_accents(tmp_path):
    source, out = write(tmp_path / "docs", TEXTS), tmp_path / "run"
    invoke("run", "--data", source, "--out", out)
    shown = json.loads(invoke("search", "--run", out, "--json", "cafe lodz"))
    assert [hit["doc_id"] for hit in shown["hits"]] == ["a"]
    retriever = Retriever.open(out, system="bm25")
    assert found(retriever, "cafe") == found(retriever, "CAFÉ") == found(retriever, "lodz") == ["a"]
    assert found(retriever, "youtube") == ["b"]
    words = json.loads((out / "settings.json").read_text())["words"]
    assert words == {"fold_accents": True, "camel_case": "off"}
    before = json.loads((out / "judged" / "bm25" / "vectors" / "manifest.json").read_text())
    invoke("run", "--data", source, "--out", out, "--set", "words.fold_accents=false")
    after = json.loads((out / "judged" / "bm25" / "vectors" / "manifest.json").read_text())
    assert before["config"]["words"] == {"fold_accents": True, "split_camel_case": False}
    assert "words" not in after["config"]
    assert before["files"] != after["files"]
    assert found(Retriever.open(out, system="bm25"), "cafe") == []


def test_code_is_recognised_and_split(tmp_path):
    out = tmp_path / "run"
    invoke("run", "--data", write(tmp_path / "code", CODE), "--out", out)
    assert json.loads((out / "settings.json").read_text())["words"]["camel_case"] == "on"
    retriever = Retriever.open(out, system="bm25")
    assert found(retriever, "http response") == ["a"]
    assert found(retriever, "get value") == found(retriever, "getValue") == ["b"]


def test_pydocs_is_code(tmp_path):
    invoke("index", "--data", "pydocs", "--set", 'data.packages=["json", "argparse"]', "--out", tmp_path / "index")
    assert open_index(tmp_path / "index").meta.query_encoder["words"]["split_camel_case"]


def test_texts_in_memory_and_what_is_added_to_them():
    retriever = Retriever.from_texts(TEXTS.values(), ids=TEXTS)
    assert found(retriever, "cafe") == ["a"]
    assert found(retriever, "naive") == ["c"]
    retriever.add(["Another café"], ids=["d"])
    assert set(found(retriever, "cafe")) == {"a", "d"}
    explained = retriever.explain("cafe lodz", "a")
    assert "caf" in json.dumps(str(explained))
    kept = Retriever.from_texts(TEXTS.values(), ids=TEXTS, words=WordsSettings(fold_accents=False))
    assert found(kept, "cafe") == []
    assert found(Retriever.from_texts(CODE.values(), ids=CODE), "response") == ["a"]
    german = Retriever.from_texts(["die Häuser der Stadt", "der Hund"], settings=LexicalSettings(stemmer="german"))
    assert found(german, "hauser") == found(german, "haus") == ["0"]
    assert found(german, "der") == []


def test_a_live_index_keeps_its_rule(tmp_path, lexigraft):
    live, more = tmp_path / "live", write(tmp_path / "more", {"d": "Zwei cafés"})
    invoke("index", "add", live, "--data", write(tmp_path / "docs", TEXTS), "--set", "words.fold_accents=false")
    invoke("index", "add", live, "--data", more)
    assert found(Retriever.open(live), "cafe") == []
    other = write(tmp_path / "other", {"e": "x"})
    refused = lexigraft("index", "add", live, "--data", other, "--set", "words.camel_case=on")
    assert refused.status == 2
    assert "words.fold_accents = True does not fit" in refused.stderr


@pytest.mark.parametrize("given", ["lexical.stopwords=klingon", "vocab.stopwords=klingon", "words.camel_case=maybe"])
def test_what_is_not_known_is_refused(tmp_path, lexigraft, given):
    source = write(tmp_path / "docs", TEXTS)
    refused = lexigraft("run", "--data", source, "--out", tmp_path / "run", "--set", given)
    assert refused.status == 2
    assert "one of auto, " in refused.stderr

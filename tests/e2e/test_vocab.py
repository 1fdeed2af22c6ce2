"""`vocab wordpiece`, `vocab stats` and `vocab compare`, as a user would call them; `vocab learn` is in test_model.py
where it trains, and here where it is looked at."""

import json
import sys

import pytest
import transformers

from lexigraft.core.types import Document, Query
from lexigraft.data.write import write_collection
from lexigraft.vocab.lexicon import open_lexicon
from tests.conftest import DOCUMENTS
from tests.e2e.test_bad_input import one_line_error
from tests.e2e.test_model import backbone  # noqa: F401 (a fixture)

SCRIPTS = {
    "korean": ("중복을 제거하고 순서를 유지합니다", "Hangul"),
    "japanese": ("データを並べ替える", "Kana"),
    "russian": ("Сортировка списка по порядку", "Cyrillic"),
    "arabic": ("ترتيب القائمة حسب الترتيب", "Arabic"),
}


@pytest.fixture
def tokenizer(collection, tmp_path, lexigraft):
    answer = lexigraft("vocab", "wordpiece", "--data", collection, "--out", tmp_path / "tokenizer", "--size", 120)
    assert answer.status == 0, answer.stderr
    return tmp_path / "tokenizer"


@pytest.fixture
def words(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("\ufefforder\nlist\n\nsort\ngraph\nDates\n순서를\n", encoding="utf-8")
    return file


def test_wordpiece(collection, tmp_path, lexigraft):
    call = ("vocab", "wordpiece", "--data", collection, "--out", tmp_path / "t", "--json")
    found = lexigraft(*call, "--size", 120).json
    assert found["pieces"] == 120
    assert found["coverage"] == 1.0
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path / "t")
    assert len(loaded) == 120
    assert "[UNK]" not in loaded.tokenize("Remove duplicates; 순서를 유지합니다.")
    answer = lexigraft(*call)  # a tokenizer is replaced
    assert f"{answer.json['pieces']} pieces were made, not the 30000 asked for" in answer.stderr
    answer = lexigraft(*call, "--size", 10)
    assert f"{answer.json['pieces']} pieces were made, not the 10 asked for: every letter is one" in answer.stderr
    assert lexigraft(*call[:-1], "--min-count", 3).stdout.startswith(f"{tmp_path / 't'}: ")


def test_the_same_bytes_twice(collection, tmp_path, lexigraft):
    for name in ("one", "two"):
        lexigraft("vocab", "wordpiece", "--data", collection, "--out", tmp_path / name, "--size", 150)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == [
        "counts.npy", "manifest.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocabulary.json",
    ]  # fmt: skip
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


@pytest.mark.parametrize("name", SCRIPTS)
def test_other_scripts(name, tmp_path, lexigraft):
    text, script = SCRIPTS[name]
    write_collection(tmp_path / name, [Document("d1", "", text), Document("d2", "", text)], [Query("q", text)])
    assert lexigraft("vocab", "wordpiece", "--data", tmp_path / name, "--out", tmp_path / "t").status == 0
    found = lexigraft("vocab", "stats", tmp_path / "t", "--data", tmp_path / name, "--json").json
    assert found["scripts"][script] > 0.4
    use = found["collection"]
    assert (use["documents"], use["queries"], use["queries_of"], use["unknown_words"]) == (2, 1, "all", 0)
    assert use["mean_query_terms"] == use["mean_document_terms"]
    assert use["mean_postings"] == 2 * use["mean_distinct_document_terms"]


def test_stats_of_a_tokenizer(tokenizer, collection, tmp_path, lexigraft):
    found = lexigraft(
        "vocab", "stats", tokenizer, "--data", collection, "--out", tmp_path / "study", "--json"
    ).json  # fmt: skip
    assert found == json.loads((tmp_path / "study/stats.json").read_text())
    assert (tmp_path / "study/frequency.png").read_bytes().startswith(b"\x89PNG")
    assert (found["kind"], found["terms"], found["special_tokens"]) == ("pieces", 115, 5)
    assert 0 < found["continuations"] < 1
    assert found["counts_from"] == "vocabulary"
    assert found["count_at_rank"]["1"] >= found["count_at_rank"]["100"]
    use = found["collection"]
    assert (use["name"], use["documents"], use["queries"], use["queries_of"]) == ("tiny", 6, 3, "test")
    assert use["queries_with_a_split_word"] == 1.0
    assert use["queries_with_an_unknown_word"] == 0.0
    again = lexigraft("vocab", "stats", tokenizer, "--out", tmp_path / "study")  # a study is replaced
    assert again.status == 0
    for text in ("pieces that continue a word", "Hangul", "rank 100", f"written to {tmp_path / 'study'}"):
        assert text in again.stdout


def test_stats_of_a_list(words, collection, tmp_path, lexigraft):
    bare = lexigraft("vocab", "stats", words, "--out", tmp_path / "bare", "--json").json
    assert (bare["kind"], bare["terms"], bare["counts_from"], bare["collection"]) == ("words", 6, None, None)
    assert bare["top"][0] == "order"  # the byte order mark is none of its letters
    assert not (tmp_path / "bare/frequency.png").exists()  # there is nothing to draw
    found = lexigraft("vocab", "stats", words, "--data", collection, "--json").json
    assert found["counts_from"] == "collection"
    use = found["collection"]
    assert use["queries_with_a_split_word"] is None
    # order in d1 and d2; dates in d4 (written Dates); nothing of q3, whose words are "path" and "graphs".
    assert use["mean_postings"] == (2 + 1 + 0) / 3
    assert use["mean_query_terms"] == 2 / 3
    assert "first of words.txt: order list" in lexigraft("vocab", "stats", words).stdout


def test_compare(tokenizer, words, collection, tmp_path, lexigraft):
    call = ("vocab", "compare", tokenizer, words, "--data", collection, "--out", tmp_path / "study")
    found = lexigraft(*call, "--json").json
    assert found == json.loads((tmp_path / "study/comparison.json").read_text())
    assert (tmp_path / "study/frequency.png").is_file()
    assert found["compared_as"] == "words"
    assert found["left_out"][0] == round(found["a"]["continuations"] * found["a"]["terms"])
    assert found["compared"] == [115 - found["left_out"][0], 6]
    assert found["shared"] + len(found["only_in_b"]) == 6
    assert found["a"]["collection"]["documents"] == found["b"]["collection"]["documents"] == 6
    text = lexigraft(*call).stdout
    for part in ("are left out, the others compared as words", "Jaccard", "only in words.txt: ", "mean postings"):
        assert part in text
    same = lexigraft("vocab", "compare", tokenizer, tokenizer, "--json").json
    assert (same["compared_as"], same["jaccard"], same["shared_at_top"]) == ("terms", 1.0, {"100": 1.0})
    assert same["rank_correlation"] == pytest.approx(1.0)


def test_a_learned_vocabulary_and_its_run(collection, backbone, tmp_path, lexigraft):  # noqa: F811
    run = tmp_path / "run"
    settings = ("--set", f"model.backbone={backbone}", "--set", "vocab.min_count=1", "--set", "model.layers=0")
    learned = lexigraft("vocab", "learn", "--data", collection, "--out", run, *settings, "--json").json
    found = lexigraft("vocab", "stats", run, "--data", collection, "--json").json
    assert (found["kind"], found["terms"], found["forms"]) == ("unigrams", learned["terms"], learned["forms"])
    assert found["coverage"] == learned["coverage"]
    assert (found["special_tokens"], found["continuations"]) == (0, None)
    same = lexigraft("vocab", "compare", run, run / "model/vocabulary", "--json").json
    assert same["jaccard"] == 1.0
    assert "words they stand for" in lexigraft("vocab", "stats", run).stdout
    against = lexigraft("vocab", "compare", run, backbone, "--json").json  # a tokenizer that others made
    assert against["left_out"] == [0, 36]


def test_what_is_no_vocabulary(tokenizer, collection, tmp_path, lexigraft):
    accepted = "give a learned vocabulary (RUN/model/vocabulary), a run that has one, a tokenizer folder"
    one_line_error(lexigraft("vocab", "stats", tmp_path / "absent"), "there is no vocabulary at", accepted)
    one_line_error(lexigraft("vocab", "stats", collection), "is not a vocabulary", accepted)
    one_line_error(lexigraft("vocab", "stats", collection / "corpus.jsonl"), "corpus.jsonl:", "is not a term", accepted)
    one_line_error(lexigraft("vocab", "stats", sys.executable), accepted)
    (tmp_path / "latin1.txt").write_bytes("naïve\n".encode("latin-1"))
    one_line_error(lexigraft("vocab", "stats", tmp_path / "latin1.txt"), "is not UTF-8", accepted)
    (tmp_path / "empty.txt").write_text("\n \n")
    one_line_error(lexigraft("vocab", "compare", tokenizer, tmp_path / "empty.txt"), "is empty", accepted)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/tokenizer.json").write_text("{")
    one_line_error(lexigraft("vocab", "stats", tmp_path / "broken"), "cannot be read as a tokenizer")
    (tokenizer / "counts.npy").unlink()
    one_line_error(lexigraft("vocab", "stats", tokenizer), "counts.npy is missing")
    (tmp_path / "twice.txt").write_text("a\nb\na\n")
    assert "1 of 3 lines repeat a term" in lexigraft("vocab", "stats", tmp_path / "twice.txt").stderr


def test_bad_collections_and_folders(tokenizer, collection, tmp_path, lexigraft):
    make = ("vocab", "wordpiece", "--out", tmp_path / "new")
    one_line_error(lexigraft(*make, "--data", tmp_path / "absent"), "there is no collection at")
    write_collection(tmp_path / "wordless", [Document("d", "", "?!")])
    one_line_error(lexigraft(*make, "--data", tmp_path / "wordless"), "no word in the corpus")
    assert not (tmp_path / "new").exists()
    refused = lexigraft("vocab", "wordpiece", "--data", collection, "--out", collection)
    one_line_error(refused, "is not a Lexigraft artifact")
    one_line_error(
        lexigraft("vocab", "stats", tokenizer, "--out", tokenizer), "holds a tokenizer, not a vocabulary study"
    )
    assert lexigraft(*make, "--data", collection, "--size", 0).status == 2
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare/corpus.jsonl").touch()
    one_line_error(lexigraft("vocab", "stats", tokenizer, "--data", tmp_path / "bare"), "no documents")
    one_line_error(lexigraft("vocab", "stats", tokenizer, "--data", tmp_path / "absent"), "there is no collection at")
    write_collection(tmp_path / "silent", DOCUMENTS)
    found = lexigraft("vocab", "stats", tokenizer, "--data", tmp_path / "silent", "--json").json["collection"]
    assert (found["queries"], found["mean_query_terms"], found["mean_postings"]) == (0, None, None)
    assert found["mean_document_terms"] > 0


def test_unigrams_of_any_texts_and_scripts(tmp_path, lexigraft, backbone):  # noqa: F811
    for script, (text, _) in SCRIPTS.items():
        (tmp_path / f"{script}.txt").write_text(f"{text} 42 state-of-the-art\n{text}\n", encoding="utf-8")
    scratch = ("--set", "model.backbone=scratch")
    call = ("vocab", "unigrams", "--data", tmp_path, "--out", tmp_path / "v", *scratch, "--json")
    found = lexigraft(*call, "--size", 0, "--set", "vocab.stemmer=none").json
    terms = open_lexicon(tmp_path / "v").vocabulary.terms
    assert {"순서를", "сортировка", "القائمة", "データ", "並", "42", "art"} <= set(terms)
    assert found["terms"] == len(terms)
    assert lexigraft(*call, "--size", 3).json["terms"] == 3  # a vocabulary is replaced
    answer = lexigraft(
        "vocab", "unigrams", "--data", tmp_path, "--out", tmp_path / "w", "--set", f"model.backbone={backbone}"
    )
    assert "cannot spell them" in answer.stderr  # and how many terms were left out for that


def test_a_vocabulary_from_another_corpus(tmp_path, collection, lexigraft, backbone):  # noqa: F811
    (tmp_path / "other.txt").write_text("sort sort list list graph graph unheard unheard\n")
    here = ("--data", collection, "--out", tmp_path / "run", "--set", f"model.backbone={backbone}", "--json")
    learned = lexigraft("vocab", "learn", *here, "--set", f"vocab.source={tmp_path / 'other.txt'}").json
    assert (learned["terms"], learned["documents"]) == (4, len(DOCUMENTS))  # its words, our documents
    alone = ("--data", tmp_path / "other.txt", "--out", tmp_path / "v", "--set", f"model.backbone={backbone}", "--json")
    assert lexigraft("vocab", "unigrams", *alone).json["terms"] == 4
    adopted = lexigraft("vocab", "learn", *here, "--set", f"vocab.source={tmp_path / 'v'}").json
    assert adopted == learned
    (tmp_path / "strange.txt").write_text("xyzzy xyzzy\n")
    answer = lexigraft("vocab", "learn", *here, "--set", f"vocab.source={tmp_path / 'strange.txt'}")
    assert answer.status == 2
    assert "none of the 1 terms of the vocabulary occurs in the collection" in answer.stderr

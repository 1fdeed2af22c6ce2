"""A user's error gets one clear line on stderr and exit status 2; nothing is left half done."""

import shutil
import subprocess
import sys

import pytest

from lexigraft.core.lock import writer_lock


def one_line_error(answer, *says):
    assert answer.status == 2
    lines = [line for line in answer.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert answer.stderr.splitlines()[-1] == lines[0]
    for text in says:
        assert text in lines[0]


def test_missing_and_empty_collections(tmp_path, lexigraft):
    one_line_error(
        lexigraft("run", "--data", tmp_path / "absent", "--out", tmp_path / "run"), "there is no collection at"
    )
    assert not (tmp_path / "run").exists()
    (tmp_path / "empty").mkdir()
    one_line_error(lexigraft("run", "--data", tmp_path / "empty", "--out", tmp_path / "run"), "no corpus.jsonl")
    (tmp_path / "empty/corpus.jsonl").touch()
    one_line_error(lexigraft("run", "--data", tmp_path / "empty", "--out", tmp_path / "run"), "no documents")


def test_a_malformed_line(collection, tmp_path, lexigraft):
    with (collection / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d7", "text": \n')
    one_line_error(lexigraft("run", "--data", collection, "--out", tmp_path / "run"), "corpus.jsonl:7: not valid JSON")
    assert not list((tmp_path / "run").rglob("*.draft*"))


def test_unknown_settings_stages_and_splits(collection, tmp_path, lexigraft):
    call = ("run", "--data", collection, "--out", tmp_path / "run")
    one_line_error(lexigraft(*call, "--set", "lexical.k=1"), "unknown setting 'lexical.k'", "did you mean 'lexical.k1'")
    one_line_error(lexigraft(*call, "--from", "end"), "one of collect, vocabulary, mlm, pretrain")
    one_line_error(lexigraft(*call, "--set", "data.split=dev"), "no judgements for split 'dev'; present: test, train")
    assert lexigraft(*call, "--config", tmp_path / "absent.toml").status == 2


def test_damaged_artifacts(collection, tmp_path, lexigraft):
    call = ("run", "--data", collection, "--out", tmp_path / "run")
    before = lexigraft(*call, "--json").json["rows"][0]["nDCG@10"]
    stream = tmp_path / "run/judged/bm25/index/stream.npy"
    whole = stream.read_bytes()
    stream.write_bytes(whole[:-3])
    one_line_error(lexigraft("search", "--run", tmp_path / "run", "order"), "stream.npy", "cut short")
    stream.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    one_line_error(lexigraft("search", "--run", tmp_path / "run", "order"), "stream.npy", "checksum")
    healed = lexigraft(*call, "--json")  # the run makes again what is damaged, and says so
    assert "is made again" in healed.stderr
    assert healed.json["rows"][0]["nDCG@10"] == before
    assert stream.read_bytes() == whole
    (tmp_path / "run/judged/bm25/index/manifest.json").unlink()
    one_line_error(lexigraft("search", "--run", tmp_path / "run", "order"), "no readable manifest.json")


def test_other_kinds_of_folder(collection, tmp_path, lexigraft, monkeypatch):
    lexigraft("run", "--data", collection, "--out", tmp_path / "run")
    vectors = tmp_path / "run/judged/bm25/vectors"
    one_line_error(lexigraft("search", "--index", vectors, "order"), "holds vectors", "lexigraft index --vectors")
    one_line_error(lexigraft("search", "--run", tmp_path / "absent", "order"), "there is no run at")
    one_line_error(lexigraft("search", "--run", collection, "order"), "is a collection", "lexigraft run --data")
    one_line_error(lexigraft("search", "--run", "a", "--index", "b", "order"), "either --run RUN or --index INDEX")
    monkeypatch.chdir(tmp_path)
    one_line_error(lexigraft("search", "order"), "there is no run at runs/quickstart")
    one_line_error(lexigraft("report", "--run", collection), "there is no report at")


def test_a_folder_that_cannot_be_written(collection, tmp_path, lexigraft):
    (tmp_path / "file").touch()
    one_line_error(lexigraft("run", "--data", collection, "--out", tmp_path / "file/run"), "file")
    one_line_error(lexigraft("run", "--data", collection, "--out", "/proc/lexigraft"), "/proc/lexigraft")


def test_a_reader_that_goes_away(collection, tmp_path, lexigraft):
    lexigraft("run", "--data", collection, "--out", tmp_path / "run")
    command = f"{sys.executable} -m lexigraft report --run {tmp_path / 'run'} --json | true"
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in answer.stderr


def test_nothing_of_the_users_is_ever_replaced(collection, tmp_path, monkeypatch, lexigraft):
    """A collection that happens to lie where a run would write, and a run into the collection itself."""
    home = tmp_path / "home"
    shutil.copytree(collection, home / "collection")
    monkeypatch.chdir(home)
    one_line_error(lexigraft("run", "--data", "collection", "--out", "."), "is no run and has files of its own")
    one_line_error(lexigraft("run", "--data", "collection", "--out", "collection"), "is the collection itself")
    before = {path.name: path.read_bytes() for path in collection.rglob("*") if path.is_file()}
    assert {path.name: path.read_bytes() for path in (home / "collection").rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"_id": "d7", "text": ' + "[" * 100_000 + "}", "not valid JSON"),
        ('{"_id": "d7", "text": ' + "9" * 5000 + "}", "not valid JSON"),
        ('{"_id": "\\ud800", "text": "x"}', "lone surrogates"),
        ('{"_id": "d7", "text": null}', "field 'text' is not a string: None"),
    ],
)
def test_odd_json(line, says, collection, tmp_path, lexigraft):
    with (collection / "corpus.jsonl").open("a") as file:
        file.write(line + "\n")
    one_line_error(lexigraft("run", "--data", collection, "--out", tmp_path / "run"), "corpus.jsonl:7", says)


def test_lone_surrogates_in_text_and_byte_order_marks_do_no_harm(collection, tmp_path, lexigraft):
    corpus, qrels = collection / "corpus.jsonl", collection / "qrels/test.tsv"
    corpus.write_text('\ufeff{"_id": "d0", "title": "bad \\ud800", "text": "graph \\ud800"}\n' + corpus.read_text())
    qrels.write_text("\ufeff" + "".join(qrels.read_text().splitlines(keepends=True)[1:]))
    answer = lexigraft("run", "--data", collection, "--out", tmp_path / "run", "--json")
    assert (answer.status, answer.json["collection"]["queries"]) == (0, 3)


def test_a_first_judgement_is_no_header(collection, tmp_path, lexigraft):
    (collection / "qrels/test.tsv").write_text("q1\td1\t1.0\nq2\td3\t1\n")
    one_line_error(lexigraft("run", "--data", collection, "--out", tmp_path / "run"), "test.tsv:1", "'1.0'")


@pytest.mark.parametrize(
    "setting",
    [
        "prune.budgets=[7,20]",
        "prune.budgets=5",
        "prune.budgets=[[true,2]]",
        "evaluate.measures=[1]",
        "data.packages=[1]",
    ],
)
def test_settings_of_the_wrong_form(setting, collection, tmp_path, lexigraft):
    one_line_error(
        lexigraft("run", "--data", collection, "--out", tmp_path / "run", "--set", setting), "is not allowed"
    )


def test_bad_names_are_found_before_the_work(collection, tmp_path, lexigraft):
    call = ("run", "--data", collection, "--out", tmp_path / "run", "--set")
    one_line_error(lexigraft(*call, "evaluate.measures=nonsense@3"), "nonsense@3")
    one_line_error(lexigraft(*call, "data.split=dev"), "no judgements for split 'dev'")
    assert not (tmp_path / "run/judged").exists()


def test_damaged_files_that_are_no_artifacts(collection, tmp_path, lexigraft):
    config = tmp_path / "latin.toml"
    config.write_bytes("[lexical]\nstemmer = 'fran\xe7ais'".encode("latin-1"))
    call = ("run", "--data", collection, "--out", tmp_path / "run")
    one_line_error(lexigraft(*call, "--config", config), "latin.toml is not valid TOML")
    lexigraft(*call)
    (tmp_path / "run/report.json").write_text("{")
    one_line_error(lexigraft("report", "--run", tmp_path / "run"), "report.json is not JSON: it was changed or damaged")
    (tmp_path / "bad.trec").write_bytes(b"q1 Q0 \xff 1 1.0 t\n")
    one_line_error(lexigraft("evaluate", tmp_path / "bad.trec", "--data", collection), "bad.trec:1 is not UTF-8")
    one_line_error(lexigraft("explain", "--run", tmp_path / "run", "order", "\udcff"), "there is no document")
    one_line_error(lexigraft("search", "--index", tmp_path / "run/judged/bm25/index", "--system", "x", "y"), "--system")


def test_two_builders_of_one_index(collection, tmp_path, lexigraft):
    scratch = tmp_path / ".index.building"
    with writer_lock(scratch):
        one_line_error(lexigraft("index", "--data", collection, "--out", tmp_path / "index"), "is writing to")
    (scratch / "collection").mkdir()  # as a killed builder leaves it
    assert lexigraft("index", "--data", collection, "--out", tmp_path / "index").status == 0
    assert not scratch.exists()


@pytest.mark.parametrize("options", [("search", "--k", "0", "x"), ("run",), ("nonsense",)])
def test_usage_errors(options, lexigraft):
    assert lexigraft(*options).status == 2

"""A user's error gets one clear line on stderr and exit status 2; nothing is left half done."""

import subprocess
import sys

import pytest


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
    one_line_error(lexigraft(*call, "--from", "end"), "one of collect, encode, index, evaluate, report")
    one_line_error(lexigraft(*call, "--set", "data.split=dev"), "no judgements for split 'dev'; present: test, train")
    assert lexigraft(*call, "--config", tmp_path / "absent.toml").status == 2


def test_damaged_artifacts(collection, tmp_path, lexigraft):
    call = ("run", "--data", collection, "--out", tmp_path / "run")
    before = lexigraft(*call, "--json").json["rows"][0]["nDCG@10"]
    impacts = tmp_path / "run/judged/bm25/index/impacts.npy"
    whole = impacts.read_bytes()
    impacts.write_bytes(whole[:-3])
    one_line_error(lexigraft("search", "--run", tmp_path / "run", "order"), "impacts.npy", "cut short")
    impacts.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    one_line_error(lexigraft("search", "--run", tmp_path / "run", "order"), "impacts.npy", "checksum")
    healed = lexigraft(*call, "--json")  # the run makes again what is damaged, and says so
    assert "is made again" in healed.stderr
    assert healed.json["rows"][0]["nDCG@10"] == before
    assert impacts.read_bytes() == whole
    (tmp_path / "run/judged/bm25/index/manifest.json").unlink()
    one_line_error(lexigraft("search", "--run", tmp_path / "run", "order"), "no readable manifest.json")


def test_other_kinds_of_folder(collection, tmp_path, lexigraft):
    lexigraft("run", "--data", collection, "--out", tmp_path / "run")
    vectors = tmp_path / "run/judged/bm25/vectors"
    one_line_error(lexigraft("search", "--index", vectors, "order"), "holds a vectors, not a index")
    one_line_error(lexigraft("search", "--run", tmp_path / "absent", "order"), "there is no run at")
    one_line_error(lexigraft("search", "--run", collection, "order"), "has no index yet")
    one_line_error(lexigraft("search", "order"), "either --run RUN or --index INDEX")
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


@pytest.mark.parametrize("options", [("search", "--k", "0", "x"), ("run",), ("nonsense",)])
def test_usage_errors(options, lexigraft):
    assert lexigraft(*options).status == 2

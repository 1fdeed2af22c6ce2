"""Files of a run beside its artifacts, damaged or changed: one line that names the file, or the right answer; and the
command that made the run writes them again."""

import json
import shutil

import pytest

from lexigraft.core.sealed_json import read_sealed, sealed
from lexigraft.core.settings import Settings
from lexigraft.stages.layout import RunFolder
from tests.conftest import DOCUMENTS, QRELS, QUERIES, write_collection
from tests.e2e.test_bad_input import one_line_error
from tests.shared import made_once

OWN_FILES = ("run.json", "settings.json", "operating_points.json", "report.json", "source.json")
ANSWER = ("search", "remove duplicates", "--json", "--run")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    def make(folder):
        from lexigraft.whole_run import run

        write_collection(folder / "tiny", DOCUMENTS, QUERIES, QRELS)
        run(str(folder / "tiny"), folder / "run", Settings())

    return made_once(tmp_path_factory, "damaged-runs", make)


@pytest.fixture
def run(made, tmp_path):
    shutil.copytree(made, tmp_path / "made")
    return tmp_path / "made/run"


@pytest.mark.parametrize("name", OWN_FILES)
def test_every_file_of_a_run_has_a_checksum(run, name):
    found = json.loads((run / name).read_text())
    assert len(found["checksum"]) == 64
    assert (run / name).read_bytes() == sealed(found)


@pytest.mark.parametrize("name", ["run.json", "operating_points.json"])
@pytest.mark.parametrize("place", [0.3, 0.5, 0.7])
def test_a_flipped_bit_is_found(run, name, place, lexigraft):
    before = (run / name).read_bytes()
    at = int(len(before) * place)
    (run / name).write_bytes(before[:at] + bytes([before[at] ^ 2]) + before[at + 1 :])
    one_line_error(lexigraft(*ANSWER, run), name, "changed or damaged", "give the command that made the run again")


def test_two_flipped_bytes_in_the_name_of_a_system(run, lexigraft):
    """They changed which system is searched, and so the answer, without a word."""
    text = (run / "run.json").read_text()
    (run / "run.json").write_text(text.replace('"bm25-plain"', '"bm25-plaim"'))
    assert (run / "run.json").read_text() != text
    one_line_error(lexigraft(*ANSWER, run), "run.json does not match its checksum")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"views": None}, "views = None, which must be a list"),
        ({"views": ["../.."]}, "'../..', which this run cannot have"),
        ({"systems": ["bm25", 3]}, "systems"),
        ({"systems": ["../bm25"]}, "'../bm25', which this run cannot have"),
        ({"models": []}, "models = [], which must be an object"),
        ({"models": {"bm25": "/etc"}}, "'/etc', which this run cannot have"),
        ({"kinds": {"bm25": "none"}}, "'none', which this run cannot have"),
        ({"recommended": "\x1b[2J"}, r"'\x1b[2J', which this run cannot have"),
        ({"more": 1}, "'more' that is not known"),
        ({"systems": ...}, "does not say systems"),
    ],
)
def test_what_no_run_has_is_one_line(run, change, says, lexigraft):
    """With the right checksum, as a stranger would write it."""
    content = {**read_sealed(run / "run.json"), **change}
    (run / "run.json").write_bytes(sealed({key: value for key, value in content.items() if value is not ...}))
    one_line_error(lexigraft(*ANSWER, run), "run.json", says)
    one_line_error(lexigraft("vectors", "stats", run), "run.json", says)


@pytest.mark.parametrize(
    ("point", "says"),
    [
        ({"qk": 0, "dk": 0}, "does not say why"),
        ({"qk": [], "dk": 0, "why": ""}, "qk = [], which must be"),
        ({"qk": 0, "dk": "m9", "why": ""}, "dk = 'm9' is not allowed"),
        ([], "holds [] instead of an object"),
    ],
)
def test_operating_points_that_nobody_chose(run, point, says, lexigraft):
    (run / "operating_points.json").write_bytes(sealed({"bm25": point}))
    one_line_error(lexigraft(*ANSWER, run, "--system", "bm25"), "operating_points.json", says)


def test_files_of_former_versions_have_no_checksum(run, lexigraft):
    right = lexigraft(*ANSWER, run).json
    for name in OWN_FILES:
        (run / name).write_text(json.dumps(read_sealed(run / name), indent=2))
    assert lexigraft(*ANSWER, run).json == right
    assert lexigraft("report", "--run", run).status == 0


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 5000, b"[]", b'{"views": ["judged"]}', b"\xff\xfe"])
def test_the_same_command_writes_them_again(run, content, lexigraft, monkeypatch):
    monkeypatch.chdir(run.parent)
    right = lexigraft(*ANSWER, "run").json
    for name in OWN_FILES:
        (run / name).write_bytes(content)
    assert lexigraft(*ANSWER, "run").status == 2
    again = lexigraft("run", "--data", "tiny", "--out", "run")
    assert again.status == 0, again.stderr
    assert lexigraft(*ANSWER, "run").json == right
    assert RunFolder(run).read_contents().systems


def test_settings_of_too_many_digits_and_brackets(run, tmp_path, lexigraft):
    call = ("index", "--data", run.parent / "tiny", "--out", tmp_path / "index")
    one_line_error(lexigraft(*call, "--set", "lexical.k1=" + "9" * 5000), "too many digits")
    one_line_error(lexigraft(*call, "--set", "lexical.k1=" + "9" * 400), "lexical.k1")
    one_line_error(lexigraft(*call, "--set", "lexical.k1=" + "[" * 3000), "lexical.k1")
    for text in ("[lexical]\nk1 = " + "9" * 5000, "[lexical]\nk1 = " + "[" * 3000):
        (tmp_path / "odd.toml").write_text(text)
        one_line_error(lexigraft(*call, "--config", tmp_path / "odd.toml"), "odd.toml is not valid TOML")
    (tmp_path / "settings.json").write_text("[" * 3000)
    one_line_error(lexigraft(*call, "--config", tmp_path / "settings.json"), "settings.json is not JSON")


def test_a_link_loop_and_a_folder(run, lexigraft):
    (run / "run.json").unlink()
    (run / "run.json").symlink_to("run.json")
    one_line_error(lexigraft(*ANSWER, run), "run.json", "symbolic link")
    (run / "run.json").unlink()
    (run / "run.json").mkdir()
    one_line_error(lexigraft(*ANSWER, run), "run.json", "Is a directory")


def test_operating_points_that_were_lost(run, lexigraft):
    """Whole vectors would be searched, and other documents found, without a word."""
    report = read_sealed(run / "report.json")
    point = {"qk": 1, "dk": 0, "why": "as a test has it"}
    (run / "report.json").write_bytes(sealed(report | {"operating_points": {"bm25": point}}))
    (run / "operating_points.json").unlink()
    one_line_error(lexigraft(*ANSWER, run, "--system", "bm25"), "operating_points.json", "though the report does")
    (run / "report.json").unlink()  # of a run that has not ended yet, whole vectors are searched
    assert lexigraft(*ANSWER, run, "--system", "bm25").status == 0


def test_the_report_of_another_run(run, lexigraft):
    assert "warning" not in lexigraft("report", "--run", run).stderr
    report = read_sealed(run / "report.json")
    (run / "report.json").write_bytes(sealed(report | {"made_with": "0" * 64}))
    answer = lexigraft("report", "--run", run, "--json")
    assert answer.status == 0 and "made_with" not in answer.json
    assert "report.json was made with other settings than those in" in answer.stderr


def test_another_file_of_the_run_under_the_name_of_the_report(run, lexigraft):
    shutil.copy(run / "operating_points.json", run / "report.json")
    one_line_error(lexigraft("report", "--run", run, "--json"), "report.json", "does not say collection")
